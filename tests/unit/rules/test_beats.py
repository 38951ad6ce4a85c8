"""Which play beats which: the examples of rules 5.2 to 5.7, as text."""

from __future__ import annotations

import pytest

from bots_sdk.rules.notation import parse_hand
from bots_sdk.rules.options import Options
from bots_sdk.rules.plays import Shape, beats, shape_of, shape_with_special
from bots_sdk.rules.profiles import change_options


def shape(text: str) -> Shape:
    """`BJ 888` as a shape: jokers by name, ranks as a run; `*` stands for the special card (the nine of clubs)."""
    words = [
        word if word in ("SJ", "BJ", "GJ", "EJ") else " ".join(f"{rank}d" for rank in word) for word in text.split()
    ]
    special = "*" in text
    cards = parse_hand(" ".join("9c" if "*" in word else word for word in words))
    found = shape_with_special(cards, parse_hand("9c")[0]) if special else shape_of(cards)
    assert found is not None, text
    return found


def can_beat(play: str, table: str, **overrides: object) -> bool:
    return beats(change_options(Options(), overrides), shape(table), shape(play))


@pytest.mark.parametrize(
    ("play", "table"),
    [
        ("8888", "7777"),
        ("BJ SJ SJ SJ", "AAAA"),
        ("SJ 777", "6666"),
        ("BJ 6666", "SJ 5555"),
        ("BJ BJ JJJ", "SJ SJ 999"),
        ("BJ BJ BJ JJ", "SJ SJ 999"),
        ("2", "A"),
        ("GJ", "2"),
        ("EJ", "GJ"),
        ("BJ BJ", "SJ 9"),
    ],
)
def test_stronger_card_by_card(play: str, table: str) -> None:
    assert can_beat(play, table)
    assert not can_beat(table, play)


@pytest.mark.parametrize(
    ("play", "table"),
    [
        ("9999", "SJ 888"),
        ("BJ 9999", "BJ 8888"),
        ("EJ", "BJ"),
        ("GJ", "SJ"),
        ("999", "88"),
        ("BJ", "EJ"),
        ("222", "BJ"),
        ("BJ SJ 99", "SJ SJ 88"),
    ],
)
def test_not_stronger(play: str, table: str) -> None:
    assert not can_beat(play, table)


def test_hung_jokers_are_beaten_by_hung_jokers_only() -> None:
    assert can_beat("BJ BJ", "SJ 9")
    assert not can_beat("BJ BJ", "SJ 9", hung_by_hung=True)
    assert can_beat("BJ J", "SJ 9", hung_by_hung=True)
    assert can_beat("BJ BJ", "SJ SJ", hung_by_hung=True)


def test_three_twos_beat_one_big_joker_and_nothing_else_of_the_kind() -> None:
    assert can_beat("222", "BJ", three_twos=True)
    assert not can_beat("222", "BJ 9", three_twos=True)
    assert not can_beat("2222", "BJ", three_twos=True)
    assert not can_beat("AAA", "BJ", three_twos=True)


@pytest.mark.parametrize(
    ("play", "table"),
    [
        ("BJ BJ 8888", "BJ 7777"),
        ("BJ BJ SJ 888", "BJ 7777"),
        ("SJ SJ SJ 8888", "BJ 7777"),
        ("SJ SJ 99", "SJ 88"),
        ("BJ BJ", "BJ"),
        ("SJ SJ SJ", "BJ"),
        ("SJ SJ", "SJ"),
    ],
)
def test_roasting_kills_jokers(play: str, table: str) -> None:
    assert can_beat(play, table, roast=True)
    assert not can_beat(play, table)


@pytest.mark.parametrize(
    ("play", "table"),
    [
        ("BJ BJ SJ 8888", "BJ 7777"),  # one card too many
        ("BJ BJ 7777", "BJ 7777"),  # the rest is not stronger
        ("BJ SJ SJ", "SJ SJ"),  # one joker alone is roasted, two are not
        ("SJ SJ 9", "88"),  # nothing to kill
        ("SJ SJ SJ SJ", "BJ"),
    ],
)
def test_roasting_has_limits(play: str, table: str) -> None:
    assert not can_beat(play, table, roast=True)


def test_jokers_alone_roast_no_hung_jokers_where_only_hung_ones_beat_them() -> None:
    assert can_beat("SJ SJ SJ", "SJ 9", roast=True)
    assert not can_beat("SJ SJ SJ", "SJ 9", roast=True, hung_by_hung=True)
    assert can_beat("SJ SJ T", "SJ 9", roast=True, hung_by_hung=True)
    assert can_beat("SJ SJ", "SJ", roast=True, hung_by_hung=True)


def test_the_special_card_is_above_all() -> None:
    assert can_beat("*", "BJ", special_card=True)
    assert can_beat("* BJ 8", "BJ SJ 7", special_card=True)
    assert not can_beat("BJ", "*", special_card=True)
    assert not can_beat("BJ BJ 88", "* 7", special_card=True, roast=True)
    assert not can_beat("* BJ 888", "BJ 777", special_card=True, roast=True)


@pytest.mark.parametrize("text", ["8c 9c", "SJ 8c 9d", "2c Ad"])
def test_cards_of_two_ranks_are_no_play(text: str) -> None:
    assert shape_of(parse_hand(text)) is None
