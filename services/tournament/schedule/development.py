"""Sets of five that are developed from a few: base blocks whose differences are as even as possible.

Moving a block on by every element of a group gives each entrant each seat once, and every two entrants with the same
difference the same number of meetings (Bose 1939). So a few blocks decide about thousands of sets, and with the right
blocks every two entrants meet equally often: for 21, 41, 61 or 65 entrants, among others, exactly once.
"""

from __future__ import annotations

from random import Random

import numpy as np
from numpy.typing import NDArray

from services.tournament.schedule.groups import SEATS, Group

_NEVER = 1 << 40
_TENURE = (2, 8)
_PATIENCE = 4_000
"""Turns without anything better, after which the search ends."""


class BlockSearch:
    """Base blocks for one group: chosen one by one, then exchanged element by element (tabu search).

    `meetings[k]` is how often two entrants of difference kind k meet, `given` what they meet apart from the blocks.
    """

    def __init__(self, group: Group, given: NDArray[np.int64], draw: Random) -> None:
        self._group = group
        self._draw = draw
        self.meetings = given.copy()
        self.blocks: list[list[int]] = []

    def add(self, block: list[int]) -> None:
        """Takes in a block as it is."""
        for place in range(SEATS):
            for other in range(place):
                self._count_kind(block[place], block[other], 1)
        self.blocks.append(block)

    def grow(self, count: int) -> None:
        """Adds so many blocks, each element where it evens out best."""
        for _ in range(count):
            block = [0]
            while len(block) < SEATS:
                block.append(self._best(block, frozenset()))
            self.add(block)

    def improve(self, turns: int) -> None:
        """Exchanges elements until the meetings are as even as can be, or for so many turns; keeps the best found."""
        best, kept, met = self.loss(), [list(block) for block in self.blocks], self.meetings.copy()
        least = self._least_loss()
        locked: list[dict[int, int]] = [{} for _ in self.blocks]
        since = 0
        for turn in range(turns if self.blocks else 0):
            since += 1
            if best <= least or since > _PATIENCE:
                break
            self._exchange(self._draw.randrange(len(self.blocks)), self._draw.randrange(SEATS), turn, locked)
            loss = self.loss()
            if loss < best:
                best, kept, met, since = loss, [list(block) for block in self.blocks], self.meetings.copy(), 0
        self.blocks, self.meetings = kept, met

    def _exchange(self, at: int, place: int, turn: int, locked: list[dict[int, int]]) -> None:
        block = self.blocks[at]
        self._count_one(block, place, -1)
        old, rest = block[place], block[:place] + block[place + 1 :]
        locked[at] = {element: until for element, until in locked[at].items() if until > turn}
        block[place] = self._best(rest, frozenset((old, *locked[at])))
        self._count_one(block, place, 1)
        locked[at][old] = turn + self._draw.randint(*_TENURE) * len(self.blocks)

    def loss(self) -> int:
        """The sum of squares of the meetings of all pairs; the least sum is the most even."""
        return int(np.dot(self._group.pairs[1:], self.meetings[1:] ** 2))

    def _least_loss(self) -> int:
        pairs = int(self._group.pairs[1:].sum())
        low, more = divmod(int(np.dot(self._group.pairs[1:], self.meetings[1:])), pairs)
        return (pairs - more) * low**2 + more * (low + 1) ** 2

    def _best(self, rest: list[int], barred: frozenset[int]) -> int:
        group = self._group
        kinds = group.kind[:, rest]
        each = group.each[kinds]
        # (m + e)² - m² for every pair of a kind is, times the number of pairs, order · (2m + e).
        costs = (2 * self.meetings[kinds] + each).sum(axis=1)
        for one in range(1, len(rest)):
            for other in range(one):
                costs += 2 * each[:, one] * (kinds[:, one] == kinds[:, other])
        costs[rest] = _NEVER
        if barred:
            costs[list(barred)] += _NEVER >> 1
        return int(self._draw.choice(np.flatnonzero(costs == costs.min()).tolist()))

    def _count_one(self, block: list[int], place: int, sign: int) -> None:
        for other in range(SEATS):
            if other != place:
                self._count_kind(block[place], block[other], sign)

    def _count_kind(self, one: int, other: int, sign: int) -> None:
        kind = self._group.kind[one, other]
        self.meetings[kind] += sign * self._group.each[kind]
