"""Bots that do not turn up: waited for while they are away, benched when they are there and keep others waiting."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from services.common.matches import Ending, MatchOrder, MatchOutcome, SeatFaults
from services.common.metrics import TournamentMetrics
from services.ledger.values import TournamentState
from services.tournament.director import BreakerRule, Limits

from .director_fakes import NOW, FakeFixtures, FakeLedger, FakeService, eventually, outcome_of
from .test_director import QUICK, direct, until
from .test_director_rulings import with_bot

ABSENT = "bot-3"


def without(order: MatchOrder) -> MatchOutcome:
    """How a match of a bot ends that is connected and never gets ready."""
    names = [seat.name for seat in order.seats]
    if ABSENT not in names:
        return outcome_of(order)
    return replace(
        outcome_of(order, Ending.NO_SHOW, blamed=(names.index(ABSENT),)),
        message=f"connected, but not ready within 30 s: {ABSENT}",
    )


async def test_a_bot_that_keeps_a_match_waiting_beyond_the_limit_is_benched_and_the_others_play_on() -> None:
    fixtures, ledger, metrics = FakeFixtures(100, bots=12), FakeLedger(), TournamentMetrics()
    director = direct([FakeService(decide=without)], ledger, fixtures, replace(QUICK, in_flight=1, no_show_limit=2))
    director._metrics = director._bench._metrics = metrics
    assert await director.run() is TournamentState.FINISHED
    (exclusion,) = ledger.decided.exclusions
    first = min(with_bot(fixtures, ABSENT))
    assert (exclusion.name, exclusion.annulled) == (ABSENT, False)
    assert exclusion.reason == (
        f"Benched: match {first} could not begin because of it 3 times (connected, but not ready within 30 s: bot-3)."
    )
    assert set(ledger.results) == set(range(100)) - with_bot(fixtures, ABSENT)
    # And perhaps some more while it is written down: here none takes any time.
    assert sum(one.number == first for one in ledger.attempts) >= 3
    assert (metrics.bots_excluded, metrics.bots_benched) == (1, 1)


async def test_results_of_who_is_benched_are_what_the_breaker_says() -> None:
    ledger = FakeLedger()
    limits = replace(QUICK, no_show_limit=1, breaker=BreakerRule(1000, annulled=True))
    await direct([FakeService(decide=without)], ledger, FakeFixtures(60, bots=12), limits).run()
    assert [one.annulled for one in ledger.decided.exclusions] == [True]


async def test_where_too_few_would_be_left_it_pauses_instead_and_goes_on_when_told_to() -> None:
    ledger, fixtures = FakeLedger(), FakeFixtures(4, bots=5)
    limits = replace(QUICK, no_show_limit=2, breaker=BreakerRule(100))
    assert await direct([FakeService(decide=without)], ledger, fixtures, limits).run() is TournamentState.PAUSED
    state, message = ledger.states[-1]
    assert state is TournamentState.PAUSED
    assert message.startswith("Without bot-3 too few would be left to play on. Benched: match ")
    assert message.endswith("See to it, then resume.")
    assert ledger.decided.exclusions == ()
    assert await direct([FakeService()], ledger, fixtures, limits).run() is TournamentState.FINISHED
    assert len(ledger.results) == 4


async def test_who_is_gone_costs_one_attempt_a_match_at_most_and_is_waited_for() -> None:
    """A bot that leaves in the middle: the others play on, and it is not tried again before it is back."""
    fixtures, ledger = FakeFixtures(60, bots=12), FakeLedger()
    service = FakeService()
    theirs = with_bot(fixtures, ABSENT)

    def decide(order: MatchOrder) -> MatchOutcome | None:
        if "id-3" in service.away:
            return without(order)
        service.away.add("id-3")  # gone after the first match
        return outcome_of(order)

    service.decide = decide
    director = direct([service], ledger, fixtures, replace(QUICK, in_flight=4, no_show_limit=1, gather=60.0))
    run = asyncio.create_task(director.run())
    status = await until(director, lambda status: status.missing == (ABSENT,) and not status.matches_running)
    assert status.state is TournamentState.RUNNING
    assert set(range(60)) - set(ledger.results) <= theirs
    tried = [one.number for one in ledger.attempts if one.ending is Ending.NO_SHOW]
    assert 1 <= len(tried) == len(set(tried)) <= 4, "what was handed out before it was noticed, and no more"
    assert ledger.decided.exclusions == ()
    service.decide = outcome_of
    service.arrive("id-3")
    assert await asyncio.wait_for(run, 60) is TournamentState.FINISHED
    assert sorted(ledger.results) == list(range(60))


def failure(fixtures: FakeFixtures, number: int, minute: int) -> MatchOutcome:
    order = fixtures.order(number, f"old-{number}-{minute}")
    seat = [one.name for one in order.seats].index(ABSENT)
    faults = list(outcome_of(order).faults)
    faults[seat] = SeatFaults(timeouts=5, taken_over=True)
    start = NOW + timedelta(minutes=minute)
    outcome = outcome_of(order, Ending.COMPLETED_WITH_FAULTS, blamed=(seat,))
    one, two, three, four, five = faults
    return replace(
        outcome, faults=(one, two, three, four, five), started_at=start, ended_at=start + timedelta(seconds=9)
    )


@pytest.mark.parametrize(("before", "is_benched"), [(0, False), (1, False), (2, True), (3, True)])
async def test_a_restart_gives_a_failing_bot_no_new_start(before: int, is_benched: bool) -> None:
    """Of three failures in a row some were before the director was killed, all of them if it was killed right then."""
    fixtures, ledger = FakeFixtures(60, bots=12), FakeLedger()
    numbers = sorted(with_bot(fixtures, ABSENT))
    ledger.record([failure(fixtures, number, minute) for minute, number in enumerate(numbers[:before])])
    after: list[int] = []

    def decide(order: MatchOrder) -> MatchOutcome:
        if ABSENT in [seat.name for seat in order.seats] and not after:
            after.append(order.number)
            return replace(failure(fixtures, order.number, 50), attempt=order.attempt)
        return outcome_of(order)

    limits = replace(QUICK, in_flight=1, breaker=BreakerRule(3))
    assert await direct([FakeService(decide=decide)], ledger, fixtures, limits).run() is TournamentState.FINISHED
    assert [one.name for one in ledger.decided.exclusions] == ([ABSENT] if is_benched else [])


async def test_who_had_failed_too_often_and_has_played_well_since_is_not_benched_by_a_restart() -> None:
    """Whoever went on after a pause has said that the bot plays on."""
    fixtures, ledger = FakeFixtures(60, bots=12), FakeLedger()
    one, two, three, *_ = sorted(with_bot(fixtures, ABSENT))
    ledger.record([failure(fixtures, one, 0), failure(fixtures, two, 1)])
    start = NOW + timedelta(minutes=2)
    ledger.record([replace(outcome_of(fixtures.order(three, "well")), started_at=start, ended_at=start)])
    limits = replace(QUICK, breaker=BreakerRule(2))
    assert await direct([FakeService()], ledger, fixtures, limits).run() is TournamentState.FINISHED
    assert ledger.decided.exclusions == ()


async def test_what_was_played_well_in_between_ends_the_row_also_over_a_restart() -> None:
    fixtures, ledger = FakeFixtures(60, bots=12), FakeLedger()
    one, two, three, *_ = sorted(with_bot(fixtures, ABSENT))
    well = replace(outcome_of(fixtures.order(two, "well")), started_at=NOW + timedelta(minutes=1))
    ledger.record([failure(fixtures, one, 0), replace(well, ended_at=NOW + timedelta(minutes=2))])
    ledger.record([failure(fixtures, three, 3)])
    limits = replace(QUICK, breaker=BreakerRule(2))
    assert await direct([FakeService()], ledger, fixtures, limits).run() is TournamentState.FINISHED
    assert ledger.decided.exclusions == ()


async def test_a_match_that_is_asked_for_again_before_it_has_a_result_is_played_again_once() -> None:
    ledger = FakeLedger()
    service = FakeService(decide=lambda order: None)
    director = direct([service], ledger, FakeFixtures(1), Limits())
    run = asyncio.create_task(director.run())
    await eventually(lambda: len(service.seen) == 1)
    assert await director.requeue(0)
    assert await director.requeue(0)
    service.finish(service.seen[0], outcome_of(service.seen[0]))
    await eventually(lambda: len(service.seen) == 2)
    assert await director.requeue(0)  # the answer to the first was lost, say
    service.finish(service.seen[1], outcome_of(service.seen[1]))
    assert await asyncio.wait_for(run, 60) is TournamentState.FINISHED
    assert [one.ending for one in ledger.attempts] == [Ending.VOID, Ending.COMPLETED]


async def test_a_result_that_is_taken_back_twice_is_played_again_once_and_later_once_more() -> None:
    ledger = FakeLedger(done=[0, 1])
    service = FakeService(decide=lambda order: None)
    director = direct([service], ledger, FakeFixtures(3))
    run = asyncio.create_task(director.run())
    await eventually(lambda: len(service.seen) == 1)
    for _ in range(2):
        assert await director.requeue(1)
        await eventually(lambda: len(service.seen) == 2)
    service.finish(service.seen[1], outcome_of(service.seen[1]))
    await eventually(lambda: 1 in ledger.results)
    await eventually(lambda: not director._again)
    assert await director.requeue(1)  # it has a result again, which is not to count either
    await eventually(lambda: len(service.seen) == 3)
    assert [order.number for order in service.seen] == [2, 1, 1]
    service.decide = outcome_of
    for order in (service.seen[0], service.seen[2]):
        service.finish(order, outcome_of(order))
    assert await asyncio.wait_for(run, 60) is TournamentState.FINISHED
    assert len([one for one in ledger.attempts if one.number == 1]) == 2
