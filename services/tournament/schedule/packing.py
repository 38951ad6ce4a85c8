"""Single sets of five, found by search: even meetings where no development fits.

Entrants are exchanged between sets, the best exchange first and none soon undone (tabu search, Glover 1989), so that
the sum of squares of all meetings falls: the least sum is the most even.
"""

from __future__ import annotations

from random import Random

import numpy as np
from numpy.typing import NDArray

SEATS = 5
_NEVER = 1 << 40
_TENURE = (1, 3)
_PATIENCE = 1_200
"""Turns without anything better, after which the search ends."""
_OTHERS = 1 - np.eye(SEATS, dtype=np.int64)


class Packing:
    """Sets of five over entrants that have met `met[a, b]` times already (symmetric, 0 on the diagonal).

    Every entrant is in as many sets as any other, or in one more.
    """

    def __init__(self, met: NDArray[np.int64], count: int, draw: Random) -> None:
        self._entrants = len(met)
        self._draw = draw
        self.met = met.copy()
        self.sets = np.empty((count, SEATS), dtype=np.int64)
        self._plays = np.zeros(self._entrants, dtype=np.int64)
        for at in range(count):
            self.sets[at] = self._greedy()
            self._plays[self.sets[at]] += 1
            self._count(self.sets[at], 1)

    def improve(self, turns: int) -> None:
        """Exchanges entrants until the meetings are as even as can be, or for so many turns; keeps the best found."""
        if not len(self.sets):
            return
        best, least = self.loss(), self._least_loss()
        kept, kept_met = self.sets.copy(), self.met.copy()
        locked = np.zeros((len(self.sets), self._entrants), dtype=np.int64)
        since = 0
        for turn in range(1, turns + 1):
            since += 1
            if best <= least or since > _PATIENCE:
                break
            at, place = self._draw.randrange(len(self.sets)), self._draw.randrange(SEATS)
            self._exchange(at, place, turn, locked)
            loss = self.loss()
            if loss < best:
                best, kept, kept_met, since = loss, self.sets.copy(), self.met.copy(), 0
        self.sets, self.met = kept, kept_met

    @property
    def is_even(self) -> bool:
        """Whether no two pairs differ by more than one meeting."""
        return self.loss() <= self._least_loss()

    def loss(self) -> int:
        """The sum of squares of the meetings over all ordered pairs."""
        return int(np.vdot(self.met, self.met))

    def _least_loss(self) -> int:
        pairs = self._entrants * (self._entrants - 1)
        low, more = divmod(int(self.met.sum()), pairs)
        return (pairs - more) * low**2 + more * (low + 1) ** 2

    def _greedy(self) -> NDArray[np.int64]:
        chosen: list[int] = []
        for _ in range(SEATS):
            # Who has played least comes first, among them who has met the chosen least.
            cost = self._plays * _NEVER + self.met[:, chosen].sum(axis=1)
            cost[chosen] = np.iinfo(np.int64).max
            chosen.append(int(self._draw.choice(np.flatnonzero(cost == cost.min()).tolist())))
        return np.array(chosen, dtype=np.int64)

    def _count(self, members: NDArray[np.int64], sign: int) -> None:
        self.met[members[:, None], members] += sign * _OTHERS

    def _exchange(self, at: int, place: int, turn: int, locked: NDArray[np.int64]) -> None:
        out = int(self.sets[at, place])
        rest = np.delete(self.sets[at], place)
        swaps = self._swap_costs(out, rest, at)
        swaps[(locked[at][self.sets] > turn) | (locked[:, out] > turn)[:, None]] += _NEVER
        spares = self._spare_costs(out, rest)
        spares[locked[at] > turn] += _NEVER
        lowest = min(int(swaps.min()), int(spares.min()))
        if lowest >= _NEVER:
            return
        choices = [(int(other), int(where)) for other, where in np.argwhere(swaps == lowest)]
        choices += [(-1, int(entrant)) for entrant in np.flatnonzero(spares == lowest)]
        other, where = self._draw.choice(choices)
        tenure = turn + self._draw.randint(*_TENURE)
        locked[at, out] = tenure
        if other < 0:
            self._plays[[out, where]] += (-1, 1)
            self._replace(at, place, where)
        else:
            coming = int(self.sets[other, where])
            locked[other, coming] = tenure
            self._replace(other, where, out)
            self._replace(at, place, coming)

    def _replace(self, at: int, place: int, entrant: int) -> None:
        self._count(self.sets[at], -1)
        self.sets[at, place] = entrant
        self._count(self.sets[at], 1)

    def _swap_costs(self, out: int, rest: NDArray[np.int64], at: int) -> NDArray[np.int64]:
        """What an exchange of `out` with each member of each set adds to half the loss, over 2. Shape (sets, 5)."""
        sets, met = self.sets, self.met
        theirs = met[sets[:, :, None], sets[:, None, :]].sum(axis=2)  # members with their own set
        mine = met[out, sets].sum(axis=1, keepdims=True) - met[out, sets]  # `out` with their set, but the member itself
        gain = (
            met[sets[:, :, None], rest].sum(axis=2) - met[out, rest].sum()
        )  # the member instead of `out` with the rest
        among = np.zeros(self._entrants, dtype=bool)
        among[rest] = True
        inside = among[sets]
        shared = inside.sum(axis=1, keepdims=True) - inside
        costs: NDArray[np.int64] = gain + mine - theirs + 8 - 2 * shared
        # Who is in both sets already cannot be exchanged.
        costs[inside] = _NEVER
        costs[(sets == out).any(axis=1)] = _NEVER
        costs[at] = _NEVER
        return costs

    def _spare_costs(self, out: int, rest: NDArray[np.int64]) -> NDArray[np.int64]:
        """The same for entrants that may take the place of `out` for good: those in one set less. Shape (entrants,)."""
        costs: NDArray[np.int64] = self.met[:, rest].sum(axis=1) - self.met[out, rest].sum() + len(rest)
        costs[self._plays != self._plays[out] - 1] = _NEVER
        costs[rest] = _NEVER
        return costs
