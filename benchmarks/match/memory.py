"""What a match service needs of memory: for a table, for a session, and for ever.

Everything is the resident size of the server's process, read from outside, in a server that runs as in production; the
cyclic garbage collector has had its turn before each reading, so that garbage that waits for it is nobody's. What the
allocator keeps in reserve comes and goes by some MiB, and a run begins with little of it: so a reading to start from is
taken after it has given back what it can. A table or a session is charged with all that the process has grown by since
then, reserves included. Growth for ever compares two readings without reserves; beside it stands what it is with them.

* A table: bots hold thousands of tables, each at a point of its deal drawn at random, against none.
* A session: idle streams of bots, each with a connection of its own, gRPC's share included.
* For ever: thousands of deals are played and all tables have gone; then the same again many times over. So that this
  takes minutes, these deals are played by house bots that want to win: half as many decisions as at random.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.match import bots, server
from benchmarks.match.control import Control
from benchmarks.match.counting import DECISIONS, ENTERED, HELD, SPAWN, make_counts
from benchmarks.match.load import Kind, Load, issue_tickets
from benchmarks.match.processes import memory_of, receive, running, wait_for
from benchmarks.match.scripts import Script, record_scripts

PATIENCE_S = 1800.0
_KIB = 1024
_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Size:
    """How much of everything; nothing must have happened for `settle` seconds before memory is read."""

    tables: int
    sessions: int
    deals: int
    warmup: int
    scripts: int
    settle: float


FULL = Size(tables=4000, sessions=1000, deals=20_000, warmup=6000, scripts=96, settle=2.0)
QUICK = Size(tables=500, sessions=200, deals=400, warmup=200, scripts=12, settle=1.0)


def measure_memory(scripts: Sequence[Script], size: Size) -> dict[str, float]:
    """All three.

    Raises:
        RuntimeError: something went wrong at a table.
    """
    growth = _growth(record_scripts(size.scripts, greedy=True), size)
    return {
        "kib_per_table": round(_per_table(scripts, size), 1),
        "kib_per_session": round(_per_session(scripts, size), 1),
    } | growth


@dataclass(frozen=True, slots=True)
class Reading:
    """The resident size, in bytes, with what the allocator keeps in reserve and without."""

    full: int
    bare: int


class _Site:
    """A server that does what it is told, and its bots."""

    def __init__(self, start: Any, load: Load, scripts: Sequence[Script]) -> None:
        self._start = start
        self._load = load
        self._scripts = scripts
        self._pipe, theirs = SPAWN.Pipe()
        self._tickets = issue_tickets(load)
        self._process = start(server.obey, load, scripts, theirs)
        self._address = receive(self._pipe, self._process)
        self._counts = make_counts()

    def enter(self, count: int) -> None:
        """Lets so many more bots in, in a process of theirs."""
        tickets, self._tickets = self._tickets[:count], self._tickets[count:]
        counts = make_counts()
        part = bots.Part(tuple(tickets), max(1, self._load.tables), counts, Control.make(running=True), holding=True)
        self._start(_streams, self._address, self._scripts, part)
        wait_for(lambda: counts[ENTERED] == count, (self._process,), "all bots are in")
        self._counts = counts

    def tell(self, command: str, count: int = 0) -> server.State:
        """Tells the server something, and waits until it is done."""
        self._pipe.send((command, count))
        state: server.State = receive(self._pipe, self._process, seconds=PATIENCE_S)
        if state.faults:
            raise RuntimeError(f"{state.faults} faults of honest bots, or wrong results: the figures mean nothing")
        return state

    def hold(self, count: int) -> None:
        """Opens so many matches, and waits until the bots hold all of them where they are to stay."""
        self.tell("hold", count)
        wait_for(lambda: bool(self._counts[HELD] == count), (self._process,), "all matches are held", PATIENCE_S)

    def rest(self, settle: float) -> Reading:
        """The size of the server, once its bots have nothing more to say."""
        before = -1
        while before != self.decisions:
            before = self.decisions
            time.sleep(settle)
        self.tell("rest")
        full = memory_of(self._process)
        self.tell("trim")
        return Reading(full, memory_of(self._process))

    @property
    def decisions(self) -> int:
        """How many decisions the bots that came last have made."""
        found: int = self._counts[DECISIONS]
        return found


def _per_table(scripts: Sequence[Script], size: Size) -> float:
    load = Load(Kind.REAL, 20, size.tables)
    with running() as start:
        site = _Site(start, load, scripts)
        site.enter(load.bots)
        site.tell("play", 100)
        empty = site.rest(size.settle).bare
        site.hold(size.tables)
        return (site.rest(size.settle).full - empty) / size.tables / _KIB


def _per_session(scripts: Sequence[Script], size: Size) -> float:
    load = Load(Kind.REAL, size.sessions + size.sessions // 2, 1)
    with running() as start:
        site = _Site(start, load, scripts)
        site.enter(size.sessions // 2)
        some = site.rest(size.settle).bare
        site.enter(size.sessions)
        return (site.rest(size.settle).full - some) / size.sessions / _KIB


def _growth(scripts: Sequence[Script], size: Size) -> dict[str, float]:
    load = Load(Kind.REAL, 10, 500)
    with running() as start:
        site = _Site(start, load, scripts)
        site.enter(load.bots)
        site.tell("play", size.warmup)
        warm = site.rest(size.settle)
        begun, decided = time.perf_counter(), site.decisions
        site.tell("play", size.deals)
        rate = (site.decisions - decided) / (time.perf_counter() - begun)
        end = site.rest(size.settle)
    return {
        "growth_mib": round((end.bare - warm.bare) / _MIB, 2),
        "growth_with_reserves_mib": round((end.full - warm.full) / _MIB, 2),
        "growth_deals": size.deals,
        "growth_decisions_per_s": round(rate),
    }


def _streams(address: str, scripts: Sequence[Script], part: bots.Part) -> None:
    asyncio.run(bots.run_streams(address, scripts, part))
