"""The server of a benchmark, in a process of its own, with tables that are filled again when they end.

Before the bots come every table is brought to a stage of its match drawn at random, through the same calls that a
stream makes: so deals begin and end all the time while something is measured, as they do on a platform that has been
running for a while, and the bots find their tables by resuming.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from benchmarks.match import offline
from benchmarks.match.load import HELD_FROM, KEY, SERVICE, TOURNAMENT, Kind, Load, bot_names, make_order, script_of
from benchmarks.match.null import NullService
from benchmarks.match.scripts import Script, answer_body
from benchmarks.match.unary import UnaryBaseline
from bots_sdk.convert.varints import varint
from services.common.clock import SystemClock
from services.common.matches import Ending, MatchOutcome
from services.common.metrics import MatchMetrics
from services.match.collector import relieve_collector
from services.match.service import MatchService, MatchServiceSettings

HEARTBEAT_S = 30.0


@dataclass(frozen=True, slots=True)
class State:
    """How the server is: tables that are live, deals that ended, and what must never happen."""

    tables: int
    deals: int
    faults: int
    messages: int


class Server:
    """A match service of one of the kinds, and what a director would do for it."""

    def __init__(self, load: Load, scripts: Sequence[Script]) -> None:
        self._load = load
        self._names = bot_names(load)
        self._scripts = len(scripts)
        self._points = [script.points for script in scripts]
        self._metrics = MatchMetrics()
        self._deals = 0
        self._wrong = 0
        settings = MatchServiceSettings(SERVICE, ticket_key=KEY, window=load.window, heartbeat_s=HEARTBEAT_S)
        if load.kind is Kind.NULL:
            self.service: MatchService = NullService(settings, self._metrics, SystemClock(), scripts)
        else:
            self.service = MatchService(settings, self._metrics, SystemClock())

    async def start(self) -> str:
        """Begins to listen; returns HOST:PORT."""
        address = await self.service.start()
        relieve_collector()
        if self._load.kind is not Kind.UNARY:
            return address
        self._unary = UnaryBaseline(self.service)
        return await self._unary.start()

    def state(self) -> State:
        """What there is to say."""
        metrics = self._metrics
        faults = metrics.timeouts + metrics.illegal_answers + metrics.late_answers + self._wrong
        return State(metrics.tables_live, self._deals, faults, metrics.messages_sent)

    async def hold(self, count: int) -> None:
        """Opens so many matches that the bots will hold somewhere in the middle."""
        await self.service.submit([self._order(HELD_FROM + number) for number in range(count)])

    async def refill(self) -> None:
        """For every match that ends another begins, for ever."""
        confirmed = 0
        while True:
            ended = await self.service.collect(TOURNAMENT, confirmed, 60)
            confirmed = self._verify(ended, confirmed)
            # With tables of their own the next match at a table is again one of the same five.
            await self.service.submit([self._order(outcome.number + self._load.tables) for _, outcome in ended])

    def _verify(self, ended: list[tuple[int, MatchOutcome]], confirmed: int) -> int:
        for number, outcome in ended:
            confirmed = max(confirmed, number)
            expected = self._points[script_of(outcome.attempt)]
            self._wrong += outcome.ending is not Ending.COMPLETED or outcome.deals[0].points != expected
        self._deals += len(ended)
        return confirmed

    def _order(self, number: int) -> Any:
        return make_order(self._load, self._names, number, self._scripts)

    async def play(self, count: int) -> None:
        """Plays so many matches from begin to end, at the load's tables."""
        numbers = iter(range(count))
        confirmed = done = 0
        await self.service.submit([self._order(number) for number in itertools.islice(numbers, self._load.tables)])
        while done < count:
            ended = await self.service.collect(TOURNAMENT, confirmed, 60)
            confirmed = self._verify(ended, confirmed)
            done += len(ended)
            await self.service.submit([self._order(number) for number in itertools.islice(numbers, len(ended))])
        await self.service.withdraw(TOURNAMENT)

    async def prepare(self, scripts: Sequence[Script], share: Callable[[int], float]) -> None:
        """Plays every table up to a share of its match, before any bot is there; `share` tells it by table."""
        floor, now = self.service.floor, SystemClock().monotonic
        sessions = {name: offline.enter(floor, name, self._load.seats_each, now()) for name in self._names}
        for index in range(self._load.tables):
            order = self._order(index)
            script = scripts[script_of(order.attempt)]
            seated = [sessions[entrant.bot_id] for entrant in order.seats]
            await self.service.submit([order])
            number = max(seated[0].seats)
            table = varint(number)
            for session in seated:
                floor.ready(session, number, now())
            stages = script.stages[: int(share(index) * len(script.stages))]
            for seat, request in (asked for stage in stages for asked in stage.requests):
                body = answer_body(table, script.answers[request])
                floor.decide(seated[seat], offline.decision_of(body), now())
            for session in seated:
                offline.drain(session, now())


async def _serve(load: Load, scripts: Sequence[Script], pipe: Connection) -> None:
    server = Server(load, scripts)
    draw = random.Random(load.tables)
    await server.prepare(scripts, lambda _: draw.random())
    pipe.send(await server.start())
    refill = asyncio.create_task(server.refill())
    loop = asyncio.get_running_loop()
    while not refill.done():
        await loop.run_in_executor(None, pipe.recv)
        pipe.send(server.state())
    await refill


def serve(load: Load, scripts: Sequence[Script], pipe: Connection) -> None:
    """The process: sends its address, then its state whenever it is asked, until it is killed."""
    asyncio.run(_serve(load, scripts, pipe))


async def _obey(load: Load, scripts: Sequence[Script], pipe: Connection) -> None:
    server = Server(load, scripts)
    pipe.send(await server.start())
    loop = asyncio.get_running_loop()
    while True:
        command, count = await loop.run_in_executor(None, pipe.recv)
        if command == "play":
            await server.play(count)
        elif command == "hold":
            await server.hold(count)
        elif command == "trim":
            ctypes.CDLL(None).malloc_trim(0)
        gc.collect()
        pipe.send(server.state())


def obey(load: Load, scripts: Sequence[Script], pipe: Connection) -> None:
    """The process, without tables at first: sends its address, then does what it is told and sends its state."""
    asyncio.run(_obey(load, scripts, pipe))
