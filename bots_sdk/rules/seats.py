"""Seats are the numbers 0 to 4; play goes up, the emperor card is passed down (docs/rules.md, part 1)."""

from __future__ import annotations

from bots_sdk.rules.cards import SEATS

ALL_SEATS: tuple[int, ...] = tuple(range(SEATS))
ONLY: tuple[tuple[int, ...], ...] = tuple((seat,) for seat in ALL_SEATS)
"""For each seat the tuple of it alone."""
NEXT_SEAT: tuple[int, ...] = (1, 2, 3, 4, 0)
"""The seat that acts after each seat."""


def upper_seat(seat: int) -> int:
    """The seat before, to which the emperor card is passed (上家)."""
    return (seat - 1) % SEATS
