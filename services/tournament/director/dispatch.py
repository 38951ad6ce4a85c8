"""Which match goes where and when: the bounds on what is on the way, kept in one synchronous object."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from bots_sdk.rules.cards import SEATS
from services.common.matches import Ending, MatchOrder, MatchOutcome, SeatFaults
from services.tournament.director.backlog import Backlog, Turn
from services.tournament.director.lane import Lane
from services.tournament.director.limits import Limits
from services.tournament.director.placement import WINDOW, place
from services.tournament.director.ports import Fixtures

_CLEAN = SeatFaults()


class Dispatch:
    """All matches of one tournament by where they are: in the backlog, in a lane, being written, or done.

    A match is in exactly one of these places at any time, so it cannot be played twice at once or be forgotten.
    """

    def __init__(self, fixtures: Fixtures, done: Iterable[int], lanes: Sequence[Lane], limits: Limits) -> None:
        # Where more are slow, slow is what is usual. With one match at a time, who sits with a slow bot is as slow.
        slow = max(1, len(fixtures.bots) // 8) * (SEATS if limits.bound_of_bot == 1 else 1)
        self.backlog = Backlog(fixtures.matches, done, slow_bots=slow)
        self._fixtures = fixtures
        self._lanes = lanes
        self.limits = limits
        self.excluded: frozenset[str] = frozenset()
        self._recalled: set[str] = set()
        self._writing: dict[str, MatchOrder] = {}
        self._pending: Counter[str] = Counter()
        # What was known when matches were handed out the last time, and which bots were nowhere.
        self._known: tuple[object, ...] = ()
        self._absent: frozenset[str] = frozenset()
        # Matches that may start next, in the order of the backlog, and how often the first of them was passed over.
        self._next: list[int] = []
        self._passed = 0
        self._least_remote = 5
        self._pressed = False

    @property
    def running(self) -> int:
        """Matches on the way: in a lane, or not yet on the disk."""
        return len(self._writing) + sum(len(lane.running) for lane in self._lanes)

    @property
    def is_complete(self) -> bool:
        """Whether every match has its result, or needs none."""
        return self.backlog.is_complete

    def hand_out(self, new_attempt: Callable[[], str]) -> None:
        """Give matches to lanes up to the bounds: the one place where a match starts."""
        self._look_around()
        while self.running < self._bound() and (chosen := self._choose()):
            number, lane = chosen
            order = self._fixtures.order(number, new_attempt())
            self._pending.update(seat.bot_id for seat in order.seats)
            lane.assign(order)

    def press_on(self) -> None:
        """Nothing has ended for long: until something does, every match is looked at, whatever its place.

        Otherwise slow bots, if they are many, could keep all others busy a little and idle for the most part.
        """
        self._pressed = True

    def _choose(self) -> tuple[int, Lane] | None:
        """The match that starts next, and where. It is neither in the backlog nor in a lane."""
        # What was compared before may not start any more: the backlog knows why.
        for number in [number for number in self._next if self._turn(number) is not Turn.STARTS]:
            self._next.remove(number)
            self.backlog.give_back(number)
        while len(self._next) < self._window:
            # For the sake of a comparison nobody looks far ahead.
            number_or_none = self.backlog.take(self._turn, self._looks_on)
            if number_or_none is None:
                break
            self._next.append(number_or_none)
        compared = self._next if self._passed < WINDOW else self._next[:1]
        chosen = place([self._fixtures.seats(number) for number in compared], self._lanes, self.limits.per_service)
        if chosen is None:
            return None
        index, lane = chosen
        self._passed = self._passed + 1 if index else 0
        return self._next.pop(index), lane

    @property
    def _window(self) -> int:
        """How many are compared: where there is one place only, there is nothing to compare."""
        return WINDOW if sum(lane.missing is not None for lane in self._lanes) > 1 else 1

    def recall(self, number: int) -> bool:
        """What is played of the match just now is not to count; whether there is such an attempt."""
        attempts = [order.attempt for lane in self._lanes for order in lane.running.values() if order.number == number]
        self._recalled.update(attempts)
        return bool(attempts)

    def is_recalled(self, attempt: str) -> bool:
        """Whether the attempt is not to count, whatever comes of it."""
        return attempt in self._recalled

    def is_left_out(self, number: int) -> bool:
        """Whether a bot in the match was excluded: what is not played of it by now is not played any more."""
        return bool(self.excluded) and any(seat.name in self.excluded for seat in self._fixtures.seats(number))

    def take_back(self, lane: Lane, attempt: str) -> MatchOrder | None:
        """An outcome came, its order is being written now. None: nobody waits for it, it is old or a second copy."""
        order = lane.release(attempt)
        if order is not None:
            self._writing[attempt] = order
            self._pressed = False
            self.backlog.wake(Turn.FULL)
        return order

    def take_lost(self, lane: Lane) -> list[MatchOrder]:
        """All orders of a lane that was lost; they are being written, as void."""
        lost = lane.lose()
        self._writing.update((order.attempt, order) for order in lost)
        return lost

    def close(self, order: MatchOrder, *, counts: bool) -> None:
        """The attempt is on the disk: the match is done, or goes back to be played again."""
        del self._writing[order.attempt]
        self._recalled.discard(order.attempt)
        self._pending.subtract(seat.bot_id for seat in order.seats)
        for seat in order.seats:
            self.backlog.wake(seat.bot_id)
        if counts:
            self.backlog.finish(order.number)
        else:
            self.backlog.give_back(order.number)

    def _look_around(self) -> None:
        """See whether anything but the matches has changed: then any of them may start that could not before."""
        known = (self.limits, self.excluded, *(lane.missing for lane in self._lanes))
        if known != self._known:
            self._known = known
            missing = [lane.missing for lane in self._lanes if lane.missing is not None]
            self._absent = frozenset.intersection(*missing) if missing else frozenset()
            self.backlog.wake_all()
        self.backlog.is_interrupted = False

    def _turn(self, number: int) -> Turn | str:
        """Whether the match may start now, and if not, because of whom."""
        if self.is_left_out(number):
            return Turn.LEFT_OUT
        seats, bound = self._fixtures.seats(number), self.limits.bound_of_bot
        for seat in seats:
            if seat.is_house:
                self._least_remote = 1
            elif self._pending[seat.bot_id] >= bound or seat.bot_id in self._absent:
                return seat.bot_id
        bound, here = self.limits.per_service, [lane for lane in self._lanes if lane.has_all(seats)]
        if any(lane.load < bound for lane in here):
            return Turn.STARTS
        return Turn.FULL if here else Turn.APART

    def _looks_on(self) -> bool:
        """Whether matches far down the schedule are worth a look."""
        return self._pressed or (not self._next and (not self.running or self._is_somebody_idle()))

    def _is_somebody_idle(self) -> bool:
        """Whether a bot has less than half of what it may have, so none that has merely ended a match, and could play.

        It could if enough others are free as well; where house bots play, any number is enough.
        """
        bound = self.limits.bound_of_bot
        free = [
            pending
            for bot in self._fixtures.bots
            if (pending := self._pending[bot.bot_id]) < bound
            and bot.bot_id not in self._absent
            and bot.name not in self.excluded
        ]
        return len(free) >= self._least_remote and 2 * min(free, default=bound) < bound - 1

    def _bound(self) -> int:
        bound = self.limits.per_service * sum(lane.missing is not None for lane in self._lanes)
        return bound if self.limits.in_flight is None else min(bound, self.limits.in_flight)


def void_outcome(
    order: MatchOrder, match_service: str, message: str, at: datetime, ended_at: datetime | None = None
) -> MatchOutcome:
    """The outcome of an attempt that does not count, because nobody else can tell of it any more or it was recalled."""
    return MatchOutcome(
        tournament=order.tournament,
        number=order.number,
        attempt=order.attempt,
        ending=Ending.VOID,
        blamed=(),
        message=message,
        deals=(),
        faults=(_CLEAN, _CLEAN, _CLEAN, _CLEAN, _CLEAN),
        decisions=0,
        started_at=at,
        ended_at=ended_at or at,
        match_service=match_service,
    )
