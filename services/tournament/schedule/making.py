"""From a tournament's specification to its schedule."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from services.tournament.schedule.balanced import BalancedSelection
from services.tournament.schedule.full import FullSelection
from services.tournament.schedule.gauntlet import GauntletSelection
from services.tournament.schedule.mixing import subkey
from services.tournament.schedule.plan import SEATS, Schedule
from services.tournament.schedule.pools import PoolSchedule, Timetable
from services.tournament.schedule.rounds import RoundsSelection
from services.tournament.schedule.sealed import schedule_key
from services.tournament.schedule.selection import Selection
from services.tournament.spec import (
    Draw,
    Duplicate,
    PoolRules,
    ScheduleKind,
    ScheduleRules,
    TournamentSpec,
    count_sets,
)

_EACH, _FINAL, _DRAW = 8, 9, 10
"""Below these keys the schedules of pools and final, and the draw; those below 8 are of schedules themselves."""


def make_timetable(spec: TournamentSpec) -> Timetable:
    """All matches of a tournament, the same whenever they are made. `balanced` takes up to some seconds of computing.

    Raises:
        ValueError: the specification has no seed; whoever creates a tournament gives it one first.
    """
    stages = spec.schedule.stages
    if stages is None:
        return make_schedule(spec)
    entrants, key = len(spec.entrants), _key(spec)
    pools = draw_pools(entrants, stages, key)
    by_size = {
        size: _make(spec, stages.each, range(size), subkey(key, _EACH, size))
        for size in sorted(set(map(len, pools)), reverse=True)
    }
    final = _make(spec, stages.final, range(stages.places(entrants)), subkey(key, _FINAL))
    return PoolSchedule(entrants, pools, tuple(by_size[len(pool)] for pool in pools), final)


def make_schedule(spec: TournamentSpec) -> Schedule:
    """The schedule of a tournament without pools. Raises as `make_timetable` does."""
    assert spec.schedule.stages is None
    return _make(spec, spec.schedule, spec.entrants, _key(spec))


def draw_pools(entrants: int, stages: PoolRules, key: int) -> tuple[tuple[int, ...], ...]:
    """Who is in which pool: each by the numbers its schedule calls them, in an order that follows from `key`."""
    order = list(range(entrants))
    if stages.draw is Draw.LOT:
        Random(subkey(key, _DRAW)).shuffle(order)
    many = len(stages.sizes(entrants))
    pools: list[list[int]] = [[] for _ in range(many)]
    for place, entrant in enumerate(order):
        row, column = divmod(place, many)
        pools[many - 1 - column if row % 2 else column].append(entrant)
    # The first of the file must not also be the first of every schedule.
    for number, pool in enumerate(pools, 1):
        Random(subkey(key, _DRAW, number)).shuffle(pool)
    return tuple(map(tuple, pools))


def _key(spec: TournamentSpec) -> int:
    if spec.seed is None:
        raise ValueError(
            f"The tournament {spec.name} has no seed, so its schedule is not determined: give it one first."
        )
    return schedule_key(spec.seed)


def _make(spec: TournamentSpec, rules: ScheduleRules, names: Sequence[object], key: int) -> Schedule:
    """The schedule of these rules for so many; the names are needed for challengers alone."""
    rotated = spec.duplicate is Duplicate.ROTATION
    entrants = len(names)
    sets = count_sets(rules, entrants, rotated)
    selection: Selection
    unit = 1
    match rules.kind:
        case ScheduleKind.FULL:
            selection = FullSelection(entrants, rules.repeats, key, rotated)
        case ScheduleKind.BALANCED:
            selection = BalancedSelection(entrants, sets, key, rotated)
        case ScheduleKind.ROUNDS:
            selection = rounds = RoundsSelection(entrants, sets // (entrants // SEATS), key, rotated)
            unit = rounds.tables
        case ScheduleKind.GAUNTLET:
            challengers = [names.index(name) for name in rules.challengers]
            selection = GauntletSelection(entrants, challengers, sets, key, rotated)
        case ScheduleKind.POOL:
            raise ValueError("Pools are made of schedules, and are none.")
    if spec.duplicate is Duplicate.FIELD:
        return Schedule(selection, rotated, spec.deals, field=unit)
    return Schedule(selection, rotated, spec.deals, unit=unit, controls=int(spec.duplicate is Duplicate.PAR))
