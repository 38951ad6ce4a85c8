"""What is handed out and when, against a plain model: nothing twice, nothing forgotten, nobody held up.

The bounds of the backlog are made tiny, so that a few dozen matches are a long schedule.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from services.common.matches import Entrant, MatchOrder
from services.tournament.director import Limits, backlog, parking
from services.tournament.director.dispatch import Dispatch
from services.tournament.director.lane import Lane
from tests.unit.tournament.director_fakes import FakeFixtures, FakeService

FEW, SHORT = 3, 5
"""Instead of `LOOKAHEAD` and `STRIDE`."""


@pytest.fixture(autouse=True, scope="module")
def _tiny() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(backlog, "LOOKAHEAD", FEW)
        patch.setattr(backlog, "_STEP", 1)
        patch.setattr(backlog, "STRIDE", SHORT)
        patch.setattr(parking, "_SHARED", parking._OWN + 2)  # codes for two blockers; all others share one
        yield


class Stretches(FakeFixtures):
    """A schedule in stretches, each of which has one bot in all of its matches: all that could hold up a walk."""

    def __init__(self, bots: int, stretches: Sequence[tuple[int, int]], seed: int, house: int = 0) -> None:
        super().__init__(sum(length for _, length in stretches), bots)
        draw = Random(seed)
        everybody = [*self.bots, *(Entrant(f"house:greedy#{number}", f"house-{number}") for number in range(house))]
        self._seats = []
        for bot, length in stretches:
            one = self.bots[bot % bots]
            others = [other for other in everybody if other != one]
            for _ in range(length):
                self._seats.append(draw.sample([one, *draw.sample(others, 4)], 5))

    def seats(self, number: int) -> Sequence[Entrant]:
        return self._seats[number]


stretches = st.lists(st.tuples(st.integers(0, 10), st.integers(1, 12)), min_size=1, max_size=8)
seeds = st.integers(0, 2**16)


class Table:
    """A dispatch, its lanes, and whatever a director does with them."""

    def __init__(self, fixtures: Stretches, limits: Limits, lanes: int, done: Sequence[int] = ()) -> None:
        self.fixtures = fixtures
        self.lanes = [Lane(FakeService(f"m{number}")) for number in range(lanes)]
        for lane in self.lanes:
            lane.missing = frozenset()
        self.dispatch = Dispatch(fixtures, done, self.lanes, limits)
        self.done = set(done)
        self._attempts = (f"attempt-{number}" for number in itertools.count())

    @property
    def running(self) -> list[tuple[Lane, MatchOrder]]:
        return [(lane, order) for lane in self.lanes for order in lane.running.values()]

    def hand_out(self) -> None:
        """As a director does: again as long as it is told that there is more to look at."""
        self.dispatch.hand_out(lambda: next(self._attempts))
        rounds = 0
        while self.dispatch.backlog.is_interrupted:
            rounds += 1
            assert rounds <= self.fixtures.matches * 4 / SHORT + 4, "goes round in circles"
            self.dispatch.hand_out(lambda: next(self._attempts))

    def running_without(self, slow: set[str]) -> list[tuple[Lane, MatchOrder]]:
        return [(lane, one) for lane, one in self.running if slow.isdisjoint(seat.bot_id for seat in one.seats)]

    def pressed_without(self, slow: set[str]) -> list[tuple[Lane, MatchOrder]]:
        """Once nothing has ended for long."""
        self.dispatch.press_on()
        self.hand_out()
        return self.running_without(slow)

    def end(self, lane: Lane, order: MatchOrder, *, counts: bool) -> None:
        assert self.dispatch.take_back(lane, order.attempt) is order
        self.dispatch.close(order, counts=counts)
        if counts:
            assert order.number not in self.done, "played twice"
            self.done.add(order.number)

    def may_start(self, number: int) -> bool:
        """By the rules alone."""
        pending = Counter(seat.bot_id for _, order in self.running for seat in order.seats if not seat.is_house)
        seats, limits = self.fixtures.seats(number), self.dispatch.limits
        return all(pending[seat.bot_id] < limits.bound_of_bot for seat in seats) and any(
            lane.has_all(seats) and len(lane.running) < limits.per_service for lane in self.lanes
        )

    def is_somebody_idle(self) -> bool:
        pending = Counter(seat.bot_id for _, order in self.running for seat in order.seats)
        return any(
            2 * pending[bot.bot_id] < self.dispatch.limits.bound_of_bot - 1
            for bot in self.fixtures.bots
            if bot.name not in self.dispatch.excluded
            and any(lane.missing is not None and bot.bot_id not in lane.missing for lane in self.lanes)
        )


class Dispatching(RuleBasedStateMachine):
    """Matches end or do not, bots come and go, lanes are lost, operators decide this and that."""

    @initialize(
        fixtures=st.builds(Stretches, st.integers(5, 9), stretches, seeds, st.integers(0, 2)),
        bound=st.integers(1, 5),
        room=st.sampled_from([2, 5, 1000]),
        lanes=st.integers(1, 2),
        seed=seeds,
    )
    def begin(self, fixtures: Stretches, bound: int, room: int, lanes: int, seed: int) -> None:
        done = Random(seed).sample(range(fixtures.matches), fixtures.matches // 4)
        self.table = Table(fixtures, Limits(per_service=room, per_bot=bound), lanes, done)
        self.left_out: set[int] = set()

    @property
    def open(self) -> set[int]:
        """What is still to be played and is not being played."""
        away = {order.number for _, order in self.table.running}
        return set(range(self.table.fixtures.matches)) - self.table.done - away - self.left_out

    @rule()
    def hand_out(self) -> None:
        self.table.hand_out()
        dispatch = self.table.dispatch
        if dispatch.running >= dispatch._bound():
            return
        startable = [number for number in self.open if self.table.may_start(number)]
        startable = [number for number in startable if not dispatch.is_left_out(number)]
        if self.table.is_somebody_idle() and dispatch.limits.per_service == 1000:
            assert not startable, "somebody is idle, and there would have been something to do"
        if not self.table.running:
            assert dispatch.backlog.parked < FEW or not startable

    @precondition(lambda self: self.table.running)
    @rule(data=st.data(), counts=st.booleans())
    def end(self, data: st.DataObject, counts: bool) -> None:
        lane, order = data.draw(st.sampled_from(self.table.running))
        self.table.end(lane, order, counts=counts)

    @rule(data=st.data())
    def bots_come_and_go(self, data: st.DataObject) -> None:
        lane = data.draw(st.sampled_from(self.table.lanes))
        lane.missing = frozenset(data.draw(st.sets(st.sampled_from([bot.bot_id for bot in self.table.fixtures.bots]))))

    @rule(data=st.data())
    def a_lane_is_lost(self, data: st.DataObject) -> None:
        lane = data.draw(st.sampled_from(self.table.lanes))
        for order in self.table.dispatch.take_lost(lane):
            self.table.dispatch.close(order, counts=False)

    @precondition(lambda self: self.table.done)
    @rule(data=st.data())
    def a_result_is_taken_back(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(sorted(self.table.done)))
        self.table.dispatch.backlog.reopen(number)
        self.table.done.discard(number)

    @rule(bound=st.integers(1, 5))
    def limits_change(self, bound: int) -> None:
        self.table.dispatch.limits = replace(self.table.dispatch.limits, per_bot=bound)

    @rule(data=st.data())
    def somebody_is_excluded(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from([bot.name for bot in self.table.fixtures.bots]))
        self.table.dispatch.excluded |= {name}

    @invariant()
    def nothing_is_played_twice_at_once(self) -> None:
        if hasattr(self, "table"):
            numbers = [order.number for _, order in self.table.running]
            assert len(numbers) == len(set(numbers))
            assert not self.table.done.intersection(numbers)
            assert self.table.dispatch.backlog.done_count == len(self.table.done)

    def teardown(self) -> None:
        """Everybody comes, and everything ends: then all is played but what was left out."""
        if not hasattr(self, "table"):
            return
        table, dispatch = self.table, self.table.dispatch
        for lane in table.lanes:
            lane.missing = frozenset()
        table.hand_out()
        while table.running:
            for lane, order in table.running:
                table.end(lane, order, counts=True)
            table.hand_out()
        missing = set(range(table.fixtures.matches)) - table.done
        assert all(dispatch.is_left_out(number) for number in missing), "forgotten"
        assert dispatch.is_complete
        assert dispatch.backlog.parked == 0


TestDispatching = Dispatching.TestCase
TestDispatching.settings = settings(max_examples=60, stateful_step_count=25)


def test_with_one_match_at_a_time_who_sits_with_a_slow_bot_holds_up_nobody_else() -> None:
    """Found by the law below: ten matches in a row with one of the four, and behind them one with none of the five."""
    fixtures = Stretches(12, [(0, 1), (2, 10)], 946)
    table = Table(fixtures, Limits(per_service=12, per_bot=1), 1)
    table.hand_out()
    assert [order.number for _, order in table.running] == [0, 10]


def test_absent_bots_hold_up_nobody_where_nothing_runs() -> None:
    """Found by the machine above: one match at a time, and more of them with absent bots than are passed over."""
    fixtures = Stretches(10, [(0, 4), (1, 4), (2, 12)], 3)
    table = Table(fixtures, Limits(per_service=10, per_bot=1), 1)
    table.lanes[0].missing = frozenset({"id-0", "id-1"})
    table.hand_out()
    assert table.running


@settings(max_examples=60)
@given(
    fixtures=st.builds(Stretches, st.integers(6, 12), stretches, seeds),
    bound=st.integers(1, 5),
    lanes=st.integers(1, 3),
    absent=st.integers(0, 12),
    seed=seeds,
    data=st.data(),
)
def test_whatever_some_bots_do_all_that_is_without_them_is_played(
    fixtures: Stretches,
    bound: int,
    lanes: int,
    absent: int,
    seed: int,
    data: st.DataObject,
) -> None:
    """Slow bots end nothing, absent ones never come; each has no more on the way than its bound.

    So have the others: one that sits with slow bots wherever it may sit plays nothing else.
    """
    bots = len(fixtures.bots)
    most = bots if bound > 1 else 1
    table = Table(fixtures, Limits(per_service=bound * bots, per_bot=bound), lanes)
    slow = {bot.bot_id for bot in fixtures.bots[: data.draw(st.integers(0, most))]}
    away = {bot.bot_id for bot in fixtures.bots[len(slow) :][:absent]} if bound > 1 else set()
    for lane in table.lanes:
        lane.missing = frozenset(away)
    draw = Random(seed)
    table.hand_out()
    while ending := table.running_without(slow) or table.pressed_without(slow):
        for lane, order in draw.sample(ending, draw.randint(1, len(ending))):
            table.end(lane, order, counts=draw.random() < 0.9)
        table.hand_out()
    pending = Counter(seat.bot_id for _, order in table.running for seat in order.seats)
    assert max(pending.values(), default=0) <= bound
    hindered = slow | away | {bot for bot, count in pending.items() if count == bound}
    for number in range(fixtures.matches):
        assert number in table.done or not hindered.isdisjoint(seat.bot_id for seat in fixtures.seats(number))
