"""Slow and absent bots hold up nobody, however long the schedule and however many matches wait for them."""

from __future__ import annotations

import asyncio
import itertools
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

from services.common.matches import Entrant, MatchOrder, MatchOutcome
from services.tournament.director import Limits
from services.tournament.director.backlog import LOOKAHEAD, Backlog, Turn
from services.tournament.director.dispatch import Dispatch
from services.tournament.director.lane import Lane
from services.tournament.director.placement import WINDOW

from .director_fakes import FakeFixtures, FakeLedger, FakeService, outcome_of
from .test_director import QUICK, direct, until


class Mixed(FakeFixtures):
    """Fives all over the place, after `first` matches that all have the first bot in them."""

    def __init__(self, matches: int, bots: int, first: int = 0) -> None:
        super().__init__(matches, bots)
        draw = Random(bots)
        lineups = [draw.sample(self.bots, 5) for _ in range(matches)]
        for lineup in lineups[:first]:
            if self.bots[0] not in lineup:
                lineup[draw.randrange(5)] = self.bots[0]
        self._lineups = lineups

    def seats(self, number: int) -> Sequence[Entrant]:
        return self._lineups[number]


def dispatch_of(fixtures: FakeFixtures, limits: Limits, lanes: int = 2) -> tuple[Dispatch, list[Lane]]:
    found = [Lane(FakeService(f"m{number}")) for number in range(lanes)]
    for lane in found:
        lane.missing = frozenset()
    return Dispatch(fixtures, (), found, limits), found


def play(dispatch: Dispatch, lanes: list[Lane], ends: Callable[[MatchOrder], bool], turns: int) -> list[int]:
    """So many matches end one after another, the oldest first of those that do; how many ran after each."""
    attempts = (str(number) for number in itertools.count())
    dispatch.hand_out(lambda: next(attempts))
    ran = []
    for _ in range(turns):
        lane, order = min(
            ((lane, order) for lane in lanes for order in lane.running.values() if ends(order)),
            key=lambda one: int(one[1].attempt),
        )
        dispatch.take_back(lane, order.attempt)
        dispatch.close(order, counts=True)
        dispatch.hand_out(lambda: next(attempts))
        while dispatch.backlog.is_interrupted:
            dispatch.hand_out(lambda: next(attempts))
        ran.append(dispatch.running)
    return ran


def sits(order: MatchOrder, bot: Entrant) -> bool:
    return any(seat == bot for seat in order.seats)


class Beside(FakeFixtures):
    """Ten slow bots are in all matches but the last, each with four others; those of the last have one such match."""

    def __init__(self) -> None:
        super().__init__(8 * LOOKAHEAD, bots=30)
        slow, others, last = self.bots[:10], self.bots[10:25], self.bots[25:]
        self._lineups: list[Sequence[Entrant]] = [(slow[0], *last[:4]), (slow[1], *last[1:])]
        self._lineups += [(slow[one], *(others[(4 * one + two) % 15] for two in range(4))) for one in range(10)]
        draw = Random(1)
        while len(self._lineups) < self.matches - 1:
            self._lineups.append((draw.choice(slow), *draw.sample(others, 4)))
        self._lineups.append(last)

    def seats(self, number: int) -> Sequence[Entrant]:
        return self._lineups[number]


async def test_once_nothing_has_ended_for_long_every_match_is_looked_at() -> None:
    """More bots are slow than are thought possible, and nobody is quite idle: a match has to wait, but not for them."""
    fixtures, ledger = Beside(), FakeLedger()
    last = fixtures.matches - 1
    service = FakeService(decide=lambda order: outcome_of(order) if order.number == last else None)
    director = direct([service], ledger, fixtures, replace(QUICK, per_bot=3, poll=0.2))
    run = asyncio.create_task(director.run())
    await until(director, lambda status: status.matches_done == 1)
    assert set(ledger.results) == {last}
    director.cancel()
    await run


async def test_one_slow_bot_of_twenty_keeps_its_bound_and_nothing_else() -> None:
    """The first thousand matches all wait for it, four times what is looked at ahead."""
    fixtures = Mixed(3000, bots=20, first=1000)
    slow = fixtures.bots[0]

    def decide(order: MatchOrder) -> MatchOutcome | None:
        return None if sits(order, slow) else outcome_of(order)

    ledger = FakeLedger()
    limits = Limits(per_bot=8, poll=5.0)
    director = direct([FakeService("m1", decide), FakeService("m2", decide)], ledger, fixtures, limits)
    run = asyncio.create_task(director.run())
    others = {number for number in range(3000) if slow not in fixtures.seats(number)}
    assert len(others) > 1000
    status = await until(director, lambda status: status.matches_done >= len(others))
    assert status.matches_running == 8
    assert set(ledger.results) == others
    director.cancel()
    await run


