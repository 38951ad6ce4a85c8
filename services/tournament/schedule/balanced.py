"""A selection of sets of five in which every two entrants meet as equally often as possible, for any number of sets.

Put together from what is exact first: whole passes over all sets, then sets developed from base blocks, the cosets of
the subgroup of five, and single sets found by search for the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import comb, gcd
from random import Random

import numpy as np
from numpy.typing import NDArray

from services.tournament.schedule.designs import DESIGNS
from services.tournament.schedule.development import BlockSearch
from services.tournament.schedule.full import FullSelection
from services.tournament.schedule.groups import SEATS, Group, make_group
from services.tournament.schedule.mixing import subkey
from services.tournament.schedule.packing import Packing
from services.tournament.schedule.seating import seat_blocks, seat_sets
from services.tournament.schedule.selection import Lineups

_BLOCK_TURNS = 10_000
_PACKING_TURNS = 3_000
_SMALL, _FEW = 40, 20
"""Up to so many entrants and blocks a second try with fewer developed sets is cheap, and often better."""


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """What is left after the whole passes; entrants under their numbers in the group, by seat."""

    blocks: NDArray[np.int64]
    single: NDArray[np.int64]
    loss: int
    is_even: bool


class BalancedSelection:
    """Sets of five, as even as possible, in an order that follows from `key`; searched for when the first is asked
    for."""

    def __init__(self, entrants: int, sets: int, key: int, rotated: bool) -> None:
        self._entrants = entrants
        self._sets = sets
        self._key = key
        self._rotated = rotated
        self._passes = FullSelection(entrants, sets // comb(entrants, SEATS), subkey(key, 1), rotated)

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
        passed = self._passes.sets
        developed = len(self._plan.blocks) * self._entrants if stop > passed else 0
        parts: list[NDArray[np.int64] | Lineups] = []
        if start < passed:
            parts.append(self._passes.lineups(start, min(stop, passed)))
        if stop > passed:
            first, last = max(start - passed, 0), stop - passed
            inner = np.concatenate(
                (
                    self._developed(min(first, developed), min(last, developed)),
                    self._plan.single[max(first - developed, 0) : max(last - developed, 0)],
                )
            )
            parts.append(self._labels[inner])
        return np.concatenate(parts).astype(np.int16) if parts else np.empty((0, SEATS), np.int16)

    def _developed(self, start: int, stop: int) -> NDArray[np.int64]:
        block, turn = np.divmod(np.arange(start, stop), self._entrants)
        # Steps of about 0.38 of the way round: neighbours in time have few entrants in common.
        stride = next(step for step in range(max(1, round(self._entrants * 0.382)), self._entrants + 1)
                      if gcd(step, self._entrants) == 1)  # fmt: skip
        moved: NDArray[np.int64] = self._group.plus[self._plan.blocks[block], (turn * stride % self._entrants)[:, None]]
        return moved

    @cached_property
    def _group(self) -> Group:
        return make_group(self._entrants)

    @cached_property
    def _labels(self) -> NDArray[np.int64]:
        labels = list(range(self._entrants))
        Random(subkey(self._key, 2)).shuffle(labels)
        return np.array(labels, dtype=np.int64)

    @cached_property
    def _plan(self) -> _Plan:
        rest = self._sets - self._passes.sets
        design = _Design(self._group)
        rest -= (copies := design.fits(rest)) * design.sets
        most = rest // self._entrants
        plan = self._planned(design, copies, most, rest - most * self._entrants)
        if plan.is_even or not most or self._entrants > _SMALL or most > _FEW:
            return plan
        other = self._planned(design, copies, most - 1, rest - (most - 1) * self._entrants)
        return min(plan, other, key=lambda one: one.loss)

    def _planned(self, design: _Design, copies: int, blocks: int, single: int) -> _Plan:
        group, size = self._group, self._entrants
        draw = Random(subkey(self._key, 3, blocks))
        whole = design.blocks(copies)
        cosets = group.cosets() if single * SEATS >= size else group.cosets()[:0]
        kinds = np.zeros(len(group.each), dtype=np.int64)
        if len(cosets):
            kinds[np.unique(group.kind[0, list(group.subgroup[1:])])] = 1
        search = BlockSearch(group, kinds, draw)
        search.grow(blocks)
        search.improve(_BLOCK_TURNS)
        packing = Packing(search.meetings[group.kind], single - len(cosets), draw)
        packing.improve(_PACKING_TURNS)
        ordered, before = seat_blocks(group, [*whole, *search.blocks])
        singles = np.concatenate((np.tile(design.cosets, (copies, 1)), cosets, packing.sets))
        return _Plan(ordered, seat_sets(singles, before, self._rotated), packing.loss(), packing.is_even)


class _Design:
    """The known design for as many entrants as a group has elements, if any: in `sets` sets every two meet once."""

    def __init__(self, group: Group) -> None:
        self._group = group
        self._blocks = np.array(DESIGNS.get(group.order, ()), dtype=np.int64).reshape(-1, SEATS)
        self.cosets = group.cosets() if len(self._blocks) else group.cosets()[:0]
        self.sets = len(self._blocks) * group.order + len(self.cosets)

    def fits(self, sets: int) -> int:
        """How often the whole design fits into so many sets."""
        return sets // self.sets if self.sets else 0

    def blocks(self, copies: int) -> list[list[int]]:
        """The base blocks of so many copies, each under another multiplier, so that not all have the same sets."""
        units = [unit for unit in range(1, self._group.order) if gcd(unit, self._group.order) == 1]
        found: list[list[int]] = []
        for copy in range(copies):
            found += self._group.multiplied(self._blocks, units[copy % len(units)]).tolist()
        return found
