"""What a client does with what a match service says: seats, requests, credit. No gRPC in here, and no waiting.

A session belongs to a bot and a match service and outlives its streams: `hello` begins a new one, `receive` takes a
message in, `take` gives the next one to be sent. Whatever makes no sense ends in an error, and its remedy is always the
same: a new stream, on which the service tells everything anew.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from baohuang.error.v1 import reason_pb2
from baohuang.match.v1 import match_service_pb2 as pb
from bots_sdk.asking import describe_error
from bots_sdk.bot import MatchResult
from bots_sdk.client.seat import EventGap, TableSeat, points_from_proto
from bots_sdk.client.statistics import ClientStatistics
from bots_sdk.client.thinking import Thinker
from bots_sdk.client.wire import Reader
from bots_sdk.convert import write_decision
from bots_sdk.errors import Malformed, ProtocolBroken, VersionMismatch, make_refused
from bots_sdk.rules.answers import Answer
from bots_sdk.rules.errors import IllegalAnswer
from bots_sdk.rules.events import Event
from bots_sdk.version import PROTOCOL_VERSION, SDK_NAME

MOST_RECORDS = 2_000
"""Of one message sent: some 20 bytes each, so it stays far below what a service reads."""
LEAST_HEARTBEAT_S, MOST_HEARTBEAT_S = 0.05, 300.0
"""Whatever a service asks for: more often is a burden, and more seldom never notices that it is gone."""
_COUNTED = frozenset({pb.ENDING_COMPLETED, pb.ENDING_COMPLETED_WITH_FAULTS})


class PlaySession:
    """All tables of one bot at one match service.

    Args:
        thinker: how the bots are asked.
        statistics: where it is counted.
        say: told in one line what a person should know.
        wake: called when there may be something to send.

    Attributes:
        seats: by table.
        heartbeat_s: what the service asked for.
        draining: the service is about to stop.
        is_welcome: the stream has been welcomed, and all seats the bot already had have been told.
    """

    def __init__(
        self,
        thinker: Thinker,
        statistics: ClientStatistics,
        say: Callable[[str], None],
        wake: Callable[[], None] = lambda: None,
    ) -> None:
        self.seats: dict[int, TableSeat] = {}
        self.heartbeat_s = 5.0
        self.draining = False
        self.is_welcome = False
        self.wake = wake
        self._thinker = thinker
        thinker.decider = self
        self._statistics = statistics
        self._say = say
        self._said: set[str] = set()
        self._out = pb.PlayRequest()
        self._full: deque[pb.PlayRequest] = deque()
        self._reader = Reader(self._event, self._other)
        self._read = 0
        self._confirmed = 0
        self._unresumed: set[int] | None = None
        self._awaited = 0

    # ---- the stream

    def hello(self, ticket: str, tables: int) -> pb.PlayRequest:
        """Begin a new stream; what was not sent on the one before is forgotten, the service asks again."""
        self._out = pb.PlayRequest()
        self._full.clear()
        self._read = self._confirmed = 0
        self.draining = False
        self.is_welcome = False
        for seat in self.seats.values():
            seat.close()
        hello = pb.Hello(ticket=ticket, sdk=SDK_NAME, protocol_version=PROTOCOL_VERSION, tables=tables)
        return pb.PlayRequest(records=[pb.ClientRecord(hello=hello)])

    def receive(self, data: bytes) -> None:
        """Take a message in.

        Raises:
            ProtocolBroken: it makes no sense, or does not fit; open a new stream.
            Refused: the service closes the stream and says why.
        """
        self._read += 1
        try:
            self._reader.read(data)
        except EventGap:
            self._statistics.gaps += 1
            raise
        except Malformed as error:
            raise ProtocolBroken(f"the match service sent what makes no sense: {error}") from error

    def take(self) -> pb.PlayRequest | None:
        """The next message to be sent, if there is anything to say or to confirm."""
        if self._full:
            message = self._full.popleft()
        elif self._out.records or self._read > self._confirmed:
            message = self._out
            self._out = pb.PlayRequest()
        else:
            return None
        message.confirmed = self._confirmed = self._read
        return message

    def beat(self) -> None:
        """Say that the bot is alive."""
        self._record().heartbeat.SetInParent()
        self.wake()

    # ---- what bots say (`Decider`)

    def ready(self, seat: TableSeat) -> None:
        """The bot is ready to play."""
        seat.is_ready = True
        if self.seats.get(seat.table) is seat:
            self._record().ready.table = seat.table
            self.wake()

    def decide(self, seat: TableSeat, request: int, answer: Answer) -> None:
        """The bot has answered."""
        if seat.request != request or self.seats.get(seat.table) is not seat:
            self._statistics.dropped += 1
            return
        if seat.deadline is not None:
            seat.cancel_deadline()
        decision = self._record().decision
        decision.table = seat.table
        decision.request = request
        write_decision(answer, decision)
        seat.request = 0
        seat.view.note_answered()
        self._statistics.decisions += 1
        self.wake()

    def fail(self, seat: TableSeat, request: int, message: str) -> None:
        """The bot has failed; the default is sent."""
        self._statistics.failures += 1
        self.mishap(seat, f"{message}; the default is played")
        self._decide_default(seat, request)

    def hurry(self, seat: TableSeat, request: int) -> None:
        """Time is almost up; the default is sent, so that it does not count as a timeout."""
        if seat.request == request:
            self._statistics.late_defaults += 1
            self._say_once(f"the bot had not answered when its time was almost up; the default is played{_where(seat)}")
            self._decide_default(seat, request)

    def mishap(self, seat: TableSeat, message: str) -> None:
        """Something in the bot has raised; the same is said once."""
        self._say_once(message)

    def _decide_default(self, seat: TableSeat, request: int) -> None:
        if seat.request != request:
            self._statistics.dropped += 1
            return
        try:
            answer = seat.view.default()
        except IllegalAnswer:
            seat.close()  # the seat is not asked any more; what closed the request is on its way
            return
        except Exception as error:  # what the service told does not fit together, and nothing is legal
            seat.close()
            self._say_once(f"there is no answer to what the platform asks{_where(seat)}: {describe_error(error)}")
            return
        self.decide(seat, request, answer)

    def _record(self) -> pb.ClientRecord:
        if len(self._out.records) >= MOST_RECORDS:
            self._full.append(self._out)
            self._out = pb.PlayRequest()
        return self._out.records.add()

    def _say_once(self, message: str) -> None:
        if message not in self._said and len(self._said) < _MOST_SAID:
            self._said.add(message)
            self._say(message)

    # ---- what the service says

    def _event(self, table: int, number: int, event: Event) -> None:
        seat = self.seats.get(table)
        if seat is None:
            raise EventGap(f"an event of table {table}, where the bot has no seat")
        if seat.fold(number, event) and seat.sees:
            self._thinker.see(seat, event)

    def _other(self, kind: str, record: pb.ServerRecord) -> None:
        handle = _HANDLERS.get(kind)
        if handle is not None:
            handle(self, getattr(record, kind))

    def _seat(self, table: int, what: str) -> TableSeat:
        seat = self.seats.get(table)
        if seat is None:
            raise EventGap(f"{what} of table {table}, where the bot has no seat")
        return seat

    def _welcome(self, welcome: pb.Welcome) -> None:
        if welcome.protocol_version != PROTOCOL_VERSION:
            raise VersionMismatch(
                "REASON_VERSION_UNSUPPORTED",
                f"the server speaks version {welcome.protocol_version} of the protocol, this client {PROTOCOL_VERSION}",
            )
        if welcome.heartbeat_ms:
            self.heartbeat_s = min(max(welcome.heartbeat_ms / 1000, LEAST_HEARTBEAT_S), MOST_HEARTBEAT_S)
        self._unresumed = set(self.seats)
        self._awaited = welcome.resumed
        self._finish_welcome()

    def _finish_welcome(self) -> None:
        if self._awaited > 0 or self._unresumed is None:
            return
        # The service has named all seats the bot still has; the matches of the others ended meanwhile.
        for table in self._unresumed:
            self._end(self.seats[table], MatchResult(False, (), "the match ended while the connection was down"))
        self._unresumed = None
        self.is_welcome = True

    def _seated(self, seated: pb.Seated) -> None:
        if seated.table in self.seats:
            return
        seat = TableSeat(seated)
        self.seats[seat.table] = seat
        self._thinker.begin(seat)

    def _resumed(self, resumed: pb.Resumed) -> None:
        table = resumed.seated.table
        seat = self.seats.get(table)
        if seat is None or seat.seating.match_id != resumed.seated.match_id:
            if seat is not None:
                self._end(seat, MatchResult(False, (), "the match ended while the connection was down"))
            seat = TableSeat(resumed.seated)
            self.seats[table] = seat
            self._thinker.begin(seat)
        elif resumed.ready_expected and seat.is_ready:
            self.ready(seat)
        self._thinker.restart(seat, seat.restart(resumed))
        if resumed.HasField("request"):
            self._request(resumed.request)
        if self._unresumed is not None:
            self._unresumed.discard(table)
            self._awaited -= 1
            self._finish_welcome()

    def _request(self, request: pb.Request) -> None:
        seat = self._seat(request.table, "a request")
        seat.open(request)
        self._thinker.ask(seat)

    def _charged(self, charged: pb.Charged) -> None:
        statistics = self._statistics
        statistics.charged_us += charged.charged_us
        statistics.most_charged_us = max(statistics.most_charged_us, charged.charged_us)
        seat = self.seats.get(charged.table)
        if charged.timed_out:
            statistics.timeouts += 1
            if seat is not None:
                self._say_once(f"an answer came too late{_where(seat)}; the platform played the default")
        if seat is not None and seat.request == charged.request:
            seat.close()

    def _rejected(self, rejected: pb.Rejected) -> None:
        self._statistics.rejected += 1
        self._say_once(f"the platform refused an answer ({rejected.refusal}): {rejected.message}")
        seat = self.seats.get(rejected.table)
        if seat is None or not rejected.retry or seat.retried or rejected.request != seat.last_request:
            return
        # What this side holds legal has been refused, so no answer of the bot is tried again: the default is legal.
        seat.retried = True
        seat.request = rejected.request
        seat.view.answered = False
        self._decide_default(seat, rejected.request)

    def _taken_over(self, taken_over: pb.TakenOver) -> None:
        seat = self.seats.get(taken_over.table)
        if seat is not None and not seat.is_taken_over:
            self._statistics.takeovers += 1
            seat.is_taken_over = True
            seat.close()
            self._say(f"a house bot plays on{_where(seat)}, after too many timeouts in a row")

    def _match_ended(self, ended: pb.MatchEnded) -> None:
        counts = ended.ending in _COUNTED
        if counts:
            self._statistics.matches += 1
        else:
            self._statistics.void_matches += 1
        seat = self.seats.get(ended.table)
        if seat is not None:
            self._end(seat, MatchResult(counts, points_from_proto(ended), ended.message))

    def _end(self, seat: TableSeat, result: MatchResult) -> None:
        seat.close()
        del self.seats[seat.table]
        self._thinker.end(seat, result)

    def _draining(self, draining: pb.Draining) -> None:
        self.draining = True
        self._say(f"the match service is about to stop, within {draining.grace_ms / 1000:g} s")

    def _closing(self, closing: pb.Closing) -> None:
        known = reason_pb2.Reason.DESCRIPTOR.values_by_number.get(closing.reason)
        metadata = {"retry_after_ms": str(closing.retry_after_ms)} if closing.retry_after_ms else {}
        raise make_refused(known.name if known else f"REASON_{closing.reason}", closing.message, metadata)

    def _heartbeat(self, _: pb.Heartbeat) -> None:
        """That it came is all it says."""


_MOST_SAID = 100


def _where(seat: TableSeat) -> str:
    return f" at table {seat.table}"


_HANDLERS: dict[str, Callable[[PlaySession, Any], None]] = {
    "welcome": PlaySession._welcome,
    "seated": PlaySession._seated,
    "request": PlaySession._request,
    "charged": PlaySession._charged,
    "rejected": PlaySession._rejected,
    "match_ended": PlaySession._match_ended,
    "resumed": PlaySession._resumed,
    "heartbeat": PlaySession._heartbeat,
    "draining": PlaySession._draining,
    "closing": PlaySession._closing,
    "taken_over": PlaySession._taken_over,
}
