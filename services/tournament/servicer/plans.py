"""What a tournament's schedule comes to, computed once and remembered."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from services.common.qualifiers import Qualifier
from services.ledger.values import Tournament
from services.tournament.schedule import (
    PoolSchedule,
    ScheduleReport,
    StageReport,
    Timetable,
    make_timetable,
    report_stages,
    report_timetable,
)
from services.tournament.spec import TournamentSpec, fewest, parse_spec, with_line_up

REMEMBERED = 64


@dataclass(frozen=True, slots=True)
class Plan:
    """A specification with its seed, its schedule, and the counts over it, with pools also over each stage."""

    spec: TournamentSpec
    schedule: Timetable
    report: ScheduleReport
    stages: tuple[StageReport, ...] = ()


def make_plan(spec: TournamentSpec) -> Plan:
    """The plan of a specification that has a seed; up to some seconds of computing."""
    schedule = make_timetable(spec)
    stages = report_stages(schedule)
    return Plan(spec, schedule, report_timetable(schedule, stages), stages)


def sketch(spec: TournamentSpec) -> Plan:
    """The plan of a specification that has a seed, where bots may enter with the fewest; computing as `make_plan`."""
    if spec.entries is not None:
        spec = with_line_up(spec, fewest(spec.entries, spec.bots, spec.schedule))
    return make_plan(spec)


def spec_of(tournament: Tournament) -> TournamentSpec:
    """The specification of a stored tournament, with its seed, which is kept apart from the text that all may read."""
    return replace(parse_spec(tournament.spec_yaml), seed=tournament.secret.decode())


def timetable_of(tournament: Tournament) -> Timetable:
    """All matches of a stored tournament, those of a final too if it is known who plays them."""
    spec = spec_of(tournament)
    return drawn(make_timetable(spec), spec, tournament.qualified)


def drawn(schedule: Timetable, spec: TournamentSpec, qualified: Sequence[Qualifier]) -> Timetable:
    """The same with the line-up of its final, if it has one that is decided."""
    if not qualified or not isinstance(schedule, PoolSchedule) or schedule.finalists is not None:
        return schedule
    return schedule.drawn([spec.entrants.index(one.name) for one in qualified])


class Plans:
    """Plans of stored tournaments by name. Thread-safe enough: at worst one is computed twice."""

    def __init__(self) -> None:
        self._plans: OrderedDict[str, Plan] = OrderedDict()

    def remember(self, plan: Plan) -> None:
        """Keep the plan of a new tournament."""
        self._plans[plan.spec.name] = plan
        while len(self._plans) > REMEMBERED:
            self._plans.popitem(last=False)

    def of(self, tournament: Tournament) -> Plan:
        """The plan of a tournament. Blocks while it is computed."""
        plan = self._plans.get(tournament.name)
        if plan is None:
            plan = make_plan(spec_of(tournament))
            self.remember(plan)
        schedule = drawn(plan.schedule, plan.spec, tournament.qualified)
        if schedule is not plan.schedule:
            plan = replace(plan, schedule=schedule)
            self.remember(plan)
        return plan
