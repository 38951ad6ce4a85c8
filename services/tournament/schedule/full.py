"""Every set of five, as often as wanted: counted, found and mixed by arithmetic, never listed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from math import comb

import numpy as np
from numpy.typing import NDArray

from services.tournament.schedule.mixing import Words, mixed, permuted, subkey
from services.tournament.schedule.seating import seat_sets
from services.tournament.schedule.selection import Lineups

SEATS = 5
_ORDERS = np.array(list(permutations(range(SEATS))), dtype=np.int64)
_SEAT = np.arange(SEATS)
_SHIFTS = (0, 2, 0, 2, 3, 0, 3, 4, 2, 3, 1, 0, 1, 4, 2, 1, 4, 1, 4, 3)
"""By how many seats a line-up is moved on in each repeat without rotation: found by search, so that on the way to the
twentieth nobody has been in one seat more than three times oftener than in another."""
_SEATED = comb(14, SEATS)
"""Up to so many sets each gets its order with an eye on all the others; beyond, by chance."""


@dataclass(frozen=True, slots=True)
class FullSelection:
    """All C(entrants, 5) sets, `repeats` times over, each time in another order and with other neighbours.

    In four repeats each of a set is right before each other once; in twenty without rotation each has each seat four
    times.
    """

    entrants: int
    repeats: int
    key: int
    rotated: bool

    @property
    def sets(self) -> int:
        """How many sets of five are played."""
        return comb(self.entrants, SEATS) * self.repeats

    def lineups(self, start: int, stop: int) -> Lineups:
        """The sets `start` to `stop` - 1 by seat."""
        size = comb(self.entrants, SEATS)
        parts = []
        while start < stop:
            turn, first = divmod(start, size)
            last = min(size, first + stop - start)
            parts.append(self._pass(turn, np.arange(first, last, dtype=np.uint64), size))
            start += last - first
        return np.concatenate(parts) if parts else np.empty((0, SEATS), np.int16)

    def _pass(self, turn: int, places: Words, size: int) -> Lineups:
        ranks = permuted(places, size, subkey(self.key, turn))
        shift = 0 if self.rotated else _SHIFTS[turn % len(_SHIFTS)]
        again = turn // (SEATS - 1 if self.rotated else len(_SHIFTS))
        # Taking every step-th of five: over the steps 1 to 4 each is followed by each other once.
        step = turn % (SEATS - 1) + 1
        seats = (_SEAT * step + shift) % SEATS
        if size <= _SEATED:
            return _seated(self.entrants, self.rotated)[ranks.astype(np.int64)][:, seats]
        orders = _ORDERS[(mixed(ranks, subkey(self.key, again, 1)) % np.uint64(len(_ORDERS))).astype(np.int64)]
        return np.take_along_axis(unranked(ranks, self.entrants), orders[:, seats], axis=1).astype(np.int16)


@lru_cache(maxsize=4)
def _seated(entrants: int, rotated: bool) -> Lineups:
    """All sets by rank, each in an order that evens out neighbours and seats, as chance would not for few entrants.

    Whichever step is taken through it: by 3 and 4 they are those of 2 and 1 the other way round.
    """
    sets = unranked(np.arange(comb(entrants, SEATS), dtype=np.uint64), entrants)
    return seat_sets(sets, np.zeros((entrants, entrants), np.int64), rotated, anew=True).astype(np.int16)


def unranked(ranks: Words, entrants: int) -> NDArray[np.int64]:
    """The sets with these ranks in colex order: by their greatest member, then the next, and so on."""
    left = ranks.astype(np.int64)
    members = np.empty((len(ranks), SEATS), dtype=np.int64)
    for size in range(SEATS, 0, -1):
        # Of the sets of this size, comb(m, size) lie wholly below m.
        below = np.array([comb(top, size) for top in range(entrants + 1)], dtype=np.int64)
        member = np.searchsorted(below, left, side="right") - 1
        members[:, size - 1] = member
        left = left - below[member]
    return members
