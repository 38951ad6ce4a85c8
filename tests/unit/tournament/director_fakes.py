"""Match services, a ledger and fixtures in memory, which do to a director what real ones do on a bad day."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from bots_sdk.rules.options import Options
from services.common.errors import PlatformError, Reason
from services.common.matches import DealScore, Ending, Entrant, MatchOrder, MatchOutcome, SeatFaults
from services.ledger.values import Exclusion, PastAttempt, Rulings, TournamentState
from services.tournament.director import MatchServiceLost

NOW = datetime(2026, 1, 1, tzinfo=UTC)
NAME = "cup"


def outcome_of(order: MatchOrder, ending: Ending = Ending.COMPLETED, blamed: tuple[int, ...] = ()) -> MatchOutcome:
    deal = DealScore(0, (4, -1, -1, -1, -1), (0, 1, 2, 3, 4), 0, None, None)
    none = SeatFaults()
    return MatchOutcome(
        tournament=order.tournament,
        number=order.number,
        attempt=order.attempt,
        ending=ending,
        blamed=blamed,
        message="",
        deals=(deal,) * order.deals if ending.counts else (),
        faults=(none, none, none, none, none),
        decisions=1,
        started_at=NOW,
        ended_at=NOW,
    )


async def eventually(condition: Callable[[], bool]) -> None:
    """Wait for what happens in a thread."""
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - a thread cannot set an asyncio.Event
            await asyncio.sleep(0.001)


class FakeFixtures:
    """So many matches of five among some bots, in turn."""

    def __init__(self, matches: int, bots: int = 6) -> None:
        self.matches = matches
        self.bots = [Entrant(f"id-{index}", f"bot-{index}") for index in range(bots)]

    def among(self, name: str) -> Collection[str]:
        return [bot.name for bot in self.bots]

    def seats(self, number: int) -> Sequence[Entrant]:
        return [self.bots[(number + seat) % len(self.bots)] for seat in range(5)]

    def sharing(self, number: int) -> Collection[int]:
        return range(self.matches)

    def order(self, number: int, attempt: str) -> MatchOrder:
        one, two, three, four, five = self.seats(number)
        return MatchOrder(NAME, number, attempt, (one, two, three, four, five), Options(), 1, b"s" * 32, b"n" * 32)


@dataclass
class FakeService:
    """Plays every order in the next turn of the loop, unless told otherwise.

    `decide` makes the outcome of an order, or None for one that is never finished; `repeat` sends every outcome twice,
    and once more under an attempt nobody asked for.
    """

    name: str = "m1"
    decide: Callable[[MatchOrder], MatchOutcome | None] = outcome_of
    repeat: bool = False
    away: set[str] = field(default_factory=set)
    orders: dict[str, MatchOrder] = field(default_factory=dict)
    seen: list[MatchOrder] = field(default_factory=list)
    batches: list[int] = field(default_factory=list)
    enough: list[int] = field(default_factory=list)
    confirmed: int = 0
    withdrawals: int = 0
    most: int = 0
    _inbox: list[tuple[int, MatchOutcome]] = field(default_factory=list)
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    _alive: bool = True
    _incarnation: int = 0
    _met: int = 0

    # what happens to it

    def kill(self, back: bool = True) -> None:
        """Dies with all it has; `back`: it is there again at once, as another incarnation."""
        self.orders.clear()
        self._inbox.clear()
        self._numbers = itertools.count(1)
        self._incarnation += 1
        self._alive = back
        self._news.set()

    def revive(self) -> None:
        self._alive = True

    def arrive(self, bot_id: str) -> None:
        self.away.discard(bot_id)
        self._news.set()

    def finish(self, order: MatchOrder, outcome: MatchOutcome) -> None:
        del self.orders[order.attempt]
        copies = 2 if self.repeat else 1
        for _ in range(copies):
            self._inbox.append((next(self._numbers), outcome))
        if self.repeat:
            foreign = outcome_of(FakeFixtures(1).order(order.number, f"old-{order.attempt}"))
            self._inbox.append((next(self._numbers), foreign))
        self._news.set()

    # what a director calls

    async def withdraw(self, tournament: str) -> None:
        assert tournament == NAME
        if not self._alive:
            raise MatchServiceLost("dead")
        self._met = self._incarnation
        self.withdrawals += 1
        self.orders.clear()
        self._inbox.clear()
        self._numbers = itertools.count(1)

    async def submit(self, orders: Sequence[MatchOrder]) -> None:
        self._check()
        self.batches.append(len(orders))
        for order in orders:
            if order.attempt in self.orders:
                continue
            self.orders[order.attempt] = order
            self.seen.append(order)
            asyncio.get_running_loop().call_soon(self._play, order)
        self.most = max(self.most, len(self.orders))

    def _play(self, order: MatchOrder) -> None:
        outcome = self.decide(order)
        if outcome is not None and order.attempt in self.orders:
            self.finish(order, outcome)

    async def collect(
        self, tournament: str, confirmed: int, wait: float, enough: int
    ) -> list[tuple[int, MatchOutcome]]:
        self._check()
        self.enough.append(enough)
        self.confirmed = confirmed
        self._inbox = [(number, outcome) for number, outcome in self._inbox if number > confirmed]
        if not self._inbox:
            await self._wait(wait)
            self._check()
        return list(self._inbox)

    async def missing(self, bot_ids: Sequence[str], wait: float) -> list[str]:
        self._check()
        if self.away & set(bot_ids) and wait:
            await self._wait(wait)
            self._check()
        return sorted(self.away & set(bot_ids))

    async def _wait(self, seconds: float) -> None:
        self._news.clear()
        try:
            async with asyncio.timeout(seconds):
                await self._news.wait()
        except TimeoutError:
            pass

    def _check(self) -> None:
        if not self._alive or self._met != self._incarnation:
            raise MatchServiceLost("another incarnation")


class FakeLedger:
    """Keeps results as the real one does; `full` makes every write fail."""

    def __init__(self, done: Iterable[int] = ()) -> None:
        self.results: dict[int, str] = dict.fromkeys(done, "before")
        self.attempts: list[MatchOutcome] = []
        self.states: list[tuple[TournamentState, str]] = []
        self.full = False
        self.broken = False
        self.refused = 0
        self.decided = Rulings()
        self.retracted: list[str] = []

    def exclude(self, *names: str) -> None:
        exclusions = tuple(Exclusion(name, annulled=False, reason="", at=NOW) for name in names)
        self.decided = replace(self.decided, exclusions=exclusions)

    def bench(self, name: str, *, annulled: bool, reason: str) -> None:
        self._write()
        if name not in self.decided.excluded:
            exclusion = Exclusion(name, annulled, reason, NOW)
            self.decided = replace(self.decided, exclusions=(*self.decided.exclusions, exclusion))

    def rulings(self) -> Rulings:
        return self.decided

    def past_attempts(self, most: int) -> Sequence[PastAttempt]:
        return [
            PastAttempt(
                one.number,
                one.ending,
                one.blamed,
                tuple(seat for seat, faults in enumerate(one.faults) if faults.taken_over),
                one.started_at,
                one.ended_at,
            )
            for one in self.attempts[-most:]
        ]

    def retract(self, number: int, sharing: Collection[int], reason: str) -> bool:
        self._write()
        if number not in self.results:
            return False
        if self.results.keys() >= set(sharing):
            raise PlatformError(Reason.STATE_CONFLICT, "The deals are known.")
        self.retracted.append(self.results.pop(number))
        return True

    def done(self) -> Iterable[int]:
        return list(self.results)

    def record(self, outcomes: Sequence[MatchOutcome]) -> None:
        self._write()
        for outcome in outcomes:
            assert outcome.number not in self.results, f"a second result of {outcome.number}"
            self.attempts.append(outcome)
            if outcome.ending.counts:
                self.results[outcome.number] = outcome.attempt

    def set_state(self, state: TournamentState, message: str) -> None:
        self._write()
        self.states.append((state, message))

    def _write(self) -> None:
        if self.broken:
            raise RuntimeError("a bug")
        if self.full:
            self.refused += 1
            raise PlatformError(Reason.LEDGER_UNWRITABLE, "The ledger cannot be written: the disk is full.")
