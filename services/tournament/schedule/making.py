"""From a tournament's specification to its schedule."""

from __future__ import annotations

from services.tournament.schedule.balanced import BalancedSelection
from services.tournament.schedule.full import FullSelection
from services.tournament.schedule.gauntlet import GauntletSelection
from services.tournament.schedule.plan import SEATS, Schedule
from services.tournament.schedule.rounds import RoundsSelection
from services.tournament.schedule.sealed import schedule_key
from services.tournament.schedule.selection import Selection
from services.tournament.spec import Duplicate, ScheduleKind, TournamentSpec, count_sets


def make_schedule(spec: TournamentSpec) -> Schedule:
    """The schedule of a tournament, the same whenever it is made. `balanced` takes up to some seconds of computing.

    Raises:
        ValueError: the specification has no seed; whoever creates a tournament gives it one first.
    """
    if spec.seed is None:
        raise ValueError(
            f"The tournament {spec.name} has no seed, so its schedule is not determined: give it one first."
        )
    rotated = spec.duplicate is Duplicate.ROTATION
    entrants = len(spec.entrants)
    key = schedule_key(spec.seed)
    sets = count_sets(spec.schedule, entrants, rotated)
    selection: Selection
    unit = 1
    match spec.schedule.kind:
        case ScheduleKind.FULL:
            selection = FullSelection(entrants, spec.schedule.repeats, key, rotated)
        case ScheduleKind.BALANCED:
            selection = BalancedSelection(entrants, sets, key, rotated)
        case ScheduleKind.ROUNDS:
            selection = rounds = RoundsSelection(entrants, sets // (entrants // SEATS), key, rotated)
            unit = rounds.tables
        case ScheduleKind.GAUNTLET:
            challengers = [spec.entrants.index(name) for name in spec.schedule.challengers]
            selection = GauntletSelection(entrants, challengers, sets, key, rotated)
    if spec.duplicate is Duplicate.FIELD:
        return Schedule(selection, rotated, spec.deals, field=unit)
    return Schedule(selection, rotated, spec.deals, unit=unit, controls=int(spec.duplicate is Duplicate.PAR))
