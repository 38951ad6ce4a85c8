"""A target that plays on a real match service without a wire: whatever a bot sends, the stream ends in a typed status.

Two matches of one bot against four house bots, without clocks. The bot plays as it should, for a while, and then sends
what it should not: before hello, before it is ready, in every phase of a deal.
"""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta
from random import Random
from typing import Any

import grpc.aio

from baohuang.match.v1 import match_service_pb2 as pb
from bots_sdk.convert import answer_to_proto, event_from_proto, options_from_proto
from bots_sdk.house import make_house_bot
from bots_sdk.rules.profiles import PROFILES
from bots_sdk.rules.view import View
from services.common.clock import SystemClock
from services.common.errors import PlatformError, Reason
from services.common.matches import ClockRules, Entrant, FaultRules, IllegalPolicy, MatchOrder
from services.common.metrics import MatchMetrics
from services.common.tickets import Ticket, issue_ticket
from services.match.service import MatchService, MatchServiceSettings
from services.match.servicer import MatchServicer, ServicerTerms

from .inputs import fill, random_message, spoilt
from .registry import target

KEY = b"k" * 32
BOT = "bot-1"
MOST_MESSAGES = 60
STREAMS = 3
"""One after another: what the next one is told begins with what the one before did."""


class Wire:
    """gRPC's side of a stream, as the servicer sees it: what is read is made up when it is asked for."""

    def __init__(self, rng: Random, data: bytes) -> None:
        self.views: dict[int, View] = {}
        self.told: list[pb.ServerRecord] = []
        self._rng = rng
        self._data = data
        self._bot = make_house_bot("random", rng.randrange(2**32))
        self._read = self._sent = 0
        self._turns_bad = rng.choice((0, 0, 1, 2, 3, 5, 10, 30, 50))
        self._news = asyncio.Event()

    def peer(self) -> str:
        return f"ipv4:127.0.0.1:{self._rng.randrange(1024, 65536)}"

    async def write(self, data: bytes) -> None:
        self._read += 1
        for record in pb.PlayResponse.FromString(data).records:
            self.told.append(record)
            self._take(record)
        self._news.set()

    async def read(self) -> Any:
        if self._sent >= MOST_MESSAGES:
            return grpc.aio.EOF
        good = self._good()
        if self._sent < self._turns_bad:
            while not good.records and self._sent:  # nothing to say: wait until there is
                self._news.clear()
                try:
                    async with asyncio.timeout(0.02):
                        await self._news.wait()
                except TimeoutError:  # the match is over, or nothing was confirmed
                    self._turns_bad = 0
                    break
                good = self._good()
            self._sent += 1
            return good.SerializeToString()
        self._sent += 1
        await asyncio.sleep(0)
        return self._bad(good)

    def _good(self) -> pb.PlayRequest:
        """What an honest bot would send now."""
        message = pb.PlayRequest(confirmed=self._read)
        if not self._sent:
            ends = SystemClock().now() + timedelta(minutes=1)
            ticket = issue_ticket(KEY, Ticket(BOT, BOT, "m1", 3, ends))
            hello = pb.Hello(ticket=ticket, protocol_version=1, tables=3, list_legal=self._rng.random() < 0.3)
            message.records.add(hello=hello)
        told, self.told = self.told, []
        for record in told:
            kind = record.WhichOneof("record")
            if kind == "seated":
                message.records.add(ready=pb.Ready(table=record.seated.table))
            elif kind == "resumed" and record.resumed.ready_expected:
                message.records.add(ready=pb.Ready(table=record.resumed.seated.table))
            asked = record.resumed.request if kind == "resumed" else record.request
            if asked.request and self.views[asked.table].legal():
                answer = answer_to_proto(self._bot.answer(self.views[asked.table]))
                message.records.add(decision=pb.Decision(table=asked.table, request=asked.request, answer=answer))
        return message

    def _take(self, record: pb.ServerRecord) -> None:
        kind = record.WhichOneof("record")
        if kind == "seated":
            self.views[record.seated.table] = View(options_from_proto(record.seated.options), record.seated.seat)
        elif kind == "resumed":
            seated = record.resumed.seated
            view = self.views[seated.table] = View(options_from_proto(seated.options), seated.seat)
            for event in record.resumed.events:
                view.apply(event_from_proto(event))
        elif kind == "event":
            self.views[record.event.table].apply(event_from_proto(record.event))

    def _bad(self, good: pb.PlayRequest) -> bytes:
        rng, data = self._rng, good.SerializeToString()
        luck = rng.random()
        if luck < 0.03:
            return self._data
        if luck < 0.06:
            return spoilt(data, rng)
        if self._sent == 1:
            return data if luck < 0.7 else self._distorted(good)
        return self._random() if luck < 0.2 else self._distorted(good)

    def _random(self) -> bytes:
        """Records with anything in them; mostly without a second hello, which would end the stream."""
        rng = self._rng
        message = random_message(pb.PlayRequest, rng)
        keep_hello = rng.random() < 0.1
        kept = [record for record in message.records if keep_hello or record.WhichOneof("record") != "hello"]
        return pb.PlayRequest(records=kept, confirmed=rng.choice((self._read, message.confirmed))).SerializeToString()

    def _distorted(self, good: pb.PlayRequest) -> bytes:
        """What an honest bot would say with some fields changed, and some decisions nobody asked for."""
        rng = self._rng
        for record in good.records:
            kind = record.WhichOneof("record")
            if kind is not None and rng.random() < 0.5:
                fill(getattr(record, kind), rng)
                if kind != "hello":
                    getattr(record, kind).table = rng.choice((1, 1, 1, 2, 0, 2**32 - 1))
        if self._sent > 1:
            for _ in range(rng.choice((0, 1, 1, 3, 40))):
                decision = good.records.add().decision
                fill(decision, rng)
                decision.table = rng.choice((1, 2))
                decision.request = rng.choice((1, 2, 3, decision.request, 2**32 - 1))
        return good.SerializeToString()


