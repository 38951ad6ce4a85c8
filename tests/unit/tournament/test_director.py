"""The director against match services that lose, double, delay and die: every match ends up with exactly one result."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable

import pytest

from services.common.clock import ManualClock
from services.common.errors import PlatformError, Reason
from services.common.matches import Ending, MatchOrder, MatchOutcome
from services.ledger.values import TournamentState
from services.tournament.director import FINAL, Director, DirectorStatus, Limits
from services.tournament.director.lane import IDLE_PART

from .director_fakes import NAME, FakeFixtures, FakeLedger, FakeService, eventually, outcome_of

QUICK = Limits(retry_first=0.001, retry_most=0.002, poll=5.0, gather=5.0, drain=5.0)


def direct(services: list[FakeService], ledger: FakeLedger, fixtures: FakeFixtures, limits: Limits = QUICK) -> Director:
    ids = (f"attempt-{index}" for index in itertools.count())
    return Director(NAME, fixtures, services, ledger, limits=limits, clock=ManualClock(), new_attempt=lambda: next(ids))


async def until(director: Director, condition: Callable[[DirectorStatus], bool]) -> DirectorStatus:
    """The first status for which the condition holds."""
    status = await director.status()
    async with asyncio.timeout(60):
        while not condition(status):
            status = await director.status(status.version, 10)
    return status


async def test_plays_every_match_once() -> None:
    service, ledger = FakeService(), FakeLedger()
    assert await direct([service], ledger, FakeFixtures(200)).run() is TournamentState.FINISHED
    assert sorted(ledger.results) == list(range(200))
    assert len(service.seen) == 200
    assert [state for state, _ in ledger.states] == ["running", "finished"]


async def test_plays_only_what_has_no_result() -> None:
    service, ledger = FakeService(), FakeLedger(done=[0, 2, 3, 9])
    await direct([service], ledger, FakeFixtures(10)).run()
    assert sorted(order.number for order in service.seen) == [1, 4, 5, 6, 7, 8]


async def test_nothing_to_do_is_finished_at_once() -> None:
    service, ledger = FakeService(), FakeLedger(done=range(5))
    assert await direct([service], ledger, FakeFixtures(5)).run() is TournamentState.FINISHED
    assert service.seen == []


async def test_hands_out_in_batches_within_the_bounds() -> None:
    fixtures = FakeFixtures(300, bots=30)
    service = FakeService()
    await direct([service], FakeLedger(), fixtures, Limits(per_service=20, per_bot=100)).run()
    assert service.most <= 20
    assert service.batches[0] == 20
    assert len(service.batches) < 150


async def test_waits_for_outcomes_to_come_together_only_as_long_as_enough_is_still_played() -> None:
    fixtures = FakeFixtures(300, bots=30)
    service = FakeService()
    await direct([service], FakeLedger(), fixtures, Limits(per_service=64, per_bot=100)).run()
    assert max(service.enough) == 64 // IDLE_PART
    assert service.enough[-1] == 1, "for the last ones nobody waits"


async def test_a_match_alone_is_told_at_once() -> None:
    service = FakeService()
    await direct([service], FakeLedger(), FakeFixtures(3), Limits(in_flight=1)).run()
    assert set(service.enough) == {1}


async def test_in_flight_bounds_all_services_together() -> None:
    services = [FakeService(name=f"m{index}", decide=lambda order: None) for index in range(3)]
    director = direct(services, FakeLedger(), FakeFixtures(100, bots=50), Limits(in_flight=7))
    run = asyncio.create_task(director.run())
    status = await until(director, lambda status: status.matches_running >= 7)
    assert status.matches_running == 7
    director.cancel()
    await run


async def test_a_slow_bot_does_not_hold_up_the_others() -> None:
    """Matches with bot 0 are never finished; with a bound for each bot all others are played nevertheless."""
    fixtures = FakeFixtures(120, bots=12)
    slow = fixtures.bots[0].bot_id

    def decide(order: MatchOrder) -> MatchOutcome | None:
        return None if any(seat.bot_id == slow for seat in order.seats) else outcome_of(order)

    service = FakeService(decide=decide)
    director = direct([service], FakeLedger(), fixtures, Limits(per_service=8, per_bot=3))
    run = asyncio.create_task(director.run())
    others = sum(all(seat.bot_id != slow for seat in fixtures.seats(number)) for number in range(120))
    status = await until(director, lambda status: status.matches_done >= others)
    assert (status.matches_done, status.matches_running) == (others, 3)
    director.cancel()
    await run


async def test_work_is_spread_and_bots_stay_together() -> None:
    """Two groups of bots that never meet end up each on a match service of its own."""
    fixtures = FakeFixtures(80, bots=10)
    groups = [fixtures.bots[:5], fixtures.bots[5:]]
    fixtures.seats = lambda number: groups[number % 2]  # type: ignore[method-assign]
    services = [FakeService(name="m1"), FakeService(name="m2")]
    await direct(services, FakeLedger(), fixtures, Limits(per_service=16, per_bot=100)).run()
    shares = [sum(order.number % 2 for order in service.seen) / len(service.seen) for service in services]
    assert all(len(service.seen) > 20 for service in services)
    assert min(shares) < 0.2
    assert max(shares) > 0.8


async def test_doubled_and_foreign_outcomes_change_nothing() -> None:
    service, ledger = FakeService(repeat=True), FakeLedger()
    await direct([service], ledger, FakeFixtures(50)).run()
    assert sorted(ledger.results) == list(range(50))
    assert len(ledger.attempts) == 50


async def test_confirms_only_what_is_in_the_ledger() -> None:
    service, ledger = FakeService(), FakeLedger()
    ledger.full = True
    director = direct([service], ledger, FakeFixtures(1))
    run = asyncio.create_task(director.run())
    await until(director, lambda status: "disk is full" in status.message)
    assert service.confirmed == 0
    ledger.full = False
    assert await run is TournamentState.FINISHED


@pytest.mark.parametrize("ending", [Ending.VOID, Ending.NO_SHOW])
async def test_what_does_not_count_is_played_again_as_another_attempt(ending: Ending) -> None:
    refused: set[int] = set()

    def decide(order: MatchOrder) -> MatchOutcome:
        if order.number in refused or order.number % 3:
            return outcome_of(order)
        refused.add(order.number)
        return outcome_of(order, ending, blamed=(order.number % 5,) if ending is Ending.NO_SHOW else ())

    service, ledger = FakeService(decide=decide), FakeLedger()
    fixtures = FakeFixtures(30, bots=40)
    assert await direct([service], ledger, fixtures).run() is TournamentState.FINISHED
    assert sorted(ledger.results) == list(range(30))
    assert len(ledger.attempts) == 40
    assert len({order.attempt for order in service.seen}) == 40
    first, second = (order for order in service.seen if order.number == 0)
    assert (first.secret, first.seats) == (second.secret, second.seats)


async def test_a_match_that_is_always_void_pauses_the_tournament() -> None:
    service = FakeService(decide=lambda order: outcome_of(order, Ending.VOID))
    ledger = FakeLedger()
    director = direct([service], ledger, FakeFixtures(1), Limits(void_limit=3))
    assert await director.run() is TournamentState.PAUSED
    assert len(ledger.attempts) == 4
    assert ledger.states[-1][1].startswith("Match 0 was void 4 times (")


async def test_killed_services_lose_nothing_and_double_nothing() -> None:
    """Each of two match services dies again and again, with what it has; sometimes it stays away for a while."""
    deaths = itertools.count(1)
    services: list[FakeService] = []

    def decide(order: MatchOrder) -> MatchOutcome | None:
        if order.number % 17 == 5 and (death := next(deaths)) <= 20:
            victim = services[death % 2]
            victim.kill(back=death % 3 > 0)
            asyncio.get_running_loop().call_later(0.005, victim.revive)
        return outcome_of(order)

    services += [FakeService(name="m1", decide=decide), FakeService(name="m2", decide=decide)]
    ledger = FakeLedger()
    limits = Limits(per_service=10, retry_first=0.001, retry_most=0.004)
    assert await direct(services, ledger, FakeFixtures(400, bots=20), limits).run() is TournamentState.FINISHED
    assert sorted(ledger.results) == list(range(400))
    assert next(deaths) > 20
    lost = [attempt for attempt in ledger.attempts if attempt.ending is Ending.VOID]
    assert lost
    assert {attempt.message for attempt in lost} <= {f"The match service {name} was lost." for name in ("m1", "m2")}


async def test_a_killed_director_is_followed_by_one_that_goes_on() -> None:
    fixtures, ledger = FakeFixtures(300, bots=20), FakeLedger()
    service = FakeService()
    for _ in range(5):
        director = direct([service], ledger, fixtures, Limits(per_service=10))
        run = asyncio.create_task(director.run())
        before = len(ledger.results)
        await until(director, lambda status, before=before: status.matches_done >= before + 30)  # type: ignore[misc]
        run.cancel()
        await asyncio.wait([run])
        await asyncio.sleep(0.01)  # a thread of the dead director may still be writing
    assert await direct([service], ledger, fixtures).run() is TournamentState.FINISHED
    assert sorted(ledger.results) == list(range(300))
    assert service.withdrawals >= 6


async def test_begins_where_all_bots_are_and_uses_the_rest_for_those_who_are_there() -> None:
    """A bot with few tables is on one match service only: the other plays the matches without it."""
    fixtures = FakeFixtures(60, bots=10)
    one, two = FakeService(name="m1"), FakeService(name="m2", away={"id-0"})
    await direct([one, two], FakeLedger(), fixtures, Limits(per_service=4, per_bot=100, gather=5.0)).run()
    assert len(one.seen) + len(two.seen) == 60
    assert two.seen
    assert all(seat.bot_id != "id-0" for order in two.seen for seat in order.seats)


async def test_waits_for_bots_and_names_them() -> None:
    service = FakeService(away={"id-1", "id-4"})
    director = direct([service], FakeLedger(), FakeFixtures(10))
    run = asyncio.create_task(director.run())
    status = await until(director, lambda status: bool(status.missing))
    assert (status.state, status.missing) == (TournamentState.RUNNING, ("bot-1", "bot-4"))
    service.arrive("id-1")
    await until(director, lambda status: status.missing == ("bot-4",))
    assert service.seen == []
    service.arrive("id-4")
    assert await run is TournamentState.FINISHED


async def test_pause_finishes_what_runs_and_resume_goes_on() -> None:
    held: list[MatchOrder] = []
    service = FakeService(decide=lambda order: held.append(order))
    ledger = FakeLedger()
    limits = Limits(per_service=5, drain=30)
    director = direct([service], ledger, FakeFixtures(20), limits)
    run = asyncio.create_task(director.run())
    await until(director, lambda status: status.matches_running == 5)
    await asyncio.sleep(0)
    director.pause()
    assert (await director.status()).state is TournamentState.DRAINING
    director.resume()
    await until(director, lambda status: status.state is TournamentState.RUNNING)
    director.pause("enough for today")
    await until(director, lambda status: status.state is TournamentState.DRAINING)
    while held:
        order = held.pop()
        service.finish(order, outcome_of(order))
    assert await run is TournamentState.PAUSED
    assert len(ledger.results) == 5
    assert ledger.states[-1] == (TournamentState.PAUSED, "enough for today")
    service.decide = outcome_of
    assert await direct([service], ledger, FakeFixtures(20)).run() is TournamentState.FINISHED
    assert sorted(ledger.results) == list(range(20))


async def test_pause_does_not_wait_for_ever() -> None:
    service = FakeService(decide=lambda order: None)
    director = direct([service], FakeLedger(), FakeFixtures(20), Limits(drain=0.01))
    run = asyncio.create_task(director.run())
    await until(director, lambda status: status.matches_running > 0)
    director.pause()
    assert await run is TournamentState.PAUSED
    assert service.orders == {}


async def test_cancel_ends_at_once() -> None:
    service, ledger = FakeService(decide=lambda order: None), FakeLedger()
    director = direct([service], ledger, FakeFixtures(20))
    run = asyncio.create_task(director.run())
    await until(director, lambda status: status.matches_running > 0)
    director.cancel()
    assert await run is TournamentState.CANCELLED
    assert ledger.states[-1][0] is TournamentState.CANCELLED
    assert service.orders == {}


async def test_a_stopping_platform_leaves_the_ledger_saying_that_it_goes_on() -> None:
    service, ledger = FakeService(decide=lambda order: None), FakeLedger()
    director = direct([service], ledger, FakeFixtures(20))
    run = asyncio.create_task(director.run())
    await until(director, lambda status: status.state is TournamentState.RUNNING)
    await eventually(lambda: ledger.states[-1:] == [(TournamentState.RUNNING, "")])
    director.suspend(grace=0.01)
    await run
    assert ledger.states[-1][0] is TournamentState.RUNNING
    assert "goes on by itself" in (await director.status()).message


async def test_a_full_disk_stops_handing_out_and_loses_nothing() -> None:
    service, ledger = FakeService(), FakeLedger()
    fixtures = FakeFixtures(100)
    director = direct([service], ledger, fixtures, Limits(per_service=4, retry_first=0.001, retry_most=0.002))
    run = asyncio.create_task(director.run())
    await until(director, lambda status: status.matches_done > 10)
    ledger.full = True
    status = await until(director, lambda status: bool(status.message))
    assert status.message.startswith(
        "Nothing new is handed out, finished matches are kept: The ledger cannot be written"
    )
    handed = len(service.seen)
    await eventually(lambda: ledger.refused >= 5)
    assert len(service.seen) == handed
    ledger.full = False
    assert await run is TournamentState.FINISHED
    assert sorted(ledger.results) == list(range(100))


async def test_a_tournament_that_somebody_else_ended_ends_here_too() -> None:
    service, ledger = FakeService(), FakeLedger()

    def refuse(state: TournamentState, message: str) -> None:
        raise PlatformError(Reason.STATE_CONFLICT, "The tournament 'cup' is cancelled.")

    ledger.set_state = refuse  # type: ignore[method-assign]
    director = direct([service], ledger, FakeFixtures(5))
    async with asyncio.timeout(60):
        await director.run()
    status = await director.status()
    assert (status.state in FINAL, status.message) == (True, "The tournament 'cup' is cancelled.")


async def test_a_ledger_that_cannot_be_read_pauses_with_a_sentence() -> None:
    ledger = FakeLedger()

    def fail() -> list[int]:
        raise RuntimeError("a bug")

    ledger.done = fail  # type: ignore[method-assign]
    assert await direct([FakeService()], ledger, FakeFixtures(5)).run() is TournamentState.PAUSED
    assert ledger.states[-1][1].startswith("The director failed (RuntimeError)")


async def test_a_fault_of_ours_pauses_with_a_sentence() -> None:
    service, ledger = FakeService(), FakeLedger()
    director = direct([service], ledger, FakeFixtures(5))
    original = ledger.record

    def fail(outcomes: object) -> None:
        ledger.record = original  # type: ignore[method-assign]
        raise RuntimeError("a bug")

    ledger.record = fail  # type: ignore[method-assign]
    assert await director.run() is TournamentState.PAUSED
    state, message = ledger.states[-1]
    assert state is TournamentState.PAUSED
    assert message == "The director failed (RuntimeError), its log tells more; resume to go on."
