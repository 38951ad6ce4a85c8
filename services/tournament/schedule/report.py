"""What a schedule comes to, before anything is played: counted without keeping it, or by formula without making it."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from services.tournament.schedule.full import FullSelection
from services.tournament.schedule.gauntlet import GauntletSelection
from services.tournament.schedule.plan import SEATS, Schedule

_CHUNK = 50_000
_COUNTED = 2_000_000
"""Up to so many sets even a `full` schedule is gone through, for the neighbours, which have no formula."""


@dataclass(frozen=True, slots=True)
class Spread:
    """The least, the mean and the greatest of some counts."""

    least: int
    mean: float
    most: int


@dataclass(frozen=True, slots=True)
class ScheduleReport:
    """Counts over the whole schedule; all of them count matches (or their deals).

    `meetings`: of two entrants at one table. `in_seat`: matches of an entrant in one seat. `before`: how often an
    entrant is the upper neighbour of another, over all ordered pairs; None for a `full` schedule with rotation that
    is too large to be gone through. `per_entrant`: matches of each entrant, by index. `different`: deals that are not
    the same as another one; `controls`: matches at control tables, which are in no other count but the first two. In a
    gauntlet `meetings` and `before` are of the field among itself, `challenges` of each challenger with each of the
    field.
    """

    matches: int
    deals: int
    meetings: Spread
    in_seat: Spread
    before: Spread | None
    per_entrant: tuple[int, ...]
    different: int
    controls: int = 0
    challenges: Spread | None = None

    @property
    def played(self) -> Spread:
        """Matches of an entrant."""
        return _spread(np.array(self.per_entrant, dtype=np.int64))


def report_schedule(schedule: Schedule) -> ScheduleReport:
    """What this schedule comes to."""
    selection = schedule.selection
    if isinstance(selection, FullSelection) and schedule.rotated and selection.sets > _COUNTED:
        return _report_by_formula(schedule, selection)
    counts = _count(schedule)
    challengers = list(selection.challengers) if isinstance(selection, GauntletSelection) else []
    others = [entrant for entrant in range(schedule.entrants) if entrant not in challengers]
    apart = ~np.eye(len(others), dtype=bool)
    return ScheduleReport(
        matches=len(schedule),
        deals=len(schedule) * schedule.deals,
        meetings=_spread(counts.meetings[np.ix_(others, others)][apart]),
        in_seat=_spread(counts.in_seat.ravel()),
        before=_spread(counts.before[np.ix_(others, others)][apart]),
        per_entrant=tuple(counts.in_seat.sum(axis=1).tolist()),
        different=schedule.groups * schedule.deals,
        controls=schedule.groups * schedule.controls,
        challenges=_spread(counts.meetings[np.ix_(challengers, others)]) if challengers else None,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Counts:
    meetings: NDArray[np.int64]
    before: NDArray[np.int64]
    in_seat: NDArray[np.int64]


def _count(schedule: Schedule) -> _Counts:
    """One pass over the sets; each stands for all its rotations."""
    size = schedule.entrants
    counts = _Counts(
        np.zeros((size, size), np.int64), np.zeros((size, size), np.int64), np.zeros((size, SEATS), np.int64)
    )
    for start in range(0, schedule.selection.sets, _CHUNK):
        lineups = schedule.selection.lineups(start, min(start + _CHUNK, schedule.selection.sets)).astype(np.int64)
        for seat in range(SEATS):
            counts.in_seat[:, seat] += np.bincount(lineups[:, seat], minlength=size)
            counts.before[:] += _pairs(lineups[:, seat], lineups[:, (seat + 1) % SEATS], size)
            for other in range(seat):
                met = _pairs(lineups[:, seat], lineups[:, other], size)
                counts.meetings[:] += met + met.T
    if schedule.rotated:
        counts.in_seat[:] = counts.in_seat.sum(axis=1, keepdims=True)
    counts.meetings[:] *= schedule.rotations
    counts.before[:] *= schedule.rotations
    return counts


def _pairs(ones: NDArray[np.int64], others: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    return np.bincount(ones * size + others, minlength=size * size).reshape(size, size)


def _report_by_formula(schedule: Schedule, selection: FullSelection) -> ScheduleReport:
    entrants, times = selection.entrants, selection.repeats * schedule.rotations
    meetings = comb(entrants - 2, SEATS - 2) * times
    each = comb(entrants - 1, SEATS - 1) * times
    in_seat = each // SEATS  # every set has five rotations, so this is exact
    return ScheduleReport(
        matches=len(schedule),
        deals=len(schedule) * schedule.deals,
        meetings=Spread(meetings, float(meetings), meetings),
        in_seat=Spread(in_seat, float(in_seat), in_seat),
        before=None,
        per_entrant=(each,) * entrants,
        different=schedule.groups * schedule.deals,
    )


def _spread(counts: NDArray[np.int64]) -> Spread:
    return Spread(int(counts.min()), float(counts.mean()), int(counts.max()))
