"""A bot that speaks the protocol by hand, so that it can also speak it wrongly. On purpose not the SDK."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from typing import Any

import grpc.aio
from google.rpc import error_details_pb2, status_pb2

from baohuang.match.v1 import match_service_pb2 as pb
from bots_sdk.bot import Bot
from bots_sdk.client.duplex import Duplex
from bots_sdk.convert import answer_to_proto, event_from_proto, options_from_proto
from bots_sdk.convert.varints import delimited, field_number
from bots_sdk.errors import Unreachable
from bots_sdk.house import make_house_bot
from bots_sdk.rules.profiles import make_options
from bots_sdk.rules.view import View
from services.common.clock import SystemClock
from services.common.matches import ClockRules, Entrant, FaultRules, MatchOrder
from services.common.metrics import MatchMetrics
from services.common.tickets import Ticket, issue_ticket
from services.match.service import MatchService, MatchServiceSettings

KEY = b"k" * 32
PLAY = "/baohuang.match.v1.MatchService/Play"
_RECORDS = field_number(pb.PlayRequest, "records")
_DECISION = field_number(pb.ClientRecord, "decision")


def ticket_for(bot_id: str, *, service: str = "m1", tables: int = 100, key: bytes = KEY, seconds: float = 60) -> str:
    ends = SystemClock().now() + timedelta(seconds=seconds)
    return issue_ticket(key, Ticket(bot_id, bot_id, service, tables, ends))


def order_of(
    *bots: str, attempt: str = "a1", clock: ClockRules | None = None, faults: FaultRules | None = None, deals: int = 1
) -> MatchOrder:
    seats = [Entrant(bot, bot) for bot in bots] + [Entrant("house:random", "house:random")] * (5 - len(bots))
    return MatchOrder(
        tournament="t",
        number=0,
        attempt=attempt,
        seats=(seats[0], seats[1], seats[2], seats[3], seats[4]),
        options=make_options("qingdao", {}),
        deals=deals,
        secret=attempt.encode().ljust(32, b"-"),
        nonce=b"n" * 16,
        clock=clock or ClockRules(),
        faults=faults or FaultRules(),
    )


Said = pb.Decision | bytes | None
"""What a bot says to a request: a decision, the bytes of one, or nothing."""


class RawBot:
    """One stream. `on_request` makes the decision for a request."""

    def __init__(self, address: str, bot_id: str) -> None:
        self.address = address
        self.bot_id = bot_id
        self.records: list[pb.ServerRecord] = []
        self.views: dict[int, View] = {}
        self.read = 0
        self.confirms = True
        self.says_ready = True
        self.on_request: Callable[[RawBot, pb.Request], Said] = RawBot.honest
        self.is_reading = True
        self.ended = asyncio.Event()
        self._news = asyncio.Event()
        self._writing = asyncio.Lock()
        self._last: dict[int, pb.Request] = {}
        self.over: list[pb.MatchEnded] = []
        self._channel = grpc.aio.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)])
        self._call = duplex(self._channel, address)
        self._houses: dict[int, Bot] = {}
        self._bytes: list[bytes] = []
        self._task: asyncio.Task[None] | None = None
        self._end: grpc.aio.AioRpcError | None = None

    def encoded_hello(self) -> bytes:
        """A message that opens a stream."""
        hello = pb.Hello(ticket=ticket_for(self.bot_id), protocol_version=1, tables=100)
        return pb.PlayRequest(records=[pb.ClientRecord(hello=hello)]).SerializeToString()

    async def hello(self, ticket: str | None = None, **fields: Any) -> None:
        """Says hello and starts to play."""
        hello = pb.Hello(ticket=ticket_for(self.bot_id) if ticket is None else ticket, protocol_version=1, tables=100)
        for name, value in fields.items():
            setattr(hello, name, value)
        await self.send(pb.ClientRecord(hello=hello))
        if self.is_reading:
            self.start()

    def start(self) -> None:
        self._task = asyncio.create_task(self._run())

    async def send(self, *records: pb.ClientRecord) -> None:
        await self.send_bytes(pb.PlayRequest(records=records, confirmed=self.read).SerializeToString())

    async def send_bytes(self, data: bytes) -> None:
        async with self._writing:
            await self._call.write(data)

    def stop_reading(self) -> None:
        """Reads nothing more, says nothing more; the wire stays. To cancel a read would end the stream."""
        self.is_reading = False

    async def close(self) -> None:
        """Breaks the wire without a word."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        await self._channel.close()

    async def refusal(self) -> tuple[grpc.StatusCode, str, str]:
        """Code, reason and message of the status that ended the stream."""
        if self._task is None:
            self.start()
        async with asyncio.timeout(60):
            await self.ended.wait()
        assert self._end is not None, "the stream ended without a status"
        status, info = _details(self._end)
        return self._end.code(), info.reason, status.message

    def honest(self, request: pb.Request) -> pb.Decision | None:
        """A random legal answer, the same whenever the same match is played."""
        answer = self._houses[request.table].answer(self.views[request.table])
        return pb.Decision(table=request.table, request=request.request, answer=answer_to_proto(answer))

    def kinds(self) -> list[str]:
        return [record.WhichOneof("record") or "" for record in self.records]

    async def until(self, kind: str, seconds: float = 60, times: int = 1) -> pb.ServerRecord:
        """Waits until so many records of a kind are here; the first of them."""
        async with asyncio.timeout(seconds):
            while self.kinds().count(kind) < times:
                self._news.clear()
                await self._news.wait()
        return next(record for record in self.records if record.WhichOneof("record") == kind)

    async def _run(self) -> None:
        with contextlib.suppress(Unreachable):
            while data := await self._read():
                if not self.is_reading:
                    await asyncio.Event().wait()
                self.read += 1
                records = pb.PlayResponse.FromString(data).records
                said = [answer for record in records if (answer := self._take(record)) is not None]
                if self.confirms:
                    message = pb.PlayRequest(records=said, confirmed=self.read).SerializeToString()
                    # A write fails once the stream is over; what was said before is still to be read.
                    with contextlib.suppress(Unreachable):
                        await self.send_bytes(message + b"".join(self._bytes))
                    self._bytes.clear()
        self.ended.set()

    async def _read(self) -> bytes | None:
        try:
            return await self._call.read()
        except grpc.aio.AioRpcError as error:
            self._end = error
            return None

    def _take(self, record: pb.ServerRecord) -> pb.ClientRecord | None:
        self.records.append(record)
        self._news.set()
        kind = record.WhichOneof("record")
        if kind == "seated":
            seated = record.seated
            self._sit(seated)
            if self.says_ready:
                return pb.ClientRecord(ready=pb.Ready(table=seated.table))
        elif kind == "resumed":
            return self._resume(record.resumed)
        elif kind == "event":
            self.views[record.event.table].apply(event_from_proto(record.event))
        elif kind == "request":
            self._last[record.request.table] = record.request
            return self._answer(record.request)
        elif kind == "rejected" and record.rejected.retry:
            return self._answer(self._last[record.rejected.table])
        elif kind == "match_ended":
            self.over.append(record.match_ended)
        return None

    def _resume(self, resumed: pb.Resumed) -> pb.ClientRecord | None:
        seated = resumed.seated
        view = self._sit(seated)
        for event in resumed.events:
            view.apply(event_from_proto(event))
        if resumed.ready_expected:
            return pb.ClientRecord(ready=pb.Ready(table=seated.table))
        return self._answer(resumed.request) if resumed.HasField("request") else None

    def _sit(self, seated: pb.Seated) -> View:
        view = self.views[seated.table] = View(options_from_proto(seated.options), seated.seat)
        self._houses[seated.table] = make_house_bot("random", f"{self.bot_id}/{seated.match_id}")
        return view

    def _answer(self, request: pb.Request) -> pb.ClientRecord | None:
        decision = self.on_request(self, request)
        if isinstance(decision, bytes):
            self._bytes.append(delimited(_RECORDS, delimited(_DECISION, decision)))
            return None
        return None if decision is None else pb.ClientRecord(decision=decision)


