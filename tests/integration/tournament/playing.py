"""A whole tournament in one process, without Ray or a network: specification, schedule, director, tables, ledger.

The match service is the only part that stands in for a real one: it plays each order at a real table at once.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace

from bots_sdk.house import make_house_bot
from services.common.clock import SystemClock
from services.common.matches import MatchOrder, MatchOutcome
from services.ledger.ledger import Ledger
from services.ledger.tournament_ledger import TournamentLedger
from services.ledger.values import TournamentState
from services.match.table import Table
from services.tournament.director import Director, Limits, MatchServicePort
from services.tournament.director.scheduled import ScheduledFixtures
from services.tournament.schedule import Timetable, tournament_secret
from services.tournament.servicer import Desk, DirectorPort
from services.tournament.servicer.plans import timetable_of
from services.tournament.servicer.promotion import Promotion
from services.tournament.servicer.stopping import Stopping
from services.tournament.spec import TournamentSpec, format_spec, parse_spec
from tests.unit.match.fakes import FakeHost


def play(order: MatchOrder) -> MatchOutcome:
    """The match, played by house bots to its end."""
    host = FakeHost()
    table = Table(1, order, host, make_house_bot)
    table.open({}, host.now)
    host.run_house()
    (outcome,) = host.outcomes
    return outcome


Player = Callable[[MatchOrder], MatchOutcome]
"""What makes of an order its outcome."""


class TablesAtHand:
    """A match service that has played a match as soon as it is told of it."""

    name = "at-hand"

    def __init__(self, player: Player = play) -> None:
        self._play = player
        self._outcomes: list[tuple[int, MatchOutcome]] = []
        self._number = itertools.count(1)
        self._news = asyncio.Event()

    async def withdraw(self, tournament: str) -> None:
        self._outcomes.clear()

    async def submit(self, orders: Sequence[MatchOrder]) -> None:
        self._outcomes += [(next(self._number), self._play(order)) for order in orders]
        self._news.set()

    async def collect(
        self, tournament: str, confirmed: int, wait: float, enough: int
    ) -> list[tuple[int, MatchOutcome]]:
        self._outcomes = [(number, outcome) for number, outcome in self._outcomes if number > confirmed]
        if not self._outcomes:
            self._news.clear()
            await self._news.wait()
        return list(self._outcomes)

    async def missing(self, bot_ids: Sequence[str], wait: float) -> list[str]:
        return []


class Stored:
    """A tournament in a ledger, created as the desk does it, with what its director needs."""

    def __init__(self, ledger: Ledger, spec_yaml: str, player: Player = play) -> None:
        """`player` plays the matches, usually at real tables."""
        self.ledger = ledger
        self.player = player
        self.spec: TournamentSpec = parse_spec(spec_yaml)
        assert self.spec.seed is not None
        written = format_spec(replace(self.spec, seed=None))
        ledger.create_tournament(self.spec.name, written, self.spec.seed.encode())
        self._attempts = itertools.count()
        self.look()

    def look(self) -> None:
        """As a director does that begins now: all of it follows from the ledger."""
        assert self.spec.seed is not None
        self.schedule: Timetable = timetable_of(self.ledger.tournament(self.spec.name))
        self.fixtures = ScheduledFixtures(self.spec, self.schedule, tournament_secret(self.spec.seed), {})

    def director(self, service: MatchServicePort | None = None) -> Director:
        """A new one."""
        self.look()
        stages = Promotion(self.ledger, self.spec, self.schedule, self.fixtures)
        stopping = None if self.spec.stop is None else Stopping(self.ledger, self.spec, self.schedule)
        return Director(
            self.spec.name,
            self.fixtures,
            [service or TablesAtHand(self.player)],
            TournamentLedger(self.ledger, self.spec.name),
            limits=Limits(),
            clock=SystemClock(),
            new_attempt=self._new_attempt,
            stopping=stopping,
            stages=stages if self.spec.schedule.stages is not None else None,
        )

    async def play_all(self) -> TournamentState:
        """Everything that is not done, by a real director."""
        async with asyncio.timeout(120):
            return await self.director().run()

    def play_one(self, number: int) -> MatchOutcome:
        """One match, and its outcome written to the ledger."""
        outcome = self.player(self.fixtures.order(number, self._new_attempt()))
        self.ledger.record([outcome])
        return outcome

    def _new_attempt(self) -> str:
        return f"{self.spec.name}-{next(self._attempts)}"


def desk_of(ledger: Ledger) -> Desk:
    """A desk that only looks things up."""

    def launch(name: str) -> DirectorPort:
        raise AssertionError(f"nobody starts {name} here")

    return Desk(ledger, launch, lambda: "seed")
