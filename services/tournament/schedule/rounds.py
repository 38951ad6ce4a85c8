"""Rounds: everybody plays once in each, and who is left over rests, evenly."""

from __future__ import annotations

from functools import cached_property
from random import Random

import numpy as np

from services.tournament.schedule.mixing import subkey
from services.tournament.schedule.rotas import Cycles, Rota, cycle_length
from services.tournament.schedule.seating import seat_sets
from services.tournament.schedule.selection import Lineups

SEATS = 5


class RoundsSelection:
    """Sets of five in rounds of `tables` sets on end, found when the first is asked for."""

    def __init__(self, entrants: int, rounds: int, key: int, rotated: bool) -> None:
        self._entrants = entrants
        self._rounds = rounds
        self._key = key
        self._rotated = rotated

    @property
    def entrants(self) -> int:
        """How many entrants there are."""
        return self._entrants

    @property
    def tables(self) -> int:
        """How many sets a round has."""
        return self._entrants // SEATS

    @property
    def sets(self) -> int:
        """How many sets of five are played."""
        return self._rounds * self.tables

    def lineups(self, start: int, stop: int) -> Lineups:
        """The sets `start` to `stop` - 1 by seat."""
        cycle, place = np.divmod(np.arange(start, stop), len(self._cycle))
        parts = [np.empty((0, SEATS), np.int16)]
        for one in np.unique(cycle).tolist():
            parts.append(self._cycles.labels(one)[self._cycle[place[cycle == one]]])
        return np.concatenate(parts)

    @cached_property
    def _cycles(self) -> Cycles:
        cycle = self._cycle.astype(np.int64)
        return Cycles(self._entrants, self._rounds, cycle, self.tables, subkey(self._key, 5))

    @cached_property
    def _cycle(self) -> Lineups:
        rota = Rota(self._entrants, SEATS, Random(subkey(self._key, 4)))
        rounds = cycle_length(self._rounds, self._entrants)
        sets = np.concatenate([rota.next_round() for _ in range(rounds)])
        return seat_sets(sets, np.zeros((self._entrants, self._entrants), np.int64), self._rotated).astype(np.int16)
