"""What each stage of a tournament with pools comes to: every pool counted once for all of its size, and the final."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from services.tournament.schedule.plan import SEATS, Schedule
from services.tournament.schedule.pools import PoolSchedule, Timetable
from services.tournament.schedule.report import ScheduleReport, Spread, report_schedule


@dataclass(frozen=True, slots=True)
class StageReport:
    """One stage: the number of its first match, and what it comes to.

    Of the stage of pools `report` counts pairs in the same pool, and `per_entrant` are all entrants; of the final they
    are its places, whoever will have them.
    """

    first: int
    report: ScheduleReport


def report_timetable(timetable: Timetable, stages: Sequence[StageReport] = ()) -> ScheduleReport:
    """What all of it comes to. With pools, sums are over both stages, and what is about entrants is of the pools.

    `stages` are those of `report_stages` where they are there already.
    """
    if isinstance(timetable, Schedule):
        return report_schedule(timetable)
    pools, final = (stage.report for stage in stages or report_stages(timetable))
    return replace(
        pools,
        matches=pools.matches + final.matches,
        deals=pools.deals + final.deals,
        different=pools.different + final.different,
        controls=pools.controls + final.controls,
    )


def report_stages(timetable: Timetable) -> tuple[StageReport, ...]:
    """The stages, if there are some: first the pools, then the final."""
    if isinstance(timetable, Schedule):
        return ()
    final = report_schedule(timetable.final)
    return StageReport(0, _report_pools(timetable)), StageReport(timetable.before_final, final)


def _report_pools(timetable: PoolSchedule) -> ScheduleReport:
    by_schedule = {id(one): report_schedule(one) for one in timetable.schedules}
    reports = [by_schedule[id(one)] for one in timetable.schedules]
    sizes = [len(pool) for pool in timetable.pools]
    pairs = [size * (size - 1) for size in sizes]
    before = [report.before for report in reports if report.before is not None]
    played = [0] * timetable.entrants
    for report, pool in zip(reports, timetable.pools, strict=True):
        for entrant, matches in zip(pool, report.per_entrant, strict=True):
            played[entrant] = matches
    return ScheduleReport(
        matches=sum(report.matches for report in reports),
        deals=sum(report.deals for report in reports),
        meetings=_together([report.meetings for report in reports], pairs),
        in_seat=_together([report.in_seat for report in reports], [size * SEATS for size in sizes]),
        before=_together(before, pairs) if len(before) == len(reports) else None,
        per_entrant=tuple(played),
        different=sum(report.different for report in reports),
        controls=sum(report.controls for report in reports),
    )


def _together(spreads: Sequence[Spread], counts: Sequence[int]) -> Spread:
    """Of several groups of counts: the least, the mean and the greatest of all."""
    total = sum(spread.mean * count for spread, count in zip(spreads, counts, strict=True))
    return Spread(min(one.least for one in spreads), total / sum(counts), max(one.most for one in spreads))
