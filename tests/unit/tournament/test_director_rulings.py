"""The director and what operators decide meanwhile: exclusions, matches put back, more or fewer at once."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from services.common.errors import PlatformError
from services.common.matches import Ending, MatchOrder, MatchOutcome
from services.ledger.values import TournamentState
from services.tournament.director import Limits
from services.tournament.director.backlog import LOOKAHEAD, STRIDE, Backlog, Turn

from .director_fakes import FakeFixtures, FakeLedger, FakeService, eventually, outcome_of
from .test_director import QUICK, direct, until


def with_bot(fixtures: FakeFixtures, name: str) -> set[int]:
    return {number for number in range(fixtures.matches) if any(seat.name == name for seat in fixtures.seats(number))}


async def test_matches_of_an_excluded_bot_are_left_out_and_the_tournament_is_finished() -> None:
    fixtures, service, ledger = FakeFixtures(120, bots=12), FakeService(), FakeLedger()
    ledger.exclude("bot-3")
    assert await direct([service], ledger, fixtures).run() is TournamentState.FINISHED
    assert set(ledger.results) == set(range(120)) - with_bot(fixtures, "bot-3")


async def test_nobody_waits_for_a_bot_that_is_excluded_before_it_came() -> None:
    fixtures, ledger = FakeFixtures(60, bots=12), FakeLedger()
    service = FakeService(away={fixtures.bots[0].bot_id})
    director = direct([service], ledger, fixtures)
    run = asyncio.create_task(director.run())
    await until(director, lambda status: status.missing == ("bot-0",))
    ledger.exclude("bot-0")
    assert await director.heed()
    assert await asyncio.wait_for(run, 60) is TournamentState.FINISHED
    assert set(ledger.results) == set(range(60)) - with_bot(fixtures, "bot-0")


async def test_what_runs_when_a_bot_is_excluded_is_finished_and_kept() -> None:
    fixtures, ledger = FakeFixtures(60, bots=12), FakeLedger()
    held: list[MatchOrder] = []

    def decide(order: MatchOrder) -> MatchOutcome | None:
        if any(seat.name == "bot-0" for seat in order.seats):
            held.append(order)
            return None
        return outcome_of(order)

    service = FakeService(decide=decide)
    director = direct([service], ledger, fixtures, Limits(per_service=8, per_bot=2))
    run = asyncio.create_task(director.run())
    await until(director, lambda status: len(held) == 2 and status.matches_running == 2)
    ledger.exclude("bot-0")
    await director.heed()
    for order in list(held):
        service.finish(order, outcome_of(order))
    assert await asyncio.wait_for(run, 60) is TournamentState.FINISHED
    kept = {order.number for order in held}
    assert len(kept) == 2
    assert set(ledger.results) == set(range(60)) - with_bot(fixtures, "bot-0") | kept
    assert (await director.status()).matches_left_out == len(with_bot(fixtures, "bot-0")) - 2


async def test_a_director_at_its_end_heeds_nothing() -> None:
    director = direct([FakeService()], FakeLedger(), FakeFixtures(3))
    await director.run()
    assert not await director.heed()
    assert not await director.requeue(0)


async def test_a_match_put_back_while_it_runs_does_not_count_and_is_played_again() -> None:
    ledger = FakeLedger()
    service = FakeService(decide=lambda order: None)
    director = direct([service], ledger, FakeFixtures(1))
    run = asyncio.create_task(director.run())
    await until(director, lambda status: status.matches_running == 1)
    await eventually(lambda: bool(service.seen))
    assert await director.requeue(0)
    (first,) = service.seen
    service.decide = outcome_of
    service.finish(first, outcome_of(first))
    assert await asyncio.wait_for(run, 60) is TournamentState.FINISHED
    assert [(one.attempt, one.ending) for one in ledger.attempts] == [
        (first.attempt, Ending.VOID),
        (service.seen[1].attempt, Ending.COMPLETED),
    ]


async def test_a_result_that_is_taken_back_is_played_again() -> None:
    ledger = FakeLedger(done=[0, 1])
    service = FakeService(decide=lambda order: None if order.number == 2 else outcome_of(order))
    director = direct([service], ledger, FakeFixtures(3))
    run = asyncio.create_task(director.run())
    await until(director, lambda status: status.matches_running == 1)
    assert await director.requeue(1)
    await eventually(lambda: sorted(ledger.results) == [0, 1] and len(service.seen) == 2)
    assert ledger.retracted == ["before"]
    assert [order.number for order in service.seen] == [2, 1]
    (last,) = service.orders.values()
    service.finish(last, outcome_of(last))
    assert await asyncio.wait_for(run, 60) is TournamentState.FINISHED
    assert sorted(ledger.results) == [0, 1, 2]


async def test_a_result_whose_deals_are_known_stays() -> None:
    fixtures, ledger = FakeFixtures(2), FakeLedger(done=[0])
    fixtures.sharing = lambda number: (number,)  # type: ignore[method-assign]
    service = FakeService(decide=lambda order: None)
    director = direct([service], ledger, fixtures)
    run = asyncio.create_task(director.run())
    await until(director, lambda status: status.matches_running == 1)
    with pytest.raises(PlatformError, match="known"):
        await director.requeue(0)
    assert sorted(ledger.results) == [0]
    director.cancel()
    await run


async def test_in_flight_is_raised_and_lowered_while_it_runs() -> None:
    ledger = FakeLedger()
    service = FakeService(decide=lambda order: None)
    director = direct([service], ledger, FakeFixtures(100, bots=50), replace(QUICK, in_flight=3))
    run = asyncio.create_task(director.run())
    await until(director, lambda status: status.matches_running == 3)
    ledger.decided = replace(ledger.decided, in_flight=7)
    await director.heed()
    await until(director, lambda status: status.matches_running == 7)
    ledger.decided = replace(ledger.decided, in_flight=2)
    await director.heed()
    service.decide = outcome_of
    for order in list(service.orders.values())[:5]:
        service.finish(order, outcome_of(order))
    status = await until(director, lambda status: status.matches_done == 5)
    assert status.matches_running == 2
    director.cancel()
    await run


def test_a_long_stretch_of_matches_left_out_is_walked_in_strides() -> None:
    backlog = Backlog(STRIDE + LOOKAHEAD, done=[])
    assert backlog.take(lambda number: Turn.LEFT_OUT) is None
    assert (backlog.left_out, backlog.is_interrupted) == (STRIDE, True)
    assert backlog.take(lambda number: Turn.LEFT_OUT) is None
    assert not backlog.is_interrupted
    assert backlog.is_complete


async def test_who_wants_a_match_again_that_cannot_be_written_is_not_kept_waiting_beyond_the_end() -> None:
    ledger = FakeLedger()
    service = FakeService(decide=lambda order: None)
    director = direct([service], ledger, FakeFixtures(1))
    run = asyncio.create_task(director.run())
    await eventually(lambda: len(service.seen) == 1)
    ledger.full = True
    service.finish(service.seen[0], outcome_of(service.seen[0]))
    await eventually(lambda: ledger.refused > 0)
    asked = asyncio.create_task(director.requeue(0))
    await asyncio.sleep(0)
    director.cancel()
    assert await asyncio.wait_for(asked, 60) is False
    ledger.full = False
    assert await asyncio.wait_for(run, 60) is TournamentState.CANCELLED
