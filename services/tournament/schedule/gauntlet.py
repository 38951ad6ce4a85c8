"""A gauntlet: each of some challengers, one at a table, against the field, four at a time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import ceil
from random import Random

import numpy as np

from services.tournament.schedule.mixing import subkey
from services.tournament.schedule.rotas import Cycles, Rota, cycle_length
from services.tournament.schedule.seating import seat_sets
from services.tournament.schedule.selection import Lineups

OPPONENTS = 4


class GauntletSelection:
    """Sets of one challenger and four of the field, found when the first is asked for.

    The field sits down once before anybody of it sits down again, and each time another challenger has its turn.
    """

    def __init__(self, entrants: int, challengers: Sequence[int], sets: int, key: int, rotated: bool) -> None:
        self.challengers = tuple(challengers)
        self._entrants = entrants
        self._sets = sets
        self._key = key
        self._rotated = rotated
        self._field = [entrant for entrant in range(entrants) if entrant not in self.challengers]
        self._tables = len(self._field) // OPPONENTS
        self._rounds = ceil(sets / self._tables)

    @property
    def entrants(self) -> int:
        """How many entrants there are."""
        return self._entrants

    @property
    def sets(self) -> int:
        """How many sets of five are played."""
        return self._sets

    def lineups(self, start: int, stop: int) -> Lineups:
        """The sets `start` to `stop` - 1 by seat."""
        cycle, place = np.divmod(np.arange(start, stop), len(self._cycle))
        parts = [np.empty((0, OPPONENTS + 1), np.int16)]
        for one in np.unique(cycle).tolist():
            # By their numbers in the search: the field, then the challengers.
            field = np.array(self._field, dtype=np.int16)[self._cycles.labels(one)]
            labels = np.concatenate((field, np.array(self.challengers, dtype=np.int16)))
            parts.append(labels[self._cycle[place[cycle == one]]])
        return np.concatenate(parts)

    @cached_property
    def _cycles(self) -> Cycles:
        field = self._cycle[self._cycle < len(self._field)].reshape(-1, OPPONENTS).astype(np.int64)
        return Cycles(len(self._field), self._rounds, field, self._tables, subkey(self._key, 7))

    @cached_property
    def _cycle(self) -> Lineups:
        size, kinds = len(self._field), len(self.challengers)
        rota = Rota(size, OPPONENTS, Random(subkey(self._key, 6)), kinds)
        sets = []
        for one in range(cycle_length(self._rounds, size, kinds)):
            tables = rota.next_round(one % kinds)
            challenger = np.full((len(tables), 1), size + one % kinds, dtype=np.int64)
            sets.append(np.concatenate((challenger, tables), axis=1))
        before = np.zeros((self._entrants, self._entrants), np.int64)
        return seat_sets(np.concatenate(sets), before, self._rotated).astype(np.int16)
