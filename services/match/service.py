"""The match service as one plain object: a gRPC server for bots, and the calls of a director."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import grpc
import grpc.aio
from grpc_health.v1 import health_pb2
from grpc_health.v1.health_pb2_grpc import add_HealthServicer_to_server

from services.common.clock import Clock
from services.common.errors import ErrorInterceptor, Reason, SetupError
from services.common.health import HealthServicer
from services.common.live_tls import LiveTls, listen
from services.common.matches import MatchOrder, MatchOutcome
from services.common.metrics import MatchMetrics
from services.common.peers import StreamsInterceptor
from services.common.requests import RequestsInterceptor
from services.common.revocation import revocation_interceptors
from services.common.targets import format_address
from services.common.tickets import TokenEnd
from services.common.wire_limits import MESSAGE_LIMIT, server_options
from services.match.floor import Floor
from services.match.riding import LOOK_S
from services.match.servicer import FAREWELL_S, SERVICE_NAME, MatchServicer, ServicerTerms, match_handlers
from services.match.sessions import Farewell

_log = logging.getLogger(__name__)

_PLAY = frozenset({f"/{SERVICE_NAME}/Play"})
"""Streams with bounds of their own."""

SWEEP_S = 0.02
TIDY_S = 0.5
GATHER_S = 0.25
"""How long a finished match may wait for others, to go to its director with them; a match takes seconds."""
STOP_S = FAREWELL_S + 1.5
"""How long the end waits for streams: those that read are gone after `FAREWELL_S`, on a busy machine somewhat later."""


@dataclass(frozen=True, slots=True)
class MatchServiceSettings:
    """How a match service runs. `port` 0 takes any free port; `window` is the most unconfirmed messages per stream."""

    name: str
    host: str = "127.0.0.1"
    port: int = 0
    ticket_key: bytes = field(default=b"", repr=False)
    heartbeat_s: float = 5.0
    window: int = 1
    message_limit: int = MESSAGE_LIMIT


class MatchService:
    """Seats bots, plays matches, hands outcomes to directors. All methods belong to one event loop."""

    def __init__(self, settings: MatchServiceSettings, metrics: MatchMetrics, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._floor = Floor(settings.name, clock, metrics, self)
        self._metrics = metrics
        self._server: grpc.aio.Server | None = None
        self._health = HealthServicer()
        self._tasks: list[asyncio.Task[None]] = []
        self._arrived: dict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._entered = asyncio.Event()
        self._idle = asyncio.Event()
        self._floor.inboxes.on_put = self._wake_collector

    @property
    def floor(self) -> Floor:
        """The tables."""
        return self._floor

    # ---- life

    async def start(self, extra_handlers: Sequence[grpc.GenericRpcHandler] = (), *, tls: LiveTls | None = None) -> str:
        """Begins to listen; returns HOST:PORT. `extra_handlers` are served beside the match service.

        Raises:
            SetupError: the port is taken.
        """
        settings = self._settings
        server = grpc.aio.server(
            interceptors=[
                ErrorInterceptor(refused=self._metrics.refused),
                RequestsInterceptor(_PLAY, settings.message_limit),
                *revocation_interceptors(tls),
                StreamsInterceptor(_PLAY),
            ],
            options=server_options(settings.heartbeat_s, settings.message_limit),
        )
        terms = ServicerTerms(
            name=settings.name,
            ticket_key=settings.ticket_key,
            heartbeat_s=settings.heartbeat_s,
            window=settings.window,
            message_limit=settings.message_limit,
        )
        servicer = MatchServicer(self._floor, terms, self._metrics, self._clock)
        server.add_generic_rpc_handlers((match_handlers(servicer), *extra_handlers))
        add_HealthServicer_to_server(self._health, server)
        address = format_address(settings.host, settings.port)
        try:
            port = listen(server, address, tls)
        except RuntimeError as error:
            raise SetupError(f"{address} cannot be listened on: is the port in use?") from error
        await server.start()
        self._health.set(SERVICE_NAME, health_pb2.HealthCheckResponse.SERVING)
        self._server = server
        self._tasks = [asyncio.create_task(self._sweep()), asyncio.create_task(self._tidy())]
        return format_address(settings.host, port)

    async def dismiss(self, ends: Sequence[TokenEnd]) -> None:
        """Closes the streams of bots whose tokens have ended; their seats stay, and the clocks of these go on."""
        for end in ends:
            self._floor.dismiss(end)

    async def drain(self, grace: float) -> None:
        """Takes no new match, lets what runs finish for at most `grace` seconds, voids the rest."""
        for name in (SERVICE_NAME, ""):
            self._health.set(name, health_pb2.HealthCheckResponse.NOT_SERVING)
        self._floor.drain(grace)
        if not self._floor.is_idle:
            self._idle.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._idle.wait(), grace)
        self._floor.void_all("the match service stopped before the match ended")

    async def stop(self) -> None:
        """Closes everything. Bots that are still here are told why, those that do not listen are not waited for."""
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task
        for session in list(self._floor.sessions.values()):
            session.close(Farewell(Reason.DRAINING, "the match service is stopping"))
        if self._server is not None:
            await self._server.stop(grace=FAREWELL_S + 0.2)

    # ---- for a director

    async def submit(self, orders: list[MatchOrder]) -> None:
        """Takes matches to be played as soon as their bots are here with free tables; idempotent by attempt."""
        self._floor.submit(orders, self._clock.monotonic())

    async def collect(
        self, tournament: str, confirmed: int, wait: float, enough: int = 1
    ) -> list[tuple[int, MatchOutcome]]:
        """The outcomes after number `confirmed`, waiting up to `wait` seconds for one; confirmed ones are forgotten.

        Once there is one, it waits a moment (`GATHER_S`) for others until there are `enough`: a call costs as much for
        one as for many. Nothing, once the tournament has been withdrawn: what came since is numbered anew and for
        somebody else.
        """
        inboxes, clock = self._floor.inboxes, asyncio.get_running_loop().time
        until = clock() + wait
        gathering = False
        while (count := inboxes.count(tournament, confirmed)) < enough:
            if count and not gathering:
                until, gathering = min(until, clock() + GATHER_S), True
            left = until - clock()
            if left <= 0:
                break
            arrived = self._arrived[tournament]
            arrived.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(arrived.wait(), left)
            if self._arrived.get(tournament) is not arrived:
                return []
        return inboxes.unconfirmed(tournament, confirmed)

    async def withdraw(self, tournament: str) -> None:
        """Forgets everything about a tournament: a new director starts from the ledger."""
        self._floor.withdraw(tournament)
        waiting = self._arrived.pop(tournament, None)
        if waiting is not None:
            waiting.set()

    async def missing(self, bot_ids: list[str], wait: float) -> list[str]:
        """Which of these bots have no stream here; waits up to `wait` seconds until none is missing."""
        until = self._clock.monotonic() + wait
        while True:
            missing = [bot for bot in bot_ids if bot not in self._floor.sessions]
            left = until - self._clock.monotonic()
            if not missing or left <= 0:
                return missing
            self._entered.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._entered.wait(), left)

    # ---- for the floor (`Later`)

    def house_soon(self) -> None:
        """Lets house bots decide in the next turn of the loop."""
        asyncio.get_running_loop().call_soon(self._play_house)

    def seat_soon(self) -> None:
        """Seats waiting orders in the next turn of the loop."""
        asyncio.get_running_loop().call_soon(self._seat_waiting)

    def look_soon(self) -> None:
        """Looks after events that wait, in a moment."""
        asyncio.get_running_loop().call_later(LOOK_S, self._send_waiting)

    def entered(self) -> None:
        """Wakes whoever waits for a bot."""
        self._entered.set()

    # ---- inside

    def _play_house(self) -> None:
        clock = self._clock.monotonic
        if not self._dare(lambda: self._floor.play_house(clock(), clock)):
            self.house_soon()  # those behind the one that failed

    def _send_waiting(self) -> None:
        self._floor.send_waiting(self._clock.monotonic())

    def _seat_waiting(self) -> None:
        self._floor.seat_waiting(self._clock.monotonic())

    def _wake_collector(self, tournament: str) -> None:
        self._arrived[tournament].set()
        if self._floor.is_idle:
            self._idle.set()

    async def _sweep(self) -> None:
        while True:
            self._dare(lambda: self._floor.sweep(self._clock.monotonic(), SWEEP_S))
            await asyncio.sleep(SWEEP_S)

    async def _tidy(self) -> None:
        while True:
            await asyncio.sleep(min(TIDY_S, self._settings.heartbeat_s / 2))
            self._dare(lambda: self._floor.tidy(self._clock.monotonic(), 2 * self._settings.heartbeat_s))

    def _dare(self, call: Callable[[], None]) -> bool:
        """Calls; True unless it failed. A fault of ours, once, must not stop every clock there is for ever."""
        try:
            call()
        except Exception:
            _log.exception("the floor failed; it goes on")
            return False
        return True
