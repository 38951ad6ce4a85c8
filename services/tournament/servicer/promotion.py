"""Who goes on from the pools of a stored tournament to its final: decided on what the ledger has, and written there."""

from __future__ import annotations

from collections.abc import Sequence

from services.common.qualifiers import Qualifier
from services.ledger.ledger import Ledger
from services.ledger.values import Exclusion
from services.tournament.director.scheduled import ScheduledFixtures
from services.tournament.schedule import PoolSchedule, Timetable, lot, tournament_secret
from services.tournament.servicer.counting import Counting
from services.tournament.servicer.plans import drawn
from services.tournament.servicer.scopes import scopes_of
from services.tournament.spec import TournamentSpec
from services.tournament.standings import PoolMember, qualify

POOLS = 1
"""The stage that is over when it is decided."""


class Promotion:
    """The one decision between pools and final, as a `StagesPort`.

    It depends on nothing but results that do not change any more, exclusions and the seed, and the ledger takes only
    the first word; so whoever comes after a crash at any moment finds it there, or makes the same one.
    """

    def __init__(self, ledger: Ledger, spec: TournamentSpec, timetable: Timetable, fixtures: ScheduledFixtures) -> None:
        self._ledger = ledger
        self._spec = spec
        self._timetable = timetable
        self._fixtures = fixtures
        self._qualified: tuple[Qualifier, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether a final has no line-up yet."""
        return self._timetable.known < len(self._timetable)

    def decide(self) -> None:
        """Have it in the ledger who goes on. Blocks."""
        while not self._qualified:  # again if somebody was excluded in between
            self._qualified = self._ledger.tournament(self._spec.name).qualified or self._settle()

    def enter(self) -> None:
        """From now on the matches of the final are among the fixtures."""
        self._timetable = drawn(self._timetable, self._spec, self._qualified)
        self._fixtures.enter(self._timetable)

    def _settle(self) -> tuple[Qualifier, ...]:
        assert isinstance(self._timetable, PoolSchedule)
        exclusions = self._ledger.rulings(self._spec.name).exclusions
        found = qualify_from(self._ledger, self._spec, self._timetable, exclusions)
        return self._ledger.qualify(self._spec.name, found, exclusions)


def qualify_from(
    ledger: Ledger, spec: TournamentSpec, timetable: PoolSchedule, exclusions: Sequence[Exclusion]
) -> tuple[Qualifier, ...]:
    """Who goes on by what the ledger has: all results of the pools that count, also those that are not shown yet."""
    assert spec.seed is not None
    stages = spec.schedule.stages
    assert stages is not None
    counting = Counting(spec, timetable, exclusions, ledger.done_numbers(spec.name) if exclusions else ())
    tables = [(scope, scope.table()) for scope in scopes_of(spec, timetable, POOLS)]
    for result in ledger.results(spec.name):
        if result.number >= timetable.before_final:
            break
        if counting.counts(timetable.match(result.number)):
            scope, table = tables[timetable.locate(result.number)[1]]
            table.add(scope.played(result))
    excluded, secret = {exclusion.name for exclusion in exclusions}, tournament_secret(spec.seed)
    members = []
    for scope, table in tables:
        faults = {line.name: line.faults for line in table.standings()}
        for name, mean in zip(scope.names, table.means(), strict=True):
            members.append(PoolMember(name, scope.pool, mean, faults[name], lot(secret, name), name in excluded))
    return qualify(members, stages.advance, stages.places(len(spec.entrants)))
