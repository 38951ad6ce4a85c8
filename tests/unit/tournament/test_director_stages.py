"""A director of a tournament in stages: the last one is entered when all before it is played, and by whom it says."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence

from services.common.clock import ManualClock
from services.common.matches import Entrant
from services.ledger.values import TournamentState
from services.tournament.director import Director, Limits

from .director_fakes import NAME, FakeFixtures, FakeLedger, FakeService, eventually, outcome_of

LIMITS = Limits(retry_first=0.001, retry_most=0.002, poll=5.0, gather=0.01, drain=5.0, in_flight=6)
POOLS, ALL, FINALISTS = 30, 50, 6


class StagedFixtures(FakeFixtures):
    """Ten bots in the first matches, six of them in those behind."""

    def seats(self, number: int) -> Sequence[Entrant]:
        among = 10 if number < POOLS else FINALISTS
        return [Entrant(f"id-{one}", f"bot-{one}") for one in ((number + seat) % among for seat in range(5))]


class Stages:
    """Ten bots play 30 matches, then the first six of them 20 more."""

    def __init__(self, fixtures: FakeFixtures, ledger: FakeLedger, *, is_open: bool = True) -> None:
        self.is_open = is_open
        self.decided: list[int] = []
        self._fixtures = fixtures
        self._ledger = ledger
        if not is_open:
            self.enter()

    def decide(self) -> None:
        self._ledger.set_state(TournamentState.RUNNING, "decided")  # what cannot be written is refused
        self.decided.append(len(self._ledger.results))

    def enter(self) -> None:
        self.is_open = False
        self._fixtures.matches = ALL
        self._fixtures.bots = self._fixtures.bots[:FINALISTS]


def direct(service: FakeService, ledger: FakeLedger, *, is_open: bool = True) -> tuple[Director, Stages]:
    ids = (f"attempt-{index}" for index in itertools.count())
    fixtures = StagedFixtures(POOLS, bots=10)
    stages = Stages(fixtures, ledger, is_open=is_open)
    director = Director(
        NAME,
        fixtures,
        [service],
        ledger,
        limits=LIMITS,
        clock=ManualClock(),
        new_attempt=lambda: next(ids),
        stages=stages,
    )
    return director, stages


async def run(director: Director) -> TournamentState:
    async with asyncio.timeout(20):
        return await director.run()


async def test_the_last_stage_begins_when_everything_before_it_is_on_the_disk() -> None:
    service, ledger = FakeService(), FakeLedger()
    director, stages = direct(service, ledger)
    assert await run(director) is TournamentState.FINISHED
    assert stages.decided == [POOLS]
    assert sorted(ledger.results) == list(range(ALL))
    order = [order.number >= POOLS for order in service.seen]
    assert order == sorted(order)


async def test_matches_of_excluded_bots_are_not_waited_for() -> None:
    service, ledger = FakeService(), FakeLedger()
    ledger.exclude("bot-9")
    director, stages = direct(service, ledger)
    assert await run(director) is TournamentState.FINISHED
    assert stages.decided == [POOLS // 2]
    assert len(ledger.results) == POOLS // 2 + ALL - POOLS


async def test_whoever_has_not_gone_on_may_leave() -> None:
    """Given a director that begins in the last stage, when only those who play it are there, then it is played."""
    service, ledger = FakeService(away={f"id-{index}" for index in range(FINALISTS, 10)}), FakeLedger(range(POOLS))
    director, stages = direct(service, ledger, is_open=False)
    assert await run(director) is TournamentState.FINISHED
    assert (stages.decided, sorted(ledger.results)) == ([], list(range(ALL)))
    assert (await director.status()).missing == ()


async def test_nothing_is_decided_while_a_pause_is_wanted() -> None:
    service, ledger = FakeService(), FakeLedger(range(POOLS))
    director, stages = direct(service, ledger)
    director.pause("let me look")
    assert await run(director) is TournamentState.PAUSED
    assert (stages.decided, stages.is_open) == ([], True)


async def test_a_ledger_that_cannot_be_written_is_waited_for() -> None:
    service, ledger = FakeService(), FakeLedger(range(POOLS))
    ledger.full = True
    director, stages = direct(service, ledger)
    running = asyncio.create_task(run(director))
    await eventually(lambda: ledger.refused > 3)
    assert (stages.decided, service.seen) == ([], [])
    ledger.full = False
    assert await running is TournamentState.FINISHED
    assert sorted(ledger.results) == list(range(ALL))


async def test_a_match_that_is_played_again_is_waited_for() -> None:
    """Given a match that an operator has played again, when all others have results, then nothing is decided yet."""
    held = {POOLS - 1}
    service = FakeService(decide=lambda order: None if order.number in held else outcome_of(order))
    ledger = FakeLedger()
    director, stages = direct(service, ledger)
    running = asyncio.create_task(run(director))
    await eventually(lambda: len(ledger.results) == POOLS - 1)
    assert await director.requeue(3, "the wrong build")
    held.clear()
    await eventually(lambda: 3 in ledger.results)
    assert stages.decided == []
    (order,) = service.orders.values()
    service.finish(order, outcome_of(order))
    assert await running is TournamentState.FINISHED
    assert stages.decided == [POOLS]
