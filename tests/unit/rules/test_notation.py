"""Cards and answers as text."""

from __future__ import annotations

import pytest

from bots_sdk.rules.cards import CARD_TEXTS, format_card, format_cards, is_joker, parse_card, parse_cards
from bots_sdk.rules.errors import NotationError
from bots_sdk.rules.notation import format_answer, parse_answer, parse_hand


def test_every_card_has_a_text_of_two_characters() -> None:
    assert len(set(CARD_TEXTS)) == 56
    assert all(parse_card(format_card(card)) == card for card in range(56))
    assert [text for card, text in enumerate(CARD_TEXTS) if is_joker(card)] == ["SJ", "BJ", "GJ", "EJ"]


def test_a_hand_is_sorted_but_cards_are_not() -> None:
    assert format_cards(parse_hand("EJ 9c SJ 3d")) == "3d 9c SJ EJ"
    assert format_cards(parse_cards("EJ 9c SJ 3d")) == "EJ 9c SJ 3d"


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
        "pay",
        "pay 2c 2d",
        "wind 2c",
        "stay ! 2c",
    ],
)
def test_what_is_no_notation_is_refused(text: str) -> None:
    with pytest.raises(NotationError):
        parse_answer(text)
