"""Each profile, and each option by itself, from the tournament file to the table of standings."""

from __future__ import annotations

import json

import pytest

from bots_sdk.replay import decompress_record, record_from_bytes, verify_record
from bots_sdk.rules.options import OPTION_NAMES, Options
from bots_sdk.rules.profiles import PROFILES
from bots_sdk.rules.titles import title_of
from services.common.errors import PlatformError
from services.ledger.ledger import Ledger
from services.ledger.values import TournamentState
from services.tournament.servicer.entrance import read_spec
from services.tournament.standings import Order
from tests.integration.tournament.playing import Stored, desk_of

SPEC = """\
name: cup
profile: {profile}
options: {options}
bots: ["house:greedy", "house:greedy#2", "house:random", "house:random#2", "house:random#3"]
schedule: {{kind: full, repeats: {repeats}}}
duplicate: {duplicate}
deals: {deals}
seed: {profile}
"""

EXTRAS = {
    "classic": {"drop_low": 3, "roast": True, "hold_back": 6, "three_twos": True},
    "classic-marked": {"pass_locks_trick": True, "hold_back": "6"},
    "bean": {"beans": True, "room": 50, "stakes": [1, 2, 3, 5]},
    "bean-qingdao": {"beans": True, "room": 10, "stakes": [1, 2], "titles": True, "drop_low": 3},
    "special": {"roast": True, "titles": True, "three_twos": True},
    "qingdao": {"titles": True, "hold_back": 3, "sticker": "highest", "roast": True},
}
"""What the texts call usual beside the rules of each profile."""

ALONE: tuple[tuple[str, str, object], ...] = (
    ("qingdao", "low", 6), ("classic", "low", "3"), ("bean", "drop_low", 3),
    ("classic", "guard_by", "marked_joker"), ("classic-marked", "guard_by", "fourth_card"),
    ("bean", "special_card", True), ("special", "special_card", False),
    ("bean", "call_jokers", True), ("qingdao", "call_jokers", False),
    ("classic", "grab", "none"), ("classic", "grab", "quad"), ("bean", "grab", "any"),
    ("qingdao", "holder_preempts", True), ("bean", "holder_preempts", False),
    ("qingdao", "bright_needs_quad", False), ("classic", "bright_needs_quad", True),
    ("classic", "sticker", None), ("qingdao", "sticker", "two_else_highest"), ("classic", "sticker", "highest_plain"),
    ("classic", "sticker", "highest"), ("bean", "sticker_from", 2), ("classic", "sticker_from", 1),
    ("bean", "force", "exact_triple"), ("classic", "force", "triple"), ("bean", "force", "triple_no_quad"),
    ("classic", "reveal", False), ("classic", "rebellion", True), ("classic", "kick", True), ("bean", "kick", False),
    ("bean", "stakes", [1, 3]), ("bean", "hold_back", 6), ("bean", "roast", True), ("bean", "three_twos", True),
    ("bean", "hung_by_hung", True), ("qingdao", "hung_by_hung", False), ("classic", "give_way", True),
    ("qingdao", "give_way", False), ("bean", "pass_locks_trick", True), ("qingdao", "wind", "auto"),
    ("bean", "wind", "claim"), ("bean", "solo_scores", [40, 32, 24]), ("bean", "dark_second_is_draw", False),
    ("classic", "end", "side_out"), ("special", "end", "one_left"), ("classic", "tribute", True),
    ("bean-qingdao", "tribute", False), ("classic", "beans", True), ("classic", "room", 1000),
    ("classic", "titles", True),
)  # fmt: skip
"""Every option in another value than the profile's."""


def spec_of(profile: str, options: object, *, repeats: int = 1, deals: int = 2, duplicate: str = "rotation") -> str:
    return SPEC.format(profile=profile, options=json.dumps(options), repeats=repeats, deals=deals, duplicate=duplicate)


