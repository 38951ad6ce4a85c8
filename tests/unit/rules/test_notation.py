"""Cards and answers as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bots_sdk.rules.cards import CARD_TEXTS, format_card, format_cards, is_joker, parse_card, parse_cards
from bots_sdk.rules.errors import NotationError
from bots_sdk.rules.notation import format_answer, format_hand, parse_answer, parse_hand


def test_every_card_has_a_text_of_two_characters() -> None:
    assert len(set(CARD_TEXTS)) == 56
    assert all(parse_card(format_card(card)) == card for card in range(56))
    assert [text for card, text in enumerate(CARD_TEXTS) if is_joker(card)] == ["SJ", "BJ", "GJ", "EJ"]


def test_a_hand_is_sorted_but_cards_are_not() -> None:
    assert format_cards(parse_hand("EJ 9c SJ 3d")) == "3d 9c SJ EJ"
    assert format_cards(parse_cards("EJ 9c SJ 3d")) == "EJ 9c SJ 3d"


def test_a_hand_has_the_cards_of_a_rank_together() -> None:
    assert format_hand(parse_hand("EJ 9c SJ 3d 9c 9h SJ GJ")) == "3d 9cch SJ SJ GJ EJ"
    assert parse_hand("9cch 3d") == parse_hand("9h 3d 9c 9c")
    assert format_hand(b"") == ""
    assert format_answer(parse_answer("play 9cch SJ")) == "play 9c 9c 9h SJ"


@given(st.binary(max_size=60).map(lambda data: bytes(sorted(byte % 56 for byte in data))))
def test_hands_come_back(hand: bytes) -> None:
    assert parse_hand(format_hand(hand)) == hand
    assert parse_hand(format_cards(hand)) == hand


@pytest.mark.parametrize("text", ["9", "9x", "9cx", "SJJ", "9c,9d", "cc", "10c", "Sc"])
def test_what_is_no_hand_is_refused(text: str) -> None:
    with pytest.raises(NotationError, match="is no card"):
        parse_hand(text)


@pytest.mark.parametrize(
    "text",
    [
        "stay",
        "solo",
        "accept",
        "pass",
        "pass 2h",
        "call 9c",
        "call",
        "dark 9c",
        "dark",
        "bright 9c",
        "bright",
        "silent",
        "reveal",
        "rebel",
        "kick",
        "stake 2",
        "pay 2h",
        "take 2h",
        "play 9c 9d SJ",
        "play ! 9c",
        "yield",
        "wind",
    ],
)
def test_answers_come_back(text: str) -> None:
    assert format_answer(parse_answer(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "play",
        "play !",
        "play 1c",
        "stake",
        "stake x",
        "stake 1 2",
        "stake " + "9" * 5000,
        "pay",
        "pay 2c 2d",
        "wind 2c",
        "stay ! 2c",
    ],
)
def test_what_is_no_notation_is_refused(text: str) -> None:
    with pytest.raises(NotationError):
        parse_answer(text)
