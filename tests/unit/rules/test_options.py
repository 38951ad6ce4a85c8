"""Options: presets, plain values, and what is refused."""

from __future__ import annotations

import pytest

from bots_sdk.rules.errors import OptionsError
from bots_sdk.rules.options import GuardBy, Options
from bots_sdk.rules.profiles import PROFILES, format_options, make_options, parse_options


@pytest.mark.parametrize("profile", PROFILES)
def test_plain_values_come_back(profile: str) -> None:
    options = make_options(profile, {"stakes": [1, 2, 3]})
    assert parse_options(format_options(options)) == options


def test_yaml_numbers_and_nulls_are_understood() -> None:
    options = make_options("classic", {"hold_back": 6, "grab": None, "low": 6})
    assert (options.hold_back, options.grab, options.low) == ("6", "none", "6")
    assert make_options("classic", {"hold_back": None}).hold_back is None


def test_an_option_can_be_changed_on_its_own() -> None:
    assert make_options("classic", {"guard_by": "marked_joker"}) == PROFILES["classic-marked"]
    assert PROFILES["classic-marked"].guard_by is GuardBy.MARKED_JOKER


@pytest.mark.parametrize(
    ("profile", "overrides", "message"),
    [
        ("poker", {}, "profile: 'poker' is unknown; there are classic, "),
        ("classic", {"roost": True}, "roost: no such option; there are low, "),
        ("classic", {"roast": 1}, "roast: true or false, not 1"),
        ("classic", {"wind": "sometimes"}, "wind: one of auto, claim, not 'sometimes'"),
        ("classic", {"low": "5"}, "low: '3' or '6', not '5'"),
        ("classic", {"drop_low": 1}, "drop_low: 0 or 3"),
        ("classic", {"drop_low": "3"}, "drop_low: a whole number, not '3'"),
        ("qingdao", {"drop_low": 3}, "short pack only"),
        ("qingdao", {"hold_back": "6"}, "only the lowest rank"),
        ("special", {"guard_by": "marked_joker"}, "calls no face"),
        ("qingdao", {"guard_by": "marked_joker"}, "bright cannot need four"),
        ("bean", {"reveal": False, "rebellion": False}, "both are switched off"),
        ("bean", {"stakes": []}, "one or more different positive numbers"),
        ("bean", {"stakes": [2, 1]}, "ascending"),
        ("bean", {"stakes": 3}, "a list of whole numbers"),
        ("qingdao", {"solo_scores": [40, 30, 24]}, "divisible by 4"),
        ("qingdao", {"solo_scores": [40, 32]}, "three whole numbers"),
        ("bean", {"room": 0}, "positive"),
        ("bean", {"room": 1_000_001}, "at most 1000000"),
        ("bean", {"stakes": [1, 51]}, "at most 50"),
        ("qingdao", {"solo_scores": [40, 32, 10_004]}, "at most 10000"),
        ("bean", {"sticker_from": 3}, "pass 1 or 2"),
    ],
)
def test_what_cannot_be_played_is_refused_with_the_reason(
    profile: str, overrides: dict[str, object], message: str
) -> None:
    with pytest.raises(OptionsError) as caught:
        make_options(profile, overrides)
    assert message in str(caught.value)


def test_bare_options_are_those_of_the_vectors() -> None:
    bare = Options()
    assert (bare.low, bare.grab, bare.force, bare.wind, bare.end) == ("3", "any", "exact_triple", "auto", "one_left")
    assert bare.bright_needs_quad
    assert bare.solo_scores == (24, 24, 12)
