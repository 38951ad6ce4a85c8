"""Cards as small integers: codes, faces, ranks, strengths, text (docs/rules.md, "Words").

A card is an `int` from 0 to 55, one byte on the wire. 0 to 51 are `4 * rank + suit` with the ranks `3 4 5 6 7 8 9 T J Q
K A 2` as 0 to 12 and the suits `c d h s` as 0 to 3; then come the jokers. The four packs hold four copies of a *face*;
the marked jokers share the face of the plain ones. Among cards of one strength the order of the codes is the order of
choice: suits c d h s, plain jokers before marked ones.
"""

from __future__ import annotations

from collections.abc import Iterable

from bots_sdk.rules.errors import NotationError

Card = int

RANKS = "3456789TJQKA2"
SUITS = "cdhs"
PACKS = 4
SEATS = 5

SMALL_JOKER: Card = 52
BIG_JOKER: Card = 53
GUARD_JOKER: Card = 54
EMPEROR_CARD: Card = 55
CARD_CODES = 56
FACES = 54

SMALL = 13
"""Strength of the small jokers; the ranks have the strengths 0 to 12."""
BIG = 14
SPECIAL = 15

CARD_TEXTS: tuple[str, ...] = tuple(rank + suit for rank in RANKS for suit in SUITS) + ("SJ", "BJ", "GJ", "EJ")
_CARD_OF_TEXT = {text: card for card, text in enumerate(CARD_TEXTS)}

FACE_OF: tuple[Card, ...] = (*range(54), SMALL_JOKER, BIG_JOKER)
"""The face of every card code: itself, or the plain joker for a marked one."""
STRENGTH_OF: tuple[int, ...] = (*(card >> 2 for card in range(52)), SMALL, BIG, SMALL, BIG)
"""The strength of every card code, 0 (a three) to 14 (a big joker)."""


def is_joker(card: Card) -> bool:
    """True for the four kinds of joker."""
    return card >= SMALL_JOKER


def format_card(card: Card) -> str:
    """`9c`, `SJ`, … for a card code."""
    return CARD_TEXTS[card]


def parse_card(text: str) -> Card:
    """The card code of a two-character text.

    Raises:
        NotationError: no card has that text.
    """
    card = _CARD_OF_TEXT.get(text)
    if card is None:
        raise NotationError(f"{text!r} is no card: a rank of {RANKS} and a suit of {SUITS}, or SJ, BJ, GJ, EJ")
    return card


def format_cards(cards: Iterable[Card]) -> str:
    """Cards separated by single spaces."""
    return " ".join(CARD_TEXTS[card] for card in cards)


def parse_cards(text: str) -> bytes:
    """The card codes of texts separated by white space, in the order given.

    Raises:
        NotationError: one of them is no card.
    """
    return bytes(parse_card(word) for word in text.split())
