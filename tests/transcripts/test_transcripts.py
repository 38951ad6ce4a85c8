"""Each profile has a transcript, and each deal still goes, and is still told to each seat, as it stands there."""

from __future__ import annotations

import pytest

from bots_sdk.rules.deal_notation import parse_deal
from bots_sdk.rules.options import Options
from bots_sdk.rules.profiles import PROFILES
from tests.transcripts.deals import DEALS
from tests.transcripts.telling import FOLDER, transcript_path
from tests.transcripts.write import transcript


@pytest.mark.parametrize("profile", PROFILES)
def test_a_deal_is_told_as_ever(profile: str) -> None:
    assert transcript(profile) == transcript_path(profile).read_text(), "see: python -m tests.transcripts.write"


def test_no_profile_lacks_a_transcript() -> None:
    assert set(DEALS) == {path.stem for path in FOLDER.glob("*.txt")} == set(PROFILES)


@pytest.mark.parametrize("profile", PROFILES)
def test_the_deal_is_one_of_its_profile(profile: str) -> None:
    options = parse_deal(DEALS[profile].replace("|", "\n")).options
    extras = {"roast", "hold_back", "stakes", "beans", "room", "three_twos", "titles"}  # what a text calls usual extras
    different = {name for name in Options.__slots__ if getattr(options, name) != getattr(PROFILES[profile], name)}
    assert different <= extras


def test_the_transcripts_show_what_is_particular() -> None:
    """A transcript is worth what happens in it."""
    everything = "\n".join(transcript_path(profile).read_text() for profile in PROFILES)
    for event in (
        "DealStarted", "Paid", "Took", "WindowClosed", "ThronePassed", "ThroneAccepted", "Called", "Declared",
        "KickClosed", "StakesSet", "Played", "Passed", "Yielded", "WindClaimed", "RoleShown", "TrickEnded", "DealEnded",
    ):  # fmt: skip
        assert f"event {event}" in everything, event
