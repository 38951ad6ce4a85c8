"""The `Play` stream: decodes what bots send, hands it to the floor, writes what their sessions hold.

One reader and one writer per stream, and no timeout around either (a timeout around a read ends the stream). Messages
pass gRPC as bytes: what cannot be decoded gets a typed error, and what is sent was encoded record by record.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

import grpc
import grpc.aio
from google.protobuf.message import DecodeError

from baohuang.error.v1 import reason_pb2
from baohuang.match.v1 import match_service_pb2 as pb
from services.common.buckets import Buckets, Rate
from services.common.clock import Clock
from services.common.errors import PlatformError, Reason, verify_size
from services.common.metrics import MatchMetrics
from services.common.peers import peer_of
from services.common.tickets import Ticket, verify_ticket
from services.common.version import PROTOCOL_VERSION, RULES_VERSION, SERVER_VERSION
from services.match.conduct import BROKEN_COST, EMPTY_COST, RETRY_S, Conduct, make_strangers, rate_limited
from services.match.floor import Floor
from services.match.sessions import Farewell, Session, SessionTerms
from services.match.wire import encode_record

SERVICE_NAME = "baohuang.match.v1.MatchService"
HELLO_S = 10.0
"""How long a new stream may take to say hello."""
RECORDS_LIMIT = 20_000
"""The most records of one message: everybody waits while they are gone through, and a few bytes suffice for one."""
HELLO_BYTES = 1 << 14
"""The largest hello, ten times what it holds: who says it is not known yet, and nobody is charged for reading it."""
STUCK = Rate(per_second=1 / 60, burst=8)
"""Streams of one bot that end while a message waits which its client gives no leave to send: gRPC cannot end these, and
keeps such a message until the connection ends. Wires that break leave one now and then."""
FAREWELL_S = 0.5
"""How long a stream stays open after the record that says why it is closed."""

_Context = grpc.aio.ServicerContext[Any, Any]
_HEARTBEAT = encode_record(pb.Heartbeat())


@dataclass(frozen=True, slots=True)
class ServicerTerms:
    """What holds for every stream of one match service."""

    name: str
    ticket_key: bytes = field(repr=False)
    heartbeat_s: float
    window: int
    message_limit: int


def match_handlers(servicer: MatchServicer) -> grpc.GenericRpcHandler:
    """The service's handlers: bytes in, bytes out."""
    play: grpc.RpcMethodHandler[Any, Any] = grpc.stream_stream_rpc_method_handler(servicer.play)
    handlers: grpc.GenericRpcHandler = grpc.method_handlers_generic_handler(SERVICE_NAME, {"Play": play})
    return handlers


class MatchServicer:
    """The streams of bots."""

    def __init__(self, floor: Floor, terms: ServicerTerms, metrics: MatchMetrics, clock: Clock) -> None:
        self._floor = floor
        self._terms = terms
        self._metrics = metrics
        self._clock = clock
        self._strangers = make_strangers()
        self._stuck: Buckets[str] = Buckets(STUCK)

    async def play(self, _requests: object, context: _Context) -> None:
        """One stream, from hello to its end."""
        with self._strangers.place(peer_of(context.peer())):
            hello = await self._hello(context)
        ticket = self._admit(hello)
        now = self._clock.monotonic()
        if (wait := self._stuck.wait(ticket.bot_id, now)) > 0.0:
            raise rate_limited("too many streams of the bot could not be ended because it does not read", wait)
        conduct = self._floor.conduct_of(ticket.bot_id, now)
        conduct.come(now, len(self._floor.seats_of(ticket.bot_id)))
        stream = _Stream(self._terms, context, self._floor, self._metrics, self._clock)
        session = stream.open(hello, ticket, conduct)
        try:
            await stream.run()
        except PlatformError:  # otherwise the client has ended it
            if stream.is_writing:
                self._stuck.try_take(ticket.bot_id, self._clock.monotonic())
            raise
        finally:
            self._floor.leave(session, self._clock.monotonic())

    @property
    def strangers(self) -> int:
        """How many streams have not said hello."""
        return len(self._strangers)

    async def _hello(self, context: _Context) -> pb.Hello:
        try:
            async with asyncio.timeout(HELLO_S):
                data = await context.read()
        except TimeoutError:
            raise PlatformError(Reason.HELLO_EXPECTED, f"nothing was said within {HELLO_S:g} s") from None
        if data is grpc.aio.EOF:
            raise PlatformError(Reason.HELLO_EXPECTED, "the stream ended before hello")
        message = decode_message(data, min(HELLO_BYTES, self._terms.message_limit))
        if len(message.records) != 1 or message.records[0].WhichOneof("record") != "hello":
            raise PlatformError(Reason.HELLO_EXPECTED, "the first message of a stream holds hello and nothing else")
        return message.records[0].hello

    def _admit(self, hello: pb.Hello) -> Ticket:
        if hello.protocol_version != PROTOCOL_VERSION:
            raise PlatformError(
                Reason.VERSION_UNSUPPORTED,
                f"protocol version {hello.protocol_version} is not spoken here; version {PROTOCOL_VERSION} is",
                supported=str(PROTOCOL_VERSION),
            )
        ticket = verify_ticket(self._terms.ticket_key, hello.ticket, self._terms.name, self._clock.now())
        self._floor.ended_tokens.verify(ticket)
        if hello.tables < 1:
            raise PlatformError(
                Reason.MALFORMED, "hello.tables is 0; a bot takes at least 1 table", field="hello.tables"
            )
        return ticket


