"""Checks of single fields that came over the wire: seats, cards, lists by seat."""

from __future__ import annotations

from collections.abc import Sequence

from bots_sdk.errors import Malformed
from bots_sdk.rules.cards import CARD_CODES, FACES, SEATS, Card

_CODES = bytes(range(CARD_CODES))
MOST_CARDS = 216
"""Of both packs together: nothing on the wire has more cards."""


def seat_from_wire(seat: int, field: str) -> int:
    """The seat, 0 to 4."""
    if seat >= SEATS:
        raise Malformed(field, f"{seat} is no seat; a seat is 0 to 4")
    return seat


def cards_from_wire(cards: bytes, field: str) -> bytes:
    """The cards in ascending order of their codes, whatever order they came in."""
    # What strip leaves has a byte that is no card at its ends; nothing is left if all are cards.
    if cards.strip(_CODES):
        wrong = next(card for card in cards if card >= CARD_CODES)
        raise Malformed(field, f"{wrong} is no card; a card is a byte from 0 to {CARD_CODES - 1}")
    if len(cards) > 1:
        if len(cards) > MOST_CARDS:
            raise Malformed(field, f"{len(cards)} cards; there are {MOST_CARDS} at the most")
        return bytes(sorted(cards))
    return cards


def card_from_wire(cards: bytes, field: str) -> Card:
    """The one card."""
    if len(cards) != 1 or cards[0] >= CARD_CODES:
        raise Malformed(field, f"one card, a byte from 0 to {CARD_CODES - 1}, and not {_shown(cards)}")
    return cards[0]


def optional_card_from_wire(cards: bytes, field: str) -> Card | None:
    """The one card, or None where there is none."""
    return card_from_wire(cards, field) if cards else None


def optional_face_from_wire(cards: bytes, field: str) -> Card | None:
    """The one face, or None where no face is named."""
    if not cards:
        return None
    if len(cards) != 1 or cards[0] >= FACES:
        raise Malformed(field, f"one face, a byte from 0 to {FACES - 1}, and not {_shown(cards)}")
    return cards[0]


def five_from_wire(values: Sequence[int], field: str) -> tuple[int, ...]:
    """Five numbers by seat."""
    if len(values) != SEATS:
        raise Malformed(field, f"five values, one for each seat, and not {len(values)}")
    return tuple(values)


def _shown(cards: bytes) -> str:
    return f"{len(cards)} bytes" if len(cards) != 1 else str(cards[0])
