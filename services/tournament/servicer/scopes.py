"""What is in a table: the matches of a whole tournament, or of a pool, or of a final."""

from __future__ import annotations

from dataclasses import dataclass

from services.common.errors import PlatformError, Reason
from services.ledger.values import Result
from services.tournament.schedule import PoolSchedule, Section, Timetable
from services.tournament.spec import Duplicate, FinalCounts, TournamentSpec
from services.tournament.standings import Datum, DatumKind, PlayedMatch, StandingsFold, StandingsTable, bean_unit

Place = tuple[int, int] | None
"""Stage and section of it, both from 0 on; None: all of a tournament."""


@dataclass(frozen=True, slots=True)
class Scope:
    """One table. What goes into it has the numbers, groups and entrants of `schedule`, which `members` translate.

    `shown` are the names in the table: with the results of pools in that of a final more have played than stand there.
    """

    spec: TournamentSpec
    timetable: Timetable
    place: Place
    schedule: Timetable
    members: tuple[int, ...]
    pool: int
    shown: frozenset[str]

    @property
    def names(self) -> tuple[str, ...]:
        """Who plays, by the numbers of the schedule."""
        return tuple(self.spec.entrants[member] for member in self.members)

    @property
    def is_final(self) -> bool:
        """Whether it is that of a final."""
        return isinstance(self.timetable, PoolSchedule) and not self.pool

    def outer(self, inner: int) -> int:
        """The number in the tournament of a match in the table."""
        return inner if self.place is None else self.timetable.number(*self.place, inner)

    def played(self, result: Result) -> PlayedMatch:
        """A result of this table as standings take it in."""
        number = self.inner(result.number)
        match = self.schedule.match(number)
        return PlayedMatch(number, match.group, match.entrants, result.deals, result.faults)

    def inner(self, number: int) -> int:
        """The number in the table of a match that is in it."""
        return number if self.place is None else self.timetable.locate(number)[2]

    def fold(self) -> StandingsFold:
        """The table without a match."""
        options = self.spec.options
        return StandingsFold(
            self.names,
            beans=options.beans,
            titles=options.titles,
            faults=self.spec.faults,
            bean_unit=bean_unit(options),
            datum=datum_for(self.spec, self.schedule),
        )

    def table(self) -> StandingsTable:
        """The same without ratings, beans and titles."""
        return StandingsTable(
            self.names,
            faults=self.spec.faults,
            bean_unit=bean_unit(self.spec.options),
            datum=datum_for(self.spec, self.schedule),
        )


def whole(spec: TournamentSpec, timetable: Timetable) -> Scope:
    """All matches in one table."""
    everybody = tuple(range(len(spec.entrants)))
    return Scope(spec, timetable, None, timetable, everybody, 0, frozenset(spec.entrants))


def scopes_of(spec: TournamentSpec, timetable: Timetable, stage: int) -> tuple[Scope, ...]:
    """The tables of a stage, counted from 1; with pools one for each."""
    if not isinstance(timetable, PoolSchedule):
        return (whole(spec, timetable),)
    scopes = tuple(
        _scope(spec, timetable, (stage - 1, index), section)
        for index, section in enumerate(timetable.stages[stage - 1])
    )
    stages = spec.schedule.stages
    assert stages is not None
    if stage == len(timetable.stages) and stages.counts is FinalCounts.ALL:
        everybody = whole(spec, timetable)
        return tuple(Scope(spec, timetable, None, timetable, everybody.members, 0, scope.shown) for scope in scopes)
    return scopes


def _scope(spec: TournamentSpec, timetable: PoolSchedule, place: tuple[int, int], section: Section) -> Scope:
    members = section.members
    assert members is not None, "a stage whose line-up is not known has no table"
    shown = frozenset(spec.entrants[member] for member in members)
    return Scope(spec, timetable, place, section.schedule, members, section.pool, shown)


def last_section(spec: TournamentSpec, timetable: Timetable) -> Scope:
    """The table of a final with nothing but its own matches, or that of all of a tournament."""
    if not isinstance(timetable, PoolSchedule):
        return whole(spec, timetable)
    stage = len(timetable.stages) - 1
    return _scope(spec, timetable, (stage, 0), timetable.stages[stage][0])


def latest_stage(timetable: Timetable) -> int:
    """The last stage, from 1 on, whose line-ups are known."""
    return sum(all(section.members is not None for section in stage) for stage in timetable.stages)


def verify_stage(name: str, timetable: Timetable, stage: int) -> int:
    """The stage that is meant; 0 is the latest.

    Raises PlatformError MALFORMED for one that is not there, STATE_CONFLICT for one whose line-up is not decided.
    """
    stages, latest = len(timetable.stages), latest_stage(timetable)
    if not stage:
        return latest
    if not 1 <= stage <= stages:
        there = "one stage" if stages == 1 else f"the stages 1 (pools) to {stages} (final)"
        raise PlatformError(Reason.MALFORMED, f"stage: {name!r} has {there}, and no stage {stage}.", field="stage")
    if stage > latest:
        raise PlatformError(
            Reason.STATE_CONFLICT,
            f"The final of {name!r} has no table yet: who plays it is decided when the pools are over.",
            tournament=name,
        )
    return stage


def datum_for(spec: TournamentSpec, schedule: Timetable) -> Datum | None:
    """What the deals of a schedule are compared with, if with anything."""
    if spec.duplicate is Duplicate.FIELD:
        return Datum(DatumKind.FIELD, schedule.field - 1)
    if spec.duplicate is Duplicate.PAR:
        return Datum(DatumKind.CONTROL, schedule.controls)
    return None
