"""A director whose tournament may end early: nothing new is handed out, what runs is finished and kept."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable

from services.common.clock import ManualClock
from services.ledger.values import TournamentState
from services.tournament.director import Director, DirectorStatus, Limits

from .director_fakes import NAME, FakeFixtures, FakeLedger, FakeService, outcome_of

LIMITS = Limits(retry_first=0.001, retry_most=0.002, poll=5.0, gather=5.0, drain=5.0, in_flight=6)
MATCHES = 100
ENOUGH = "Ended early: bot-1 is ahead."


class Rule:
    """Looks when the first 10 and the first 20 matches are done; the look `enough` says that it is enough."""

    def __init__(self, enough: int, recorded: str = "") -> None:
        self.enough = enough
        self.recorded = recorded
        self.looks = 0

    def is_due(self, is_done: Callable[[int], bool]) -> bool:
        return self.looks < min(2, self.enough) and all(is_done(number) for number in range(10 * (self.looks + 1)))

    def take_look(self) -> str:
        self.looks += 1
        return ENOUGH if self.looks == self.enough else ""


def direct(service: FakeService, ledger: FakeLedger, rule: Rule) -> Director:
    ids = (f"attempt-{index}" for index in itertools.count())
    return Director(
        NAME,
        FakeFixtures(MATCHES, bots=60),
        [service],
        ledger,
        limits=LIMITS,
        clock=ManualClock(),
        new_attempt=lambda: next(ids),
        stopping=rule,
    )


async def test_it_ends_with_the_reason_and_keeps_what_ran() -> None:
    service, ledger = FakeService(), FakeLedger()
    assert await direct(service, ledger, Rule(enough=2)).run() is TournamentState.FINISHED
    assert ledger.states[-1] == (TournamentState.FINISHED, ENOUGH)
    assert set(range(20)) <= set(ledger.results)
    assert len(ledger.results) < MATCHES
    # Whatever was handed out has its result.
    assert sorted(ledger.results) == sorted(order.number for order in service.seen)


async def test_a_rule_that_never_has_enough_lets_all_be_played() -> None:
    service, ledger = FakeService(), FakeLedger()
    rule = Rule(enough=3)
    assert await direct(service, ledger, rule).run() is TournamentState.FINISHED
    assert (len(ledger.results), rule.looks) == (MATCHES, 2)
    assert ledger.states[-1] == (TournamentState.FINISHED, "")


async def test_after_a_crash_nothing_more_is_played() -> None:
    """Given a director that died after the decision and before the end, when another comes, then it only ends."""
    service, ledger = FakeService(), FakeLedger(done=range(13))
    assert await direct(service, ledger, Rule(enough=1)).run() is TournamentState.FINISHED
    assert service.seen == []
    assert ledger.states[-1] == (TournamentState.FINISHED, ENOUGH)


async def test_what_was_decided_stays_decided() -> None:
    """Given a decision in the ledger, when the rule would say something else by now, then it is still over."""
    service, ledger = FakeService(), FakeLedger(done=range(13))
    assert await direct(service, ledger, Rule(enough=3, recorded=ENOUGH)).run() is TournamentState.FINISHED
    assert service.seen == []
    assert ledger.states[-1] == (TournamentState.FINISHED, ENOUGH)


async def test_what_runs_is_waited_for() -> None:
    """Given a match that takes long, when it is enough, then the tournament is not over before that match is."""
    held = [number for number in range(MATCHES) if number == 12]
    service = FakeService(decide=lambda order: None if order.number in held else outcome_of(order))
    ledger = FakeLedger()
    director = direct(service, ledger, Rule(enough=1))
    run = asyncio.create_task(director.run())

    def waits(status: DirectorStatus) -> bool:
        return status.message == ENOUGH and status.matches_running == 1

    status = await director.status()
    async with asyncio.timeout(60):
        while not waits(status):
            status = await director.status(status.version, 10)
    assert status.state is TournamentState.RUNNING
    assert not run.done()
    director.cancel()
    assert await run is TournamentState.CANCELLED