def decode_message(data: bytes, limit: int) -> pb.PlayRequest:
    """What a client sent, in at most `limit` bytes.

    Raises:
        PlatformError: the bytes are too many, are no `PlayRequest`, or one with too many records.
    """
    verify_size(len(data), limit)
    try:
        message = pb.PlayRequest.FromString(data)
    except DecodeError:
        raise PlatformError(Reason.MALFORMED, "the message is no PlayRequest") from None
    if len(message.records) > RECORDS_LIMIT:
        raise PlatformError(
            Reason.TOO_LARGE,
            f"the message holds {len(message.records)} records; at most {RECORDS_LIMIT} are read at once",
            limit=str(RECORDS_LIMIT),
        )
    return message


class _Stream:
    """One stream: reader, writer, heartbeat."""

    def __init__(
        self, terms: ServicerTerms, context: _Context, floor: Floor, metrics: MatchMetrics, clock: Clock
    ) -> None:
        self._terms = terms
        self._context = context
        self._floor = floor
        self._metrics = metrics
        self._clock = clock
        self._something = asyncio.Event()
        self.is_writing = False
        """A message is on its way into gRPC; still so at the end, it was never taken."""
        self._session: Session
        self._conduct: Conduct

    def open(self, hello: pb.Hello, ticket: Ticket, conduct: Conduct) -> Session:
        """The session of the stream, known to the floor from here on."""
        floor = self._floor
        now = self._clock.monotonic()
        terms = SessionTerms(
            bot_id=ticket.bot_id,
            name=ticket.bot_name,
            tables=min(hello.tables, ticket.tables),
            list_legal=hello.list_legal,
            window=self._terms.window,
            token_since=ticket.token_since,
        )
        session = Session(terms, floor.seats_of(ticket.bot_id), now, self._something.set, floor.wait)
        self._session = session
        self._conduct = conduct
        session.push_now(
            encode_record(
                pb.Welcome(
                    protocol_version=PROTOCOL_VERSION,
                    server=SERVER_VERSION,
                    rules_version=RULES_VERSION,
                    heartbeat_ms=int(self._terms.heartbeat_s * 1000),
                    window=terms.window,
                    tables=terms.tables,
                    message_limit=self._terms.message_limit,
                    resumed=len(session.seats),
                )
            )
        )
        floor.enter(session, now)
        return session

    async def run(self) -> None:
        """Reads and writes until either side ends the stream.

        Raises:
            PlatformError: why this side ends it.
        """
        reader = asyncio.create_task(self._read())
        writer = asyncio.create_task(self._write())
        heart = asyncio.create_task(self._beat())
        tasks = (reader, writer, heart)
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
            if self._session.farewell is not None:
                raise self._session.farewell.error
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _read(self) -> None:
        context, clock, session = self._context, self._clock, self._session
        while True:
            data = await context.read()
            if data is grpc.aio.EOF:
                return
            # After a farewell nothing is listened to any more.
            if session.farewell is None:
                self._take(data, clock.monotonic())

    def _take(self, data: bytes, now: float) -> None:
        """A message of the client."""
        floor, session = self._floor, self._session
        floor.observe(now)
        try:
            message = decode_message(data, self._terms.message_limit)
        except PlatformError:
            self._conduct.waste(now, BROKEN_COST)
            raise
        self._metrics.messages_received += 1
        records = message.records
        if not session.heard(now, message.confirmed) and not records:
            self._wasted(now, EMPTY_COST)
        for record in records:
            kind = record.WhichOneof("record")
            if kind == "decision":
                useful = floor.decide(session, record.decision, now)
            elif kind == "ready":
                useful = floor.ready(session, record.ready.table, now)
            elif kind == "hello":
                raise PlatformError(Reason.HELLO_EXPECTED, "hello was said twice on one stream")
            else:
                useful = False
            if not useful and self._wasted(now):
                return

    def _wasted(self, now: float, cost: int = 1) -> bool:
        """Something came in vain; True if the bot has to go because of it."""
        if not self._conduct.waste(now, cost):
            return False
        self._session.close(
            Farewell(Reason.RATE_LIMITED, "the client sent too much that nobody had asked for", retry_after=RETRY_S)
        )
        return True

    async def _write(self) -> None:
        context, clock, floor, session, something = (
            self._context,
            self._clock,
            self._floor,
            self._session,
            self._something,
        )
        while session.farewell is None:
            await something.wait()
            something.clear()
            # Whatever else becomes ready in this turn of the loop leaves with it: the event wakes us a turn later.
            message = session.take(clock.monotonic(), floor.lag.total)
            if message is not None:
                self._metrics.messages_sent += 1
                self.is_writing = True
                await context.write(message)
                self.is_writing = False
        await self._say_farewell(session.farewell)

    async def _say_farewell(self, farewell: Farewell) -> None:
        closing = pb.Closing(
            reason=reason_pb2.Reason.ValueType(farewell.reason),
            message=farewell.message,
            retry_after_ms=int(farewell.retry_after * 1000),
        )
        self.is_writing = True
        await self._context.write(encode_record(closing))
        self.is_writing = False
        self._floor.leave(self._session, self._clock.monotonic())
        # A client that is just writing when the stream ends may lose what it has not read.
        await asyncio.sleep(FAREWELL_S)
        raise farewell.error

    async def _beat(self) -> None:
        interval = self._terms.heartbeat_s
        while True:
            await asyncio.sleep(interval / 2)
            farewell = self._session.farewell
            if farewell is not None:
                # The writer is stuck in a write that the client does not read; it cannot say why any more.
                raise farewell.error
            if self._clock.monotonic() - self._session.sent_at >= interval / 2:
                self._session.push_now(_HEARTBEAT)
