"""A whole tournament on a platform: played, followed by an operator, scraped as Prometheus does, and measured."""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from multiprocessing.context import SpawnProcess

from baohuang.tournament.v1 import tournament_service_pb2 as pb
from benchmarks.match.processes import cpu_of, running
from benchmarks.whole import bots
from benchmarks.whole.alone import Points
from benchmarks.whole.contest import Contest, spec_text
from benchmarks.whole.figures import Played, Sample
from benchmarks.whole.serving import RAY, Platform, fetch, processor_s_of
from bots_sdk.client import LobbyClient
from services.cli.client import connect
from services.common.families import Family
from services.common.metrics import DECISIONS, SENT, SESSIONS, TABLES
from services.ledger.ledger import Access, Ledger

SCRAPE_S = 5.0
"""As in the configuration for Prometheus that is shipped."""
SAMPLE_S = 0.5
ATTENDING_S = 300.0
BOTS = "bots"


def play_tournament(platform: Platform, contest: Contest, name: str, points: Points) -> Played:
    """Lets the bots in, plays one tournament, and looks whether it is what it should be.

    Args:
        points: those of some matches, as match services alone have played them.

    Raises:
        RuntimeError: it did not finish, bots were at fault, or it was not the same that is played alone.
    """
    tokens = asyncio.run(_register(platform, contest))
    with running() as start:
        processes = [
            start(bots.attend, platform.server, {one: tokens[one] for one in names}, contest.tables)
            for names in contest.shares()
        ]
        played = asyncio.run(_Tournament(platform, contest, name, processes).play())
    return replace(played, decisions=_verify(platform, contest, name, points))


async def _register(platform: Platform, contest: Contest) -> dict[str, str]:
    async with LobbyClient(platform.server) as lobby:
        return {name: (await lobby.register(name, "benchmark", "1")).token for name in contest.names}


class _Tournament:
    """One tournament, and those who look at it while it is played."""

    def __init__(self, platform: Platform, contest: Contest, name: str, processes: list[SpawnProcess]) -> None:
        self._platform = platform
        self._contest = contest
        self._name = name
        self._bots = processes
        self._told: list[tuple[float, int]] = []  # when, and how many deals there were
        self._samples: list[Sample] = []
        self._pages: list[str] = []  # as they were scraped last
        self._tables: list[tuple[int, float]] = []  # deals so far, and tables at which was played
        # By process; those that are gone stand as they were seen last.
        self._spent: dict[int, tuple[str, float]] = {}

    async def play(self) -> Played:
        platform = self._platform
        await self._wait_for_bots()
        async with connect(platform.server, None, platform.token) as client:
            self._look()
            before = self._processor_s()
            begun = time.perf_counter()
            looking = [asyncio.create_task(self._sample()), asyncio.create_task(self._scrape())]
            last = await client.create(spec_text(self._contest, self._name))
            async for last in client.watch(self._name):
                self._told.append((time.perf_counter(), last.progress.deals_done))
            seconds = time.perf_counter() - begun
            for task in looking:
                task.cancel()
            await asyncio.gather(*looking, return_exceptions=True)
        if last.state != pb.STATE_FINISHED:
            raise RuntimeError(f"the tournament has not finished: {last.message}")
        self._look()
        deals = last.progress.deals_done
        return Played(
            deals=deals,
            decisions=0,
            seconds=seconds,
            first_s=next(at for at, done in self._told if done) - begun,
            steady_per_s=self._steady(deals),
            batch=self._total(DECISIONS) / max(1.0, self._total(SENT)),
            busy=self._busy(deals),
            cpu_ms={role: (spent - before.get(role, 0.0)) / deals * 1e3 for role, spent in self._processor_s().items()},
            samples=self._samples,
        )

    def _steady(self, deals: int) -> float:
        """Deals a second between a fifth and nine tenths of all."""
        inner = [(at, done) for at, done in self._told if 0.2 * deals <= done <= 0.9 * deals]
        if len(inner) < 2:
            return deals / max(1e-9, self._told[-1][0] - self._told[0][0])
        (start, first), (end, last) = inner[0], inner[-1]
        return (last - first) / (end - start)

    def _busy(self, deals: int) -> float:
        found = [tables for done, tables in self._tables if 0.05 * deals <= done <= 0.9 * deals]
        return statistics.fmean(found) / self._contest.in_flight if found else 0.0

    async def _wait_for_bots(self) -> None:
        """Until all attend, and all have a stream to every match service."""
        until = time.monotonic() + ATTENDING_S
        wanted = self._contest.bots
        while time.monotonic() < until:
            pages = await asyncio.to_thread(self._scrape_all)
            live = [value for page in pages for value in _samples_of(page, SESSIONS)]
            if live and min(live) == wanted:
                return
            await asyncio.sleep(SAMPLE_S)
        raise RuntimeError("not all bots came in")

    async def _scrape(self) -> None:
        while True:
            self._pages = await asyncio.to_thread(self._scrape_all)
            self._tables.append((self._told[-1][1] if self._told else 0, self._total(TABLES)))
            await asyncio.sleep(SCRAPE_S)

    def _scrape_all(self) -> list[str]:
        groups = json.loads(fetch(f"http://{self._platform.http}/sd"))
        targets = [target for group in groups for target in group["targets"]]
        pages = []
        for target in targets:
            try:
                pages.append(fetch(f"http://{target}/metrics").decode())
            except OSError:  # a director that has just ended
                continue
        return pages

    async def _sample(self) -> None:
        while True:
            await asyncio.to_thread(self._look)
            await asyncio.sleep(SAMPLE_S)

    def _look(self) -> None:
        roles = self._platform.roles()
        for pid, role in roles.items():
            if spent := processor_s_of(pid):
                known = self._spent.get(pid, (role, 0.0))[0]  # one that is just ending has no title any more
                self._spent[pid] = (role if known == RAY else known, spent)
        deals = self._told[-1][1] if self._told else 0
        self._samples.append(Sample(time.perf_counter(), deals, self._platform.resident(roles)))

    def _total(self, family: Family) -> float:
        return sum(value for page in self._pages for value in _samples_of(page, family))

    def _processor_s(self) -> Mapping[str, float]:
        sums: defaultdict[str, float] = defaultdict(float)
        for role, spent in self._spent.values():
            sums[role] += spent
        sums[BOTS] = sum(map(cpu_of, self._bots))
        return sums


def _samples_of(page: str, family: Family) -> list[float]:
    """All values of a metric, whatever their labels."""
    starts = (f"{family.name} ", f"{family.name}{{")
    return [float(line.rpartition(" ")[2]) for line in page.splitlines() if line.startswith(starts)]


def _verify(platform: Platform, contest: Contest, name: str, points: Points) -> int:
    """How many decisions there were. Every match has a result, no bot was at fault, points are as when played alone."""
    with Ledger.open(platform.data / "ledger.db", access=Access.READER) as ledger:
        totals = ledger.totals(name)
        numbers = []
        for result in ledger.results(name):
            numbers.append(result.number)
            expected = points.get(result.number)
            if expected is not None and expected != tuple(deal.points for deal in result.deals):
                raise RuntimeError(f"match {result.number} was not played as it is alone: the figures mean nothing")
    if numbers != list(range(contest.matches)) or totals.attempts != contest.matches or totals.faults:
        raise RuntimeError(f"results are missing or bots were at fault, the figures mean nothing: {totals}")
    return totals.decisions
