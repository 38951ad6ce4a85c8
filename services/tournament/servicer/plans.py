"""What a tournament's schedule comes to, computed once and remembered."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, replace

from services.ledger.values import Tournament
from services.tournament.schedule import Schedule, ScheduleReport, make_schedule, report_schedule
from services.tournament.spec import TournamentSpec, parse_spec

REMEMBERED = 64


@dataclass(frozen=True, slots=True)
class Plan:
    """A specification with its seed, its schedule, and the counts over it."""

    spec: TournamentSpec
    schedule: Schedule
    report: ScheduleReport


def make_plan(spec: TournamentSpec) -> Plan:
    """The plan of a specification that has a seed; up to some seconds of computing."""
    schedule = make_schedule(spec)
    return Plan(spec, schedule, report_schedule(schedule))


def spec_of(tournament: Tournament) -> TournamentSpec:
    """The specification of a stored tournament, with its seed, which is kept apart from the text that all may read."""
    return replace(parse_spec(tournament.spec_yaml), seed=tournament.secret.decode())


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
        return plan
