"""Played matches for tests of standings."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from services.common.matches import DealScore, SeatFaults
from services.tournament.standings import PlayedMatch

NO_FAULTS = (SeatFaults(), SeatFaults(), SeatFaults(), SeatFaults(), SeatFaults())


def played(
    number: int,
    group: int,
    entrants: Sequence[int],
    *points: Sequence[int],
    faults: tuple[SeatFaults, SeatFaults, SeatFaults, SeatFaults, SeatFaults] = NO_FAULTS,
    beans: Sequence[Sequence[int] | None] = (),
) -> PlayedMatch:
    """A match with these points, by seat, for each deal, and with these beans if any."""
    a, b, c, d, e = entrants
    deals = tuple(
        DealScore(
            deal,
            tuple(int(one) for one in of_deal),
            (0, 1, 2, 3, 4),
            0,
            1,
            None,
            beans=None if won is None else tuple(won),
        )
        for deal, (of_deal, won) in enumerate(zip_longest(points, beans))
    )
    return PlayedMatch(number, group, (a, b, c, d, e), deals, faults)
