"""Deals for tests of ratings, put together one by one and in any order."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from services.common.matches import DealScore
from services.tournament.standings.rating import RatedDeals, Rating, rate
from services.tournament.standings.roles import kinds_of

_Block = tuple[int, int]


class Rated:
    """Deals that ratings are made of; points may be any numbers, also such as no deal has."""

    def __init__(self, entrants: int) -> None:
        self._entrants = entrants
        self._rows: list[tuple[_Block, int, Sequence[int], tuple[int, ...], Sequence[float]]] = []

    def add(self, block: _Block, place: int, entrants: Sequence[int], deal: DealScore, points: Sequence[float]) -> None:
        """Puts in a deal that ended; `place` tells the tables of a block apart."""
        self._rows.append((block, place, entrants, kinds_of(deal), points))

    def ratings(self, without: Collection[_Block] = ()) -> list[Rating | None]:
        """The ratings by entrant; `without` are blocks that are left out."""
        rows = sorted((row for row in self._rows if row[0] not in without), key=lambda row: row[:2])
        numbers = {block: number for number, block in enumerate(sorted({row[0] for row in rows}))}
        deals = RatedDeals(
            np.array([numbers[row[0]] for row in rows], dtype=np.int32),
            np.array([row[2] for row in rows]).reshape(-1, 5),
            np.array([row[3] for row in rows]).reshape(-1, 5),
            np.array([row[4] for row in rows]).reshape(-1, 5),
        )
        return rate(deals, self._entrants)
