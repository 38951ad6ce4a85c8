"""Hands as sorted bytes: card codes in ascending order, so that a hand is immutable and a rank is one slice of it."""

from __future__ import annotations

from collections.abc import Iterable

from bots_sdk.rules.cards import BIG, BIG_JOKER, CARD_CODES, EMPEROR_CARD, FACE_OF, GUARD_JOKER, STRENGTH_OF, Card

ONE: tuple[bytes, ...] = tuple(bytes((card,)) for card in range(CARD_CODES))
"""Every card as a byte string of length 1."""

_CODES = bytes(range(256))
FACE_TABLE = bytes(FACE_OF) + _CODES[CARD_CODES:]
"""For `bytes.translate`: marked jokers become plain ones."""
STRENGTH_TABLE = bytes(STRENGTH_OF) + _CODES[CARD_CODES:]
"""For `bytes.translate`: cards become strengths."""


def sorted_cards(cards: Iterable[Card]) -> bytes:
    """The cards in ascending order of their codes."""
    return bytes(sorted(cards))


def with_cards(hand: bytes, cards: Iterable[Card]) -> bytes:
    """The hand and some more cards."""
    return bytes(sorted((*hand, *cards)))


def without_cards(hand: bytes, cards: bytes) -> bytes | None:
    """The hand less some cards, or None if it does not hold them all."""
    if not cards:
        return hand
    # Most often they lie side by side, as a hand is sorted.
    left = hand.replace(cards, b"", 1)
    if len(left) < len(hand):
        return left
    for card in cards:
        if card >= CARD_CODES:
            return None
        left = hand.replace(ONE[card], b"", 1)
        if len(left) == len(hand):
            return None
        hand = left
    return hand


def face_counts(hand: bytes, callable_jokers: bool) -> list[tuple[Card, int]]:
    """How often each callable face is held: pairs of face and count, faces ascending (rules 4.3)."""
    faces = hand.translate(FACE_TABLE)
    # dict.fromkeys keeps the ascending order and drops repetitions.
    return [(face, faces.count(face)) for face in dict.fromkeys(faces) if callable_jokers or face < 52]


def highest_payable(cards: bytes, top_strength: int = BIG) -> list[Card]:
    """The different cards of the highest strength among the cards, never a marked joker, ascending (rules 4.4, 7.2).

    Args:
        cards: card codes.
        top_strength: leave out what is stronger than this.
    """
    best = -1
    found: set[Card] = set()
    for card in cards:
        strength = STRENGTH_OF[card]
        if card in (GUARD_JOKER, EMPEROR_CARD) or strength > top_strength or strength < best:
            continue
        if strength > best:
            best = strength
            found = set()
        found.add(card)
    return sorted(found)


def count_face(cards: bytes, face: Card) -> int:
    """How many cards of a face, marked ones included."""
    if face == BIG_JOKER:
        return cards.count(BIG_JOKER) + cards.count(EMPEROR_CARD)
    return cards.count(face) + (cards.count(GUARD_JOKER) if face == FACE_OF[GUARD_JOKER] else 0)