def duplex(channel: grpc.aio.Channel, address: str, **options: Any) -> Duplex:
    """A stream that nothing has been said on; gRPC's own calls forget at times why they were ended."""
    call: Any = channel.stream_stream(PLAY)(**options)
    return Duplex(call, address)


def _details(error: grpc.aio.AioRpcError) -> tuple[status_pb2.Status, error_details_pb2.ErrorInfo]:
    trailing = dict(error.trailing_metadata() or ())
    status = status_pb2.Status.FromString(trailing["grpc-status-details-bin"])
    info = error_details_pb2.ErrorInfo()
    status.details[0].Unpack(info)
    return status, info


def reason_of(error: grpc.aio.AioRpcError) -> str:
    """The reason that a call was refused with."""
    return _details(error)[1].reason


class Arena:
    """A real match service on loopback, and raw bots for it."""

    def __init__(self, service: MatchService, address: str, metrics: MatchMetrics) -> None:
        self.service = service
        self.address = address
        self.metrics = metrics
        self.bots: dict[str, RawBot] = {}

    def bot(self, bot_id: str, address: str = "") -> RawBot:
        bot = RawBot(address or self.address, bot_id)
        self.bots[f"{bot_id}/{len(self.bots)}"] = bot
        return bot

    async def honest(self, *bot_ids: str) -> list[RawBot]:
        bots = [self.bot(bot_id) for bot_id in bot_ids]
        for bot in bots:
            await bot.hello()
        return bots

    def refusals(self, reason: str) -> float:
        """How many calls were refused for a reason."""
        families = {family.name: family for family in self.metrics.collect()}
        samples = families["baohuang_calls_refused"].samples
        return next(sample.value for sample in samples if sample.labels["reason"] == reason)

    async def outcome(self, seconds: float = 60) -> Any:
        found = await self.service.collect("t", 0, seconds)
        assert found, "no match has ended"
        return found[0][1]


@contextlib.asynccontextmanager
async def arena(**settings: Any) -> AsyncIterator[Arena]:
    """A match service that is stopped at the end."""
    metrics = MatchMetrics()
    service = MatchService(MatchServiceSettings(**({"name": "m1"} | settings), ticket_key=KEY), metrics, SystemClock())
    address = await service.start()
    here = Arena(service, address, metrics)
    try:
        yield here
    finally:
        for bot in here.bots.values():
            await bot.close()
        await service.stop()
