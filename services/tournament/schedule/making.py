"""From a tournament's specification to its schedule."""

from __future__ import annotations

from services.tournament.schedule.balanced import BalancedSelection
from services.tournament.schedule.full import FullSelection
from services.tournament.schedule.plan import Schedule
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
    selection: Selection
    if spec.schedule.kind is ScheduleKind.FULL:
        selection = FullSelection(entrants, spec.schedule.repeats, key, rotated)
    else:
        selection = BalancedSelection(entrants, count_sets(spec.schedule, entrants, rotated), key, rotated)
    return Schedule(selection, rotated, spec.deals)
