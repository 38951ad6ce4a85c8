"""Who sits beside whom, and where: the order within each set of five, so that no entrant is favoured by its place."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from services.tournament.schedule.groups import SEATS, Group

_ROUND_TABLE = np.array([(0, *rest) for rest in permutations(range(1, SEATS))], dtype=np.int64)
_ORDERS = np.array(list(permutations(range(SEATS))), dtype=np.int64)
_SEAT_WEIGHT = 1 << 20
_SWEEPS = 4


def seat_blocks(group: Group, blocks: list[list[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Base blocks in the orders that even out how often one entrant is the upper neighbour of another.

    Returns:
        The blocks, shape (blocks, 5), and how often a is right before b when they are developed, shape (order, order).
    """
    ordered = np.array(blocks, dtype=np.int64).reshape(-1, SEATS)
    steps = np.zeros(group.order, dtype=np.int64)  # how often the next seat is on by this element
    for sweep in range(_SWEEPS):
        for at in range(len(ordered)):
            if sweep:
                np.subtract.at(steps, _steps(group, ordered[at]), 1)
            tables = ordered[at][_ROUND_TABLE]
            taken = _steps(group, tables)
            # What a step costs that an order takes twice, it costs the second time more than the first.
            twice = (taken[:, :, None] == taken[:, None, :]).sum(axis=(1, 2))
            cost = 2 * steps[taken].sum(axis=1) + twice
            ordered[at] = tables[int(cost.argmin())]
            np.add.at(steps, _steps(group, ordered[at]), 1)
    return ordered, steps[group.minus.T]


def seat_sets(
    sets: NDArray[np.int64], before: NDArray[np.int64], rotated: bool, *, anew: bool = False
) -> NDArray[np.int64]:
    """Single sets in the orders that even out neighbours and, first of all, seats, unless rotation does that.

    Args:
        sets: shape (sets, 5).
        before: how often a is right before b already, shape (entrants, entrants).
        rotated: whether every set is played in all five rotations.
        anew: whether the sets will be played again with every second one next to each other, so that who sits two
            seats on is to be evened out as well.

    Returns:
        The same sets, shape (sets, 5), by seat.
    """
    ordered = sets.copy()
    counts = {1: before.copy()} | ({2: np.zeros_like(before)} if anew else {})  # by how many seats on
    seats = np.arange(SEATS)
    taken = np.zeros((len(before), SEATS), dtype=np.int64)
    for sweep in range(_SWEEPS):
        for at, lineup in enumerate(sets):
            if sweep:
                _count(counts, ordered[at], -1)
                taken[ordered[at], seats] -= 1
            tables = lineup[_ROUND_TABLE if rotated else _ORDERS]
            cost = np.zeros(len(tables), dtype=np.int64)
            for on, met in counts.items():
                cost += met[tables, np.roll(tables, -on, axis=1)].sum(axis=1)
            if not rotated:
                cost += _SEAT_WEIGHT * taken[tables, seats].sum(axis=1)
            ordered[at] = tables[int(cost.argmin())]
            _count(counts, ordered[at], 1)
            taken[ordered[at], seats] += 1
    return ordered


def _count(counts: dict[int, NDArray[np.int64]], lineup: NDArray[np.int64], sign: int) -> None:
    for on, met in counts.items():
        met[lineup, np.roll(lineup, -on)] += sign


def _steps(group: Group, lineup: NDArray[np.int64]) -> NDArray[np.int64]:
    return group.minus[np.roll(lineup, -1, axis=-1), lineup]
