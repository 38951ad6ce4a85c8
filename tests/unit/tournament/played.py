"""Played matches for tests of standings."""

from __future__ import annotations

from collections.abc import Sequence

from services.common.matches import DealScore, SeatFaults
from services.tournament.standings import PlayedMatch

NO_FAULTS = (SeatFaults(), SeatFaults(), SeatFaults(), SeatFaults(), SeatFaults())


def played(
    number: int,
    group: int,
    entrants: Sequence[int],
    *points: Sequence[int],
    faults: tuple[SeatFaults, SeatFaults, SeatFaults, SeatFaults, SeatFaults] = NO_FAULTS,
) -> PlayedMatch:
    """A match with these points, by seat, for each deal."""
    a, b, c, d, e = entrants
    deals = tuple(
        DealScore(deal, tuple(int(one) for one in of_deal), (0, 1, 2, 3, 4), emperor=0, guard=1, solo=None)
        for deal, of_deal in enumerate(points)
    )
    return PlayedMatch(number, group, (a, b, c, d, e), deals, faults)
