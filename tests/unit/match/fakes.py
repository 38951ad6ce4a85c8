"""A host and wires for tables under test: everything is written down, nothing happens by itself."""

from __future__ import annotations

import heapq
import itertools
from datetime import datetime, timedelta

from baohuang.match.v1 import match_service_pb2 as pb
from bots_sdk.convert import answer_to_proto, event_from_proto
from bots_sdk.house import make_house_bot
from bots_sdk.rules.answers import Answer
from bots_sdk.rules.options import Options
from bots_sdk.rules.profiles import make_options
from bots_sdk.rules.view import View
from services.common.clock import ManualClock
from services.common.matches import ClockRules, Entrant, FaultRules, MatchOrder, MatchOutcome
from services.match.clocks import Departure, Lag
from services.match.seat import Seat
from services.match.table import Table


class Counts:
    """Counts what a table counts."""

    def __init__(self) -> None:
        self.timeouts = 0
        self.illegal_answers = 0
        self.late_answers = 0
        self.events_sent = 0
        self.decisions: list[tuple[int, float]] = []

    def decided(self, kind: int, seconds: float) -> None:
        self.decisions.append((kind, seconds))


class FakeHost:
    """The surroundings of one table, with a clock that is moved by hand."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.lag = Lag(0.0)
        self.observer = Counts()
        self.outcomes: list[MatchOutcome] = []
        self.house: list[Table] = []
        self._deadlines: list[tuple[float, int, Table, Seat]] = []
        self._ticket = itertools.count()

    @property
    def now(self) -> float:
        return self.clock.monotonic()

    def wall(self) -> datetime:
        return self.clock.now()

    def watch(self, table: Table, seat: Seat, due: float) -> None:
        seat.watched = True
        heapq.heappush(self._deadlines, (due, next(self._ticket), table, seat))

    def call_house(self, table: Table) -> None:
        self.house.append(table)

    def ended(self, table: Table, outcome: MatchOutcome) -> None:
        self.outcomes.append(outcome)

    def run_house(self) -> None:
        while self.house:
            table = self.house.pop()
            if not self.outcomes:
                table.play_house(self.now)

    def advance(self, seconds: float) -> None:
        """Moves the clock and looks at what is overdue."""
        self.clock.advance(seconds)
        while self._deadlines and self._deadlines[0][0] <= self.now:
            _, _, table, seat = heapq.heappop(self._deadlines)
            seat.watched = False
            again = table.overdue(seat, self.now)
            if again is not None and not seat.watched:
                self.watch(table, seat, again)


class FakeWire:
    """A remote bot at one table: reads records at once, keeps a view, answers when told to."""

    def __init__(self, host: FakeHost, options: Options, *, list_legal: bool = False) -> None:
        self.list_legal = list_legal
        self.records: list[pb.ServerRecord] = []
        self.events: list[bytes] = []
        self.view: View | None = None
        self.request: pb.Request | None = None
        self._host = host
        self._options = options

    def push(self, record: bytes) -> None:
        for one in pb.PlayResponse.FromString(record).records:
            self.records.append(one)
            self._take(one)

    push_now = push

    def push_request(self, record: bytes, seat: Seat) -> None:
        self.push(record)
        departure = Departure()
        seat.clock.look_back()
        seat.clock.departure = departure
        departure.written(self._host.now, self._host.lag.total)

    def kinds(self) -> list[str]:
        return [record.WhichOneof("record") or "" for record in self.records]

    def last(self, kind: str) -> pb.ServerRecord:
        return next(record for record in reversed(self.records) if record.WhichOneof("record") == kind)

    def _take(self, record: pb.ServerRecord) -> None:
        kind = record.WhichOneof("record")
        if kind == "seated":
            self.view = View(self._options, record.seated.seat)
        elif kind == "resumed":
            self.view = View(self._options, record.resumed.seated.seat)
            for event in record.resumed.events:
                self.view.apply(event_from_proto(event))
            self.request = record.resumed.request if record.resumed.HasField("request") else None
        elif kind == "event":
            self.events.append(record.event.SerializeToString())
            assert self.view is not None
            self.view.apply(event_from_proto(record.event))
        elif kind == "request":
            self.request = record.request
        elif kind == "charged" and self.request is not None and record.charged.request == self.request.request:
            self.request = None


def decision(request: pb.Request, answer: Answer) -> pb.Decision:
    return pb.Decision(table=request.table, request=request.request, answer=answer_to_proto(answer))


class Play:
    """A table with remote bots in the seats `remote` and house bots in the others."""

    def __init__(  # noqa: PLR0913 — every test varies one of them
        self,
        remote: tuple[int, ...] = (0, 1, 2, 3, 4),
        *,
        deals: int = 1,
        clock: ClockRules | None = None,
        faults: FaultRules | None = None,
        list_legal: bool = False,
        secret: bytes = bytes(32),
        profile: str = "qingdao",
        options: Options | None = None,
        withhold: bool = True,
        suits: int = 0,
    ) -> None:
        self.host = FakeHost()
        options = options or make_options(profile, {})
        entrants = [
            Entrant(f"bot-{seat}", f"Bot {seat}") if seat in remote else Entrant("house:random", "house:random")
            for seat in range(5)
        ]
        self.order = MatchOrder(
            tournament="t",
            number=7,
            attempt="a-1",
            seats=(entrants[0], entrants[1], entrants[2], entrants[3], entrants[4]),
            options=options,
            deals=deals,
            secret=secret,
            nonce=bytes(16),
            withhold=withhold,
            clock=clock or ClockRules(limit=timedelta(seconds=2), grace=timedelta(milliseconds=200)),
            faults=faults or FaultRules(),
            suits=suits,
        )
        self.table = Table(3, self.order, self.host, make_house_bot)
        self.wires = {seat: FakeWire(self.host, options, list_legal=list_legal) for seat in remote}
        self._random = make_house_bot("random", 1)

    def open(self) -> Play:
        self.table.open(dict(self.wires), self.host.now)
        for seat in self.wires:
            self.table.ready(self.table.seats[seat], self.host.now)
        self.host.run_house()
        return self

    def asked(self) -> list[int]:
        """The seats whose request is open; a wire is told that a sealed one is closed when all of them are."""
        seats = self.table.seats
        return [
            seat
            for seat, wire in self.wires.items()
            if wire.request is not None and wire.request.request == seats[seat].request
        ]

    def answer(self, seat: int, answer: Answer | None = None) -> None:
        """Seat answers its open request, at random unless told."""
        wire = self.wires[seat]
        assert wire.request is not None
        assert wire.view is not None
        said = answer or self._random.answer(wire.view)
        self.send(seat, decision(wire.request, said))

    def send(self, seat: int, message: pb.Decision) -> None:
        self.table.decide(self.table.seats[seat], message, self.host.now)
        self.host.run_house()

    def finish(self, idle: tuple[int, ...] = ()) -> MatchOutcome:
        """Plays to the end; seats in `idle` never answer."""
        for _ in range(20_000):
            if self.host.outcomes:
                return self.host.outcomes[0]
            ready = [seat for seat in self.asked() if seat not in idle]
            if ready:
                self.answer(ready[0])
            else:
                self.host.advance(0.1)
                self.host.run_house()
        raise AssertionError("the match does not end")