async def test_when_a_slow_bot_has_caught_up_everything_is_played() -> None:
    fixtures = Mixed(1500, bots=20, first=600)
    slow, held = fixtures.bots[0], list[MatchOrder]()

    def decide(order: MatchOrder) -> MatchOutcome | None:
        if sits(order, slow):
            held.append(order)
            return None
        return outcome_of(order)

    service, ledger = FakeService(decide=decide), FakeLedger()
    director = direct([service], ledger, fixtures, QUICK)
    run = asyncio.create_task(director.run())
    others = sum(slow not in fixtures.seats(number) for number in range(1500))
    await until(director, lambda status: status.matches_done == others)
    assert len(held) == QUICK.per_bot
    assert [order.number for order in held] == sorted(order.number for order in held), "its own matches in order too"
    service.decide = outcome_of
    for order in held:
        service.finish(order, outcome_of(order))
    await run
    assert sorted(ledger.results) == list(range(1500))


def test_beside_a_slow_bot_as_much_is_played_at_once_as_without_it() -> None:
    fixtures = Mixed(8000, bots=20)
    limits = Limits(per_service=64, per_bot=32)
    dispatch, lanes = dispatch_of(fixtures, limits)
    ran = play(dispatch, lanes, lambda order: not sits(order, fixtures.bots[0]), turns=700)
    assert dispatch.backlog.parked > LOOKAHEAD, "the slow bot is left far behind"
    assert sum(ran) / len(ran) > 0.95 * 128


def test_where_all_are_merely_busy_the_schedule_keeps_its_order() -> None:
    """No match waits long for one far behind it, or the same five would play each other again and again."""
    fixtures = Mixed(8000, bots=10)
    dispatch, lanes = dispatch_of(fixtures, Limits(per_service=64, per_bot=8))
    play(dispatch, lanes, lambda order: True, turns=500)
    assert dispatch.backlog.parked < 3 * LOOKAHEAD
    numbers = [order.number for lane in lanes for order in lane.running.values()]
    assert max(numbers) - min(numbers) < 4 * LOOKAHEAD


def test_absent_bots_are_passed_over_be_they_ever_so_many() -> None:
    """More than have a code of their own."""
    fixtures = Mixed(60_000, bots=400)
    dispatch, lanes = dispatch_of(fixtures, Limits())
    away = {bot.bot_id for bot in fixtures.bots[100:]}
    for lane in lanes:
        lane.missing = frozenset(away)
    attempts = (str(number) for number in itertools.count())
    dispatch.hand_out(lambda: next(attempts))
    while dispatch.backlog.is_interrupted:
        dispatch.hand_out(lambda: next(attempts))
    running = {order.number for lane in lanes for order in lane.running.values()}
    theirs = [n for n in range(60_000) if away.isdisjoint(seat.bot_id for seat in fixtures.seats(n))]
    assert running == set(theirs[:128])
    for lane in lanes:
        lane.missing = frozenset()
    for lane in lanes:
        for order in list(lane.running.values()):
            dispatch.take_back(lane, order.attempt)
            dispatch.close(order, counts=True)
    dispatch.hand_out(lambda: next(attempts))
    running = {order.number for lane in lanes for order in lane.running.values()}
    assert len(running) == 128
    begin = sorted(set(range(200)) - set(theirs))[: 128 + 2 * WINDOW]
    assert running <= set(begin), "those who have come begin where they stopped"


def test_memory_is_a_byte_a_match_however_many_wait_and_for_whom() -> None:
    matches = 14_000
    verdicts: list[Turn | str] = [Turn.STARTS, "slow", "slow", "absent", Turn.FULL, "busy", Turn.APART]
    tracemalloc.start()
    try:
        backlog = Backlog(matches, ())
        while backlog.take(lambda number: verdicts[number % 7], lambda: True) is not None or backlog.is_interrupted:
            pass
        for _ in range(3):
            backlog.wake_all()
            while backlog.take(lambda number: verdicts[number % 7]) is not None or backlog.is_interrupted:
                pass
        assert backlog.parked == matches - matches // 7
        assert tracemalloc.get_traced_memory()[1] < matches + 64 * 1024
    finally:
        tracemalloc.stop()
