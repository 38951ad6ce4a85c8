"""The baseline: match services alone, each in a process of its own, given the matches of the tournament directly.

No Ray, no director, no ledger, no gateway and nobody who reads metrics; the same bots at as many tables.
"""

from __future__ import annotations

import asyncio
import ctypes
import itertools
import secrets
import time
from collections.abc import Callable
from datetime import timedelta
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from multiprocessing.sharedctypes import RawArray
from typing import Any

from benchmarks.match.counting import SPAWN
from benchmarks.match.processes import cpu_of, receive, running, wait_for
from benchmarks.whole import bots
from benchmarks.whole.contest import Contest, fixtures_of
from benchmarks.whole.figures import Alone
from bots_sdk.client import Ticket as BotTicket
from services.common.clock import SystemClock
from services.common.matches import Ending
from services.common.metrics import DECISIONS, MatchMetrics
from services.common.tickets import Ticket, issue_ticket
from services.match.collector import relieve_collector
from services.match.service import MatchService, MatchServiceSettings

KEY = b"benchmark-key-of-32-bytes-exactly"
NAME = "alone"
_DEALS, _FAULTS = range(2)
_COUNTS, _POINTS = "counts", "points"
COMPARED = 500
"""The points of so many first matches are kept, to be held against those of the tournament."""
PATIENCE_S = 300.0

Points = dict[int, tuple[tuple[int, ...], ...]]


def measure_alone(contest: Contest, services: int, seconds: float) -> tuple[Alone, Points]:
    """Plays until all tables are in the middle of their matches, then measures for so many seconds.

    Returns:
        The figures, and the points of the first matches by their numbers.

    Raises:
        RuntimeError: a bot was at fault, or something died.
    """
    with running() as start:
        places = [_Place(start, contest, index, services) for index in range(services)]
        addresses = [receive(place.pipe, place.process) for place in places]
        ends = SystemClock().now() + timedelta(hours=1)
        share = max(1, contest.tables // services)
        playing = []
        for names in contest.shares():
            tickets = {
                name: [
                    BotTicket(place.name, address, _ticket(name, place.name, share, ends), share)
                    for place, address in zip(places, addresses, strict=True)
                ]
                for name in names
            }
            playing.append(start(bots.play, tickets))

        def deals() -> int:
            return sum(place.counts[_DEALS] for place in places)

        # By then tables are in all parts of their matches, as they end sooner or later.
        warm = contest.in_flight * contest.deals
        wait_for(lambda: deals() >= warm, (places[0].process,), "play is under way", PATIENCE_S)
        servers = [place.process for place in places]
        begun, before, served, thought = time.perf_counter(), _count(places), _cpu(servers), _cpu(playing)
        time.sleep(seconds)
        after = _count(places)
        more, messages = (max(1, now - then) for now, then in zip(after, before, strict=True))
        figures = Alone(
            per_s=more / (time.perf_counter() - begun),
            server_us=(_cpu(servers) - served) / more * 1e6,
            bots_us=(_cpu(playing) - thought) / more * 1e6,
            batch=more / messages,
        )
        if any(place.counts[_FAULTS] for place in places):
            raise RuntimeError("bots were at fault: the figures mean nothing")
        points: Points = {}
        for place in places:
            points |= place.tell(_POINTS)
        return figures, points


class _Place:
    """One match service and its process."""

    def __init__(self, start: Callable[..., SpawnProcess], contest: Contest, index: int, services: int) -> None:
        self.name = f"{NAME}-{index}"
        self.counts = RawArray(ctypes.c_int64, 2)
        self.pipe, theirs = SPAWN.Pipe()
        self.process = start(_serve, contest, index, services, self.counts, theirs)

    def tell(self, what: str) -> Any:
        """What it answers."""
        self.pipe.send(what)
        return receive(self.pipe, self.process)


def _ticket(name: str, service: str, tables: int, ends: Any) -> str:
    return issue_ticket(KEY, Ticket(name, name, service, tables, ends))


def _count(places: list[_Place]) -> tuple[int, int]:
    """All that bots have decided so far, and messages to them."""
    decisions, messages = zip(*(place.tell(_COUNTS) for place in places), strict=True)
    return sum(decisions), sum(messages)


def _cpu(processes: list[SpawnProcess]) -> float:
    return sum(map(cpu_of, processes))


def _serve(contest: Contest, index: int, services: int, counts: Any, pipe: Connection) -> None:
    """The process: sends its address, plays as soon as all bots are in, and answers what it is asked."""
    asyncio.run(_play(contest, index, services, counts, pipe))


async def _play(contest: Contest, index: int, services: int, counts: Any, pipe: Connection) -> None:
    settings = MatchServiceSettings(f"{NAME}-{index}", ticket_key=KEY)
    metrics = MatchMetrics()
    service = MatchService(settings, metrics, SystemClock())
    address = await service.start()
    relieve_collector()
    pipe.send(address)
    points: Points = {}
    playing = asyncio.create_task(_refill(contest, index, services, service, counts, points))
    loop = asyncio.get_running_loop()
    while not playing.done():
        asked = await loop.run_in_executor(None, pipe.recv)
        pipe.send(points if asked == _POINTS else (_count_decisions(metrics), metrics.messages_sent))
    await playing


def _count_decisions(metrics: MatchMetrics) -> int:
    """As they are shown to Prometheus, those of sealed phases some at a time."""
    (decisions,) = (metric for metric in metrics.collect() if f"{metric.name}_total" == DECISIONS.name)
    return sum(int(sample.value) for sample in decisions.samples)


async def _refill(
    contest: Contest, index: int, services: int, service: MatchService, counts: Any, points: Points
) -> None:
    """For every match that ends the next one begins, in the order of the schedule, over and over."""
    fixtures = fixtures_of(contest, NAME)
    numbers = itertools.cycle(range(index, fixtures.matches, services))

    def orders(count: int) -> list[Any]:
        return [fixtures.order(number, secrets.token_hex(12)) for number in itertools.islice(numbers, count)]

    while await service.missing(contest.names, 60.0):
        pass
    await service.submit(orders(contest.in_flight // services))
    confirmed = 0
    while True:
        ended = await service.collect(NAME, confirmed, 60.0)
        for confirmed, outcome in ended:  # noqa: B007 - the last one is confirmed by the next call
            counts[_DEALS] += len(outcome.deals)
            counts[_FAULTS] += outcome.ending is not Ending.COMPLETED
            if outcome.number < COMPARED:
                points[outcome.number] = tuple(deal.points for deal in outcome.deals)
        await service.submit(orders(len(ended)))