@pytest.mark.parametrize("extras", [False, True], ids=["plain", "extras"])
@pytest.mark.parametrize("profile", PROFILES)
async def test_a_tournament_of_a_profile_is_played_to_its_table(ledger: Ledger, profile: str, extras: bool) -> None:
    stored = Stored(ledger, spec_of(profile, EXTRAS[profile] if extras else {}))
    assert await stored.play_all() is TournamentState.FINISHED
    desk = desk_of(ledger)
    options = stored.spec.options
    standings = await desk.standings("cup")
    assert [line.deals for line in standings] == [10] * 5
    assert sum(line.points for line in standings) == 0
    assert [line.title for line in standings] == [title_of(line.points) if options.titles else "" for line in standings]

    won = dict.fromkeys(stored.spec.entrants, 0)
    for number in range(len(stored.schedule)):
        record = record_from_bytes(decompress_record(await desk.record("cup", number)))
        verify_record(record)
        assert len(record.outcome.beans) == (5 if options.beans else 0)
        for player, beans in zip(record.players, record.outcome.beans, strict=False):
            won[player.name] += beans
    if options.beans:
        by_beans = await desk.standings("cup", Order.BEANS)
        assert {line.name: line.beans for line in by_beans} == won
        means = [line.beans_per_deal for line in by_beans]
        assert means == sorted(means, key=lambda mean: -(mean or 0))
        assert means[0]
    else:
        assert {line.beans for line in standings} == {None}
        with pytest.raises(PlatformError, match="has no table by beans: the option `beans` is off"):
            await desk.standings("cup", Order.BEANS)


@pytest.mark.parametrize(("profile", "option", "value"), ALONE, ids=lambda value: str(value))
async def test_an_option_by_itself_can_be_played(ledger: Ledger, profile: str, option: str, value: object) -> None:
    stored = Stored(ledger, spec_of(profile, {option: value}, deals=1, duplicate="none"))
    assert getattr(stored.spec.options, option) != getattr(PROFILES[profile], option)
    outcome = stored.play_one(0)
    assert outcome.ending.counts
    verify_record(record_from_bytes(decompress_record(await desk_of(ledger).record("cup", 0))))


def test_every_option_is_among_those_and_every_word_of_it() -> None:
    assert {option for _, option, _ in ALONE} == set(OPTION_NAMES)
    used = {(option, str(value)) for _, option, value in ALONE}
    for option in OPTION_NAMES:
        kind = type(getattr(Options(), option))
        for member in kind if hasattr(kind, "__members__") else ():
            in_profiles = any(getattr(options, option) is member for options in PROFILES.values())
            assert in_profiles or (option, str(member)) in used, (option, member)


@pytest.mark.parametrize(
    ("profile", "options", "key", "reason"),
    [
        ("qingdao", {"drop_low": 3}, "options.drop_low", "cards are taken out of the short pack only"),
        ("qingdao", {"hold_back": 6}, "options.hold_back", "only the lowest rank ('3', see low) can be held back"),
        ("classic-marked", {"special_card": True}, "options.special_card", "guard_by: marked_joker calls no face"),
        ("qingdao", {"guard_by": "marked_joker"}, "options.guard_by", "bright_needs_quad: with guard_by: marked_joker"),
        ("bean", {"reveal": False, "rebellion": False}, "options.reveal", "kick: a kick answers a reveal or a rebel"),
        ("bean", {"stakes": [3, 1]}, "options.stakes", "different positive numbers in ascending order"),
        ("bean", {"solo_scores": [40, 30, 24]}, "options.solo_scores", "divisible by 4"),
        ("bean", {"room": 0}, "options.room", "a positive number"),
    ],
    ids=lambda value: value if isinstance(value, str) and value.startswith("options.") else "",
)
def test_what_cannot_be_played_is_refused_with_key_and_reason(
    profile: str, options: dict[str, object], key: str, reason: str
) -> None:
    with pytest.raises(PlatformError) as caught:
        read_spec(spec_of(profile, options))
    assert caught.value.metadata["key"] == key
    assert reason in caught.value.message
