"""The deals of a table as columns of small numbers: what all that it shows is computed from. Pure.

A tournament has a million deals, each with five seats, and a table is kept as long as people look at it. As objects a
deal takes a kilobyte; as columns it takes a byte for most of its numbers, and nothing for those that are the same in
all deals, as faults are where there are none. Deals are put into their own order before anything is computed, so that
in which they came changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bots_sdk.rules.cards import SEATS
from services.tournament.standings.roles import kinds_of
from services.tournament.standings.values import PlayedMatch
from services.tournament.standings.widths import Whole, narrow

PACKED = 2_048
"""Deals that wait to be packed: until then each is a row of Python's numbers."""


@dataclass(frozen=True, slots=True)
class DealColumns:
    """Deals in the order of their groups, numbers and matches. `n` long, or by seat: `n` by 5.

    `match` is the number of the match, `dealer` the seat that dealt, `spoiled` has a bit for each seat that spoiled the
    deal, `kinds` are as `kinds_of` has them. `with_beans` is 1 where a deal has beans, `beans` are 0 where it has none.
    """

    group: Whole
    deal: Whole
    match: Whole
    voided: Whole
    dealer: Whole
    spoiled: Whole
    with_beans: Whole
    entrants: Whole
    points: Whole
    kinds: Whole
    faults: Whole
    beans: Whole

    def __len__(self) -> int:
        return len(self.group)

    def blocks(self) -> NDArray[np.int32]:
        """The deal block of each deal, group and deal as one number: counted from 0 on, ascending, without a gap."""
        new = (self.group[1:] != self.group[:-1]) | (self.deal[1:] != self.deal[:-1])
        blocks = np.zeros(len(self), dtype=np.int32)
        np.cumsum(new, out=blocks[1:])
        return blocks


_ONE_EACH = 7
"""So many columns hold a number a deal, those behind them one for each seat."""
_STARTS = (*range(_ONE_EACH), *range(_ONE_EACH, _ONE_EACH + 6 * SEATS, SEATS))
"""Where in a row each column starts, and where the row ends."""


class PlayedDeals:
    """Takes in the deals of matches in any order; has them as columns when asked."""

    def __init__(self) -> None:
        self._rows: list[tuple[int, ...]] = []
        # Each a list of columns in the order of `DealColumns`: the first in order, the others as they came.
        self._packed: list[list[Whole]] = []

    def add(self, match: PlayedMatch) -> None:
        """Takes in all deals of a match."""
        dealer = 0
        for deal in match.deals:
            self._rows.append(
                (
                    match.group,
                    deal.number,
                    match.number,
                    deal.voided,
                    dealer,
                    sum(1 << seat for seat in deal.spoiled),
                    int(deal.beans is not None),
                    *match.entrants,
                    *deal.points,
                    *kinds_of(deal),
                    *deal.faults,
                    *(deal.beans or (0,) * SEATS),
                )
            )
            # The first deal is dealt from the first seat, each other by whoever was emperor (rules 3.1, 3.4).
            dealer = dealer if deal.emperor is None else deal.emperor
        if len(self._rows) >= PACKED:
            self._pack()

    def columns(self) -> DealColumns:
        """All deals so far."""
        if self._rows or not self._packed:
            self._pack()
        if len(self._packed) > 1:
            self._settle()
        return DealColumns(*self._packed[0])

    def _pack(self) -> None:
        rows = np.array(self._rows, dtype=np.int64).reshape(-1, _STARTS[-1])
        self._rows.clear()
        columns = [narrow(rows[:, start:stop]) for start, stop in pairwise(_STARTS)]
        columns = [column[:, 0] if start < _ONE_EACH else column for start, column in enumerate(columns)]
        self._packed.append(columns)
        if len(self._packed) == 1:
            self._settle()

    def _settle(self) -> None:
        """Puts everything in order, one column after another: never are there two copies of more than one."""
        keys = [np.concatenate([columns[key] for columns in self._packed]) for key in (2, 1, 0)]
        order = np.lexsort(keys)
        del keys
        settled = []
        for place in range(len(_STARTS) - 1):
            parts = [columns[place] for columns in self._packed]
            for columns in self._packed:
                columns[place] = order[:0]
            settled.append(narrow(np.concatenate(parts)[order]))
        self._packed = [settled]
