"""The match service under a benchmark, in a process of its own, with tables that are filled again when they end.

Beside the real `Play` stream it offers the baseline: the same floor, tables and rules with one unary call per decision.
A unary call carries one bot's decision and returns with the bot's next request and the events before it.
"""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing.connection import Connection
from typing import Any

import grpc
import grpc.aio

from baohuang.match.v1 import match_service_pb2 as pb
from bots_sdk.rules.profiles import make_options
from services.common.clock import SystemClock
from services.common.matches import ClockRules, Entrant, MatchOrder
from services.common.metrics import MatchMetrics
from services.common.tickets import Ticket, issue_ticket
from services.match.service import MatchService, MatchServiceSettings
from services.match.sessions import Session, SessionTerms

KEY = b"benchmark-key-of-32-bytes-exactly"
PATIENCE = ClockRules(limit=timedelta(seconds=60), ready=timedelta(seconds=60))


@dataclass(frozen=True)
class Load:
    """So many bots at so many tables, over streams or with unary calls."""

    bots: int
    tables: int
    unary: bool = False
    window: int = 1


@dataclass(frozen=True)
class Reading:
    """What the server had done at some moment."""

    decisions: int
    messages: int
    cpu: float
    wall: float


class CountingMetrics(MatchMetrics):
    """Metrics that can be read by the benchmark."""

    def __init__(self) -> None:
        super().__init__()
        self.decisions = 0

    def decided(self, kind: int, seconds: float) -> None:
        self.decisions += 1
        super().decided(kind, seconds)

    def read(self) -> Reading:
        return Reading(self.decisions, self.messages_sent, time.process_time(), time.perf_counter())


class UnaryBaseline:
    """One unary call per decision, on the floor of a real match service."""

    def __init__(self, service: MatchService) -> None:
        self._floor = service.floor
        self._clock = SystemClock()
        self._sessions: dict[str, tuple[Session, asyncio.Event]] = {}

    def handlers(self) -> grpc.GenericRpcHandler:
        decide: Any = grpc.unary_unary_rpc_method_handler(self.decide)
        handlers: grpc.GenericRpcHandler = grpc.method_handlers_generic_handler(
            "baohuang.benchmark.Unary", {"Decide": decide}
        )
        return handlers

    async def decide(self, data: bytes, context: grpc.aio.ServicerContext[Any, Any]) -> bytes:
        floor, clock = self._floor, self._clock
        session, something = self._session(context)
        message = pb.PlayRequest.FromString(data)
        now = clock.monotonic()
        session.heard(now, message.confirmed)
        for record in message.records:
            kind = record.WhichOneof("record")
            if kind == "decision":
                floor.decide(session, record.decision, now)
            elif kind == "ready":
                floor.ready(session, record.ready.table, now)
        while (answer := session.take(clock.monotonic(), floor.lag)) is None:
            something.clear()
            await something.wait()
        return answer

    def _session(self, context: grpc.aio.ServicerContext[Any, Any]) -> tuple[Session, asyncio.Event]:
        name = str(dict(context.invocation_metadata() or ())["bot"])
        found = self._sessions.get(name)
        if found is None:
            something = asyncio.Event()
            terms = SessionTerms(name, name, tables=1, list_legal=False, window=1)
            now = self._clock.monotonic()
            session = Session(terms, self._floor.seats_of(name), now, something.set, lambda: None)
            found = self._sessions[name] = (session, something)
            self._floor.enter(session, now)
        return found


def bot_names(load: Load) -> list[str]:
    """Stream bots sit at many tables; a unary bot sits at one, so there is one for every seat."""
    if load.unary:
        return [f"u{table}-{seat}" for table in range(load.tables) for seat in range(5)]
    return [f"s{bot}" for bot in range(load.bots)]


def tickets_for(load: Load) -> list[str]:
    """One ticket for each stream bot."""
    ends = SystemClock().now() + timedelta(hours=1)
    return [issue_ticket(KEY, Ticket(name, name, "bench", load.tables, ends)) for name in bot_names(load)]


def order(load: Load, number: int) -> MatchOrder:
    """Match `number`: for unary bots always the same five at a table, for stream bots any five."""
    names = bot_names(load)
    table = number % load.tables
    chosen = names[5 * table : 5 * table + 5] if load.unary else random.Random(number).sample(names, 5)
    seats = [Entrant(name, name) for name in chosen]
    return MatchOrder(
        tournament="bench",
        number=number,
        attempt=str(number),
        seats=(seats[0], seats[1], seats[2], seats[3], seats[4]),
        options=make_options("qingdao", {}),
        deals=1,
        secret=number.to_bytes(32, "big"),
        nonce=bytes(16),
        clock=PATIENCE,
    )


async def _serve(load: Load, pipe: Connection) -> None:
    metrics = CountingMetrics()
    settings = MatchServiceSettings("bench", ticket_key=KEY, window=load.window, heartbeat_s=30)
    service = MatchService(settings, metrics, SystemClock())
    baseline = UnaryBaseline(service)
    address = await service.start(extra_handlers=(baseline.handlers(),))
    pipe.send(address)
    refill = asyncio.create_task(_keep_full(service, load))
    loop = asyncio.get_running_loop()
    while not refill.done():
        await loop.run_in_executor(None, pipe.recv)
        pipe.send((metrics.read(), metrics.tables_live, metrics.timeouts + metrics.illegal_answers))
    await refill


async def _keep_full(service: MatchService, load: Load) -> None:
    expected = bot_names(load)
    while await service.missing(expected, 60):
        pass
    await service.submit([order(load, number) for number in range(load.tables)])
    confirmed = 0
    while True:
        ended = await service.collect("bench", confirmed, 60)
        confirmed = max([confirmed, *(number for number, _ in ended)])
        # The next match at a table of unary bots is again one of the same five.
        await service.submit([order(load, outcome.number + load.tables) for _, outcome in ended])


def serve(load: Load, pipe: Connection) -> None:
    """The process: sends its address, then answers whatever it is asked with a reading, until it is killed."""
    asyncio.run(_serve(load, pipe))
