"""A floor with a clock that is moved by hand, and visitors: bots on streams without a wire."""

from __future__ import annotations

from datetime import timedelta

from baohuang.match.v1 import match_service_pb2 as pb
from bots_sdk.rules.profiles import make_options
from services.common.clock import ManualClock
from services.common.matches import ClockRules, Entrant, FaultRules, MatchOrder, MatchOutcome
from services.common.metrics import MatchMetrics
from services.match.floor import Floor
from services.match.sessions import Session, SessionTerms

QUICK = ClockRules(limit=timedelta(seconds=1), grace=timedelta(seconds=0.1), ready=timedelta(seconds=5))
_OPTIONS = make_options("qingdao", {})


def order_for(*bots: str, attempt: str, tournament: str = "t", clock: ClockRules = QUICK) -> MatchOrder:
    """A match of one deal; house bots fill the seats."""
    seats = [Entrant(bot, bot) for bot in bots] + [Entrant("house:random", "house:random")] * (5 - len(bots))
    return MatchOrder(
        tournament=tournament,
        number=0,
        attempt=attempt,
        seats=(seats[0], seats[1], seats[2], seats[3], seats[4]),
        options=_OPTIONS,
        deals=1,
        secret=attempt.encode().ljust(32, b"-")[:32],
        nonce=bytes(16),
        clock=clock,
        faults=FaultRules(takeover_after=3),
    )


class Hall:
    """The floor and what it needs around it (`Later`)."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.metrics = MatchMetrics()
        self.floor = Floor("m1", self.clock, self.metrics, self)
        self._house = self._seat = False

    @property
    def now(self) -> float:
        return self.clock.monotonic()

    def house_soon(self) -> None:
        self._house = True

    def seat_soon(self) -> None:
        self._seat = True

    def look_soon(self) -> None:
        """Visitors read whatever there is, also what waits for company."""

    def entered(self) -> None:
        """Nobody waits."""

    def settle(self) -> None:
        """Calls the floor as it asked to be called."""
        while self._house or self._seat:
            house, self._house, self._seat = self._house, False, False
            if house:
                self.floor.play_house(self.now, self.clock.monotonic)
            self.floor.seat_waiting(self.now)

    def advance(self, seconds: float, silence: float = 1e9) -> None:
        """Lets time pass; the floor looks in ten times."""
        for _ in range(10):
            self.clock.advance(seconds / 10)
            self.floor.sweep(self.now, seconds / 10)
            self.floor.tidy(self.now, silence)
            self.settle()

    def come(self, bot_id: str, tables: int) -> Visitor:
        """A bot opens a stream."""
        return Visitor(self, bot_id, tables)

    def outcomes(self, tournament: str = "t") -> list[MatchOutcome]:
        """Everything that has ended."""
        return [outcome for _, outcome in self.floor.inboxes.unconfirmed(tournament, 0)]


class Visitor:
    """A bot on a stream. It knows no rules: the first of the legal answers is always one."""

    def __init__(self, hall: Hall, bot_id: str, tables: int) -> None:
        self.bot_id = bot_id
        self.seated: list[int] = []
        self.resumed: list[pb.Resumed] = []
        self.requests: dict[int, pb.Request] = {}
        self.draining: list[pb.Draining] = []
        self.ended: list[pb.MatchEnded] = []
        self.in_vain = 0
        self._hall = hall
        self._read = 0
        terms = SessionTerms(bot_id=bot_id, name=bot_id, tables=tables, list_legal=False, window=1)
        self.session = Session(terms, hall.floor.seats_of(bot_id), hall.now, lambda: None, lambda _: None)
        hall.floor.conduct_of(bot_id, hall.now)
        hall.floor.enter(self.session, hall.now)
        hall.settle()

    def read(self) -> None:
        """Reads and confirms all there is."""
        while (message := self.session.take(self._hall.now, self._hall.floor.lag.total)) is not None:
            self._read += 1
            self.session.heard(self._hall.now, self._read)
            for record in pb.PlayResponse.FromString(message).records:
                self._take(record)

    def _take(self, record: pb.ServerRecord) -> None:
        kind = record.WhichOneof("record")
        if kind == "seated":
            self.seated.append(record.seated.table)
        elif kind == "resumed":
            self.resumed.append(record.resumed)
            if record.resumed.HasField("request"):
                self.requests[record.resumed.seated.table] = record.resumed.request
        elif kind == "request":
            self.requests[record.request.table] = record.request
        elif kind == "charged":
            if (asked := self.requests.get(record.charged.table)) and asked.request == record.charged.request:
                del self.requests[record.charged.table]
        elif kind == "draining":
            self.draining.append(record.draining)
        elif kind == "match_ended":
            self.ended.append(record.match_ended)
            self.requests.pop(record.match_ended.table, None)

    def ready(self) -> None:
        """Says ready wherever it has not been said."""
        for table, seat in list(self.session.seats.items()):
            if not seat.ready:
                self.in_vain += not self._hall.floor.ready(self.session, table, self._hall.now)
        self._hall.settle()

    def answer(self, most: int = 1) -> int:
        """Answers so many of the requests it has read; how many there were."""
        requests = list(self.requests.values())[:most]
        for request in requests:
            del self.requests[request.table]
            self.decide(request)
        return len(requests)

    def decide(self, request: pb.Request) -> None:
        decision = pb.Decision(table=request.table, request=request.request, index=0)
        self.in_vain += not self._hall.floor.decide(self.session, decision, self._hall.now)
        self._hall.settle()

    def leave(self) -> None:
        """The stream ends."""
        self._hall.floor.leave(self.session, self._hall.now)
        self._hall.settle()