class _Errors(logging.Handler):
    """Keeps what is logged as an error: a table that was given up, for example."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


def _order(number: int, rng: Random) -> MatchOrder:
    house = Entrant("house:greedy", "house:greedy")
    seats = [house, house, house, house, house]
    seats[rng.randrange(5)] = Entrant(BOT, BOT)
    return MatchOrder(
        tournament="t",
        number=number,
        attempt=f"a{number}",
        seats=(seats[0], seats[1], seats[2], seats[3], seats[4]),
        options=PROFILES[rng.choice(list(PROFILES))],
        deals=1,
        secret=rng.randbytes(32),
        nonce=bytes(16),
        clock=ClockRules(limit=None),
        faults=FaultRules(illegal=rng.choice(list(IllegalPolicy))),
    )


@target(b"", b"\x00", pb.PlayRequest(records=[pb.ClientRecord(ready=pb.Ready(table=1))]).SerializeToString())
def play_streams(data: bytes) -> None:
    errors = _Errors()
    log = logging.getLogger("services.match")
    log.addHandler(errors)
    try:
        asyncio.run(_play(data))
    finally:
        log.removeHandler(errors)
    for record in errors.records:
        raise AssertionError(record.getMessage()) from (record.exc_info[1] if record.exc_info else None)


async def _play(data: bytes) -> None:
    rng = Random(data)
    metrics, clock = MatchMetrics(), SystemClock()
    service = MatchService(MatchServiceSettings(name="m1", ticket_key=KEY), metrics, clock)
    await service.submit([_order(number, rng) for number in range(2)])
    terms = ServicerTerms(name="m1", ticket_key=KEY, heartbeat_s=60.0, window=1, message_limit=1 << 20)
    servicer = MatchServicer(service.floor, terms, metrics, clock)
    for _ in range(STREAMS):
        wire: Any = Wire(rng, data)
        try:
            async with asyncio.timeout(60):
                await servicer.play(None, wire)
        except PlatformError as refused:
            assert refused.reason is not Reason.INTERNAL, refused  # noqa: PT017 - any other exception is a finding
    for _, outcome in service.floor.inboxes.unconfirmed("t", 0):
        assert "fault of the platform" not in outcome.message
