"""The baseline with one unary call per decision, on the floor of a real match service.

A call carries the decision of one seat, and comes back with the next request of that seat and all that happened
before it: one call for each decision, and nothing is sent by itself. A bot that sits at many tables is as many callers,
each of which waits for the next request of its seat.
"""

from __future__ import annotations

import asyncio
from typing import Any

import grpc
import grpc.aio

from baohuang.match.v1 import match_service_pb2 as pb
from benchmarks.match.offline import nothing
from services.common.clock import SystemClock
from services.match.service import MatchService
from services.match.sessions import Session, SessionTerms

NAME = "baohuang.benchmark.Unary"
DECIDE = f"/{NAME}/Decide"
# By default a server turns calls away when a thousand of them are waiting to be looked at.
_OPTIONS = [
    ("grpc.so_reuseport", 0),
    ("grpc.server.max_pending_requests", 1 << 20),
    ("grpc.server.max_pending_requests_hard_limit", 1 << 20),
]


class UnaryBaseline:
    """Serves the unary calls, on a port of their own."""

    def __init__(self, service: MatchService) -> None:
        self._floor = service.floor
        self._clock = SystemClock()
        self._sessions: dict[str, tuple[Session, asyncio.Event]] = {}
        self._server: grpc.aio.Server | None = None

    async def start(self) -> str:
        """Begins to listen; returns HOST:PORT."""
        decide: Any = grpc.unary_unary_rpc_method_handler(self._decide)
        server = self._server = grpc.aio.server(options=_OPTIONS)
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(NAME, {"Decide": decide}),))
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        return f"127.0.0.1:{port}"

    async def _decide(self, data: bytes, context: grpc.aio.ServicerContext[Any, Any]) -> bytes:
        floor, clock = self._floor, self._clock
        session, asked = self._session(context)
        message = pb.PlayRequest.FromString(data)
        now = clock.monotonic()
        floor.observe(now)
        # Credit wakes the session for whatever is there; only what cannot wait is worth a message here.
        already = asked.is_set()
        session.heard(now, message.confirmed)
        if not already:
            asked.clear()
        for record in message.records:
            kind = record.WhichOneof("record")
            if kind == "decision":
                floor.decide(session, record.decision, now)
            elif kind == "ready":
                floor.ready(session, record.ready.table, now)
        while True:
            await asked.wait()
            asked.clear()
            answer = session.take(clock.monotonic(), floor.lag.total)
            if answer is not None:
                return answer

    def _session(self, context: grpc.aio.ServicerContext[Any, Any]) -> tuple[Session, asyncio.Event]:
        name = str(dict(context.invocation_metadata() or ())["bot"])
        found = self._sessions.get(name)
        if found is None:
            asked = asyncio.Event()
            terms = SessionTerms(name, name, tables=1, list_legal=False, window=1)
            now = self._clock.monotonic()
            session = Session(terms, self._floor.seats_of(name), now, asked.set, nothing)
            found = self._sessions[name] = (session, asked)
            self._floor.enter(session, now)
        return found
