"""A load that stands ready: a server and bots in processes of their own, let loose for a while and measured.

All loads of a case stand ready at the same time and take turns; those that wait do nothing. So a turn can be short, and
whatever else the machine has to do disturbs all of them alike.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from multiprocessing.context import SpawnProcess
from typing import Any

from benchmarks.match import bots, echo, server
from benchmarks.match.control import Control
from benchmarks.match.counting import SPAWN, Totals, add_up, make_counts, make_latencies, quantile
from benchmarks.match.load import Kind, Load, bot_names, issue_tickets
from benchmarks.match.processes import moment, receive, wait_for
from benchmarks.match.scripts import Script

Start = Callable[..., SpawnProcess]

PATIENCE_S = 900.0
"""How long a server may take to bring its tables to where they begin, and bots to come in."""
UNARY_CHANNELS = 50
"""Connections of unary bots, together."""


@dataclass(frozen=True, slots=True)
class Times:
    """How long a turn of a load runs before it counts, how long it counts, and how many turns there are.

    `processes` is how many the bots are spread over.
    """

    seconds: float
    warmup: float
    rounds: int
    processes: int = 1


@dataclass(frozen=True, slots=True)
class Measured:
    """What came of one turn. Processor times are microseconds for each decision; `up` and `down` bytes for each.

    `batch` is decisions in a message; `latencies` a histogram, where latencies are taken.
    """

    per_s: float
    server_us: float
    bots_us: float
    batch: float
    down: float
    up: float
    latencies: tuple[int, ...] = ()

    def sentence(self) -> str:
        """For people."""
        return (
            f"{self.per_s:9.0f} decisions/s  {self.server_us:6.1f} us of the server's and {self.bots_us:6.1f} us of the"
            f" bots' processors each  {self.batch:6.2f} in a message  {self.down:6.1f} bytes down, {self.up:5.1f} up"
        )

    def quantile(self, share: float) -> float:
        """The latency that a share of the decisions stays below, in seconds."""
        return quantile(self.latencies, share)


class Rig:
    """A server and its bots, paused between turns."""

    def __init__(self, control: Control, times: Times, counts: list[Any], latencies: list[Any]) -> None:
        self.control = control
        self._times = times
        self._counts = counts
        self._latencies = latencies
        self._server: SpawnProcess
        self._playing: list[SpawnProcess] = []
        self._under_way = 0

    def turn(self) -> Measured:
        """Lets the bots loose, and measures once they are warm."""
        before = self._totals().decisions
        self.control.run(running=True)
        # All that was held back is said at once; what counts begins when play goes on from there.
        self._wait_until(lambda: self._totals().decisions > before + self._under_way, "play is under way")
        time.sleep(self._times.warmup)
        found = self._measure(self._times.seconds)
        self.control.run(running=False)
        time.sleep(0.1)  # what is still on its way arrives
        return found

    def finish(self) -> None:
        """Raises RuntimeError if something went wrong at a table, so that the figures would mean nothing."""

    def _wait_for(self, entered: int) -> None:
        self._wait_until(lambda: self._totals().entered == entered, "all bots are in")

    def _wait_until(self, condition: Callable[[], bool], what: str) -> None:
        wait_for(condition, (self._server, *self._playing), what, PATIENCE_S)

    def _totals(self) -> Totals:
        return Totals(add_up(self._counts))

    def _measure(self, seconds: float) -> Measured:
        before, counted, seen = moment(self._server, self._playing), self._totals(), add_up(self._latencies)
        time.sleep(seconds)
        after, counts, saw = moment(self._server, self._playing), self._totals() - counted, add_up(self._latencies)
        decisions = max(1, counts.decisions)
        return Measured(
            per_s=decisions / (after.wall - before.wall),
            server_us=(after.server - before.server) / decisions * 1e6,
            bots_us=(after.bots - before.bots) / decisions * 1e6,
            batch=decisions / max(1, counts.read),
            down=counts.bytes_down,
            up=counts.bytes_up,
            latencies=tuple(now - then for now, then in zip(saw, seen, strict=True)),
        )


class MatchRig(Rig):
    """A match service of one of the kinds. It is prepared from the moment it is made; `enter` lets the bots in.

    With `watch` latencies are taken; those of tables with the first bot stay out of it where there are more bots than
    one table seats.
    """

    def __init__(
        self, start: Start, load: Load, scripts: Sequence[Script], times: Times, *, watch: bool = False
    ) -> None:
        control = Control.make(running=False)
        self._start = start
        self._load = load
        self._scripts = scripts
        self._parts = _parts_of(load, times.processes, control)
        if watch:
            several = load.bots > 5
            self._parts = [
                replace(part, latencies=make_latencies(), apart=several and not number)
                for number, part in enumerate(self._parts)
            ]
        latencies = [part.latencies for part in self._parts] if watch else []
        super().__init__(control, times, [part.counts for part in self._parts], latencies)
        self._under_way = 2 * load.tables
        self._pipe, theirs = SPAWN.Pipe()
        self._server = start(server.serve, load, scripts, theirs)

    def enter(self) -> None:
        """Lets the bots in, and waits until all are there."""
        address = receive(self._pipe, self._server, seconds=PATIENCE_S)
        channels = max(1, UNARY_CHANNELS // len(self._parts))
        for part in self._parts:
            if self._load.kind is Kind.UNARY:
                self._playing.append(self._start(_unary, address, self._scripts, part, channels))
            else:
                self._playing.append(self._start(_streams, address, self._scripts, part))
        self._wait_for(self._load.bots)
        self.turn()  # everybody has something to say at first, and nobody has been here before
        self._under_way = self._load.tables // 2

    def finish(self) -> None:
        self._pipe.send(None)
        state: server.State = receive(self._pipe, self._server)
        if state.faults:
            raise RuntimeError(f"{state.faults} faults of honest bots, or wrong results: the figures mean nothing")


class EchoRig(Rig):
    """The bare echo with so many groups of five streams, and messages of so many bytes."""

    def __init__(self, start: Start, groups: int, like: Measured, times: Times) -> None:
        control = Control.make(running=False)
        up, down = round(like.up), round(like.down)
        parts = echo.parts_of(groups, times.processes, up, down, control)
        super().__init__(control, times, [part.counts for part in parts], [part.latencies for part in parts])
        pipe, theirs = SPAWN.Pipe()
        self._server = start(echo.serve, down, theirs)
        address = receive(pipe, self._server)
        self._playing = [start(echo.play, address, part) for part in parts]
        self._wait_for(5 * groups)


def _parts_of(load: Load, processes: int, control: Control) -> list[bots.Part]:
    """The bots of a load, spread over processes."""
    names = bot_names(load) if load.kind is Kind.UNARY else issue_tickets(load)
    return [
        bots.Part(tuple(names[part::processes]), load.seats_each, make_counts(), control, slow=load.slow and not part)
        for part in range(processes)
    ]


def _streams(address: str, scripts: Sequence[Script], part: bots.Part) -> None:
    asyncio.run(bots.run_streams(address, scripts, part))


def _unary(address: str, scripts: Sequence[Script], part: bots.Part, channels: int) -> None:
    asyncio.run(bots.run_unary(address, scripts, part, channels))
