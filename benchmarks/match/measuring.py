"""One load measured: a server and bots in processes of their own, a while to warm up, a while that counts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from multiprocessing.context import SpawnProcess
from typing import Any

from benchmarks.match import bots, echo, server
from benchmarks.match.counting import SPAWN, Totals, add_up, make_counts, make_latencies, quantile
from benchmarks.match.load import Kind, Load, bot_names, issue_tickets
from benchmarks.match.processes import moment, receive, running, wait_for
from benchmarks.match.scripts import Script

PATIENCE_S = 900.0
"""How long a server may take to bring its tables to where they begin, and bots to come in."""
UNARY_CHANNELS = 50
"""Connections of unary bots, together."""


@dataclass(frozen=True, slots=True)
class Times:
    """How long one load runs before it counts, how long it counts, and how often; over how many processes of bots."""

    seconds: float
    warmup: float
    rounds: int
    processes: int = 1


@dataclass(frozen=True, slots=True)
class Measured:
    """What came of one load. Processor times are microseconds for each decision; `up` and `down` bytes for each.

    `batch` is decisions in a message; `deals` those that ended in the time; `latencies` a histogram, if one was wanted.
    """

    per_s: float
    server_us: float
    bots_us: float
    batch: float
    down: float
    up: float
    deals: int = 0
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


def measure(load: Load, scripts: Sequence[Script], times: Times, *, watch: bool = False) -> Measured:
    """One load on a server of its own, once all its bots are in. With `watch` the latencies are taken too; those of
    tables with the first bot stay out of it where there are more bots than one table seats.

    Raises:
        RuntimeError: something went wrong at a table, so that the figures would mean nothing.
    """
    parts = _parts_of(load, times.processes)
    if watch:
        parts = [
            replace(part, latencies=make_latencies(), apart=load.bots > 5 and not n) for n, part in enumerate(parts)
        ]
    with running() as start:
        ours, theirs = SPAWN.Pipe()
        serving = start(server.serve, load, scripts, theirs)
        address = receive(ours, serving, seconds=PATIENCE_S)
        if load.kind is Kind.UNARY:
            channels = max(1, UNARY_CHANNELS // len(parts))
            playing = [start(_unary, address, scripts, part, channels) for part in parts]
        else:
            playing = [start(_streams, address, scripts, part) for part in parts]

        def state() -> server.State:
            ours.send(None)
            found: server.State = receive(ours, serving)
            return found

        latencies = [part.latencies for part in parts] if watch else []
        window = _Window(serving, playing, [part.counts for part in parts], latencies)
        wait_for(lambda: window.totals().entered == load.bots, serving, "all bots are in", PATIENCE_S)
        time.sleep(times.warmup)
        deals = state().deals
        measured = window.measure(times.seconds)
        end = state()
    if end.faults:
        raise RuntimeError(f"{end.faults} faults of honest bots, or wrong results: the figures mean nothing")
    return replace(measured, deals=end.deals - deals)


def measure_echo(groups: int, up: float, down: float, times: Times) -> Measured:
    """The bare echo with so many groups of five streams, and messages of so many bytes."""
    parts = echo.parts_of(groups, times.processes, round(up), round(down))
    with running() as start:
        ours, theirs = SPAWN.Pipe()
        serving = start(echo.serve, round(down), theirs)
        address = receive(ours, serving)
        playing = [start(echo.play, address, part) for part in parts]
        window = _Window(serving, playing, [part.counts for part in parts], [part.latencies for part in parts])
        wait_for(lambda: window.totals().entered == groups * 5, serving, "all streams are open")
        time.sleep(times.warmup)
        return window.measure(times.seconds)


class _Window:
    """Reads servers and bots at the begin and at the end of the time that counts."""

    def __init__(
        self, serving: SpawnProcess, playing: list[SpawnProcess], counts: list[Any], latencies: list[Any]
    ) -> None:
        self._serving = serving
        self._playing = playing
        self._counts = counts
        self._latencies = latencies

    def totals(self) -> Totals:
        return Totals(add_up(self._counts))

    def measure(self, seconds: float) -> Measured:
        before, counted, seen = moment(self._serving, self._playing), self.totals(), add_up(self._latencies)
        time.sleep(seconds)
        after, counts, saw = moment(self._serving, self._playing), self.totals() - counted, add_up(self._latencies)
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


def _parts_of(load: Load, processes: int) -> list[bots.Part]:
    """The bots of a load, spread over processes."""
    names = bot_names(load) if load.kind is Kind.UNARY else issue_tickets(load)
    parts = [bots.Part(tuple(names[part::processes]), load.seats_each, make_counts()) for part in range(processes)]
    return [replace(parts[0], slow=load.slow), *parts[1:]]


def _streams(address: str, scripts: Sequence[Script], part: bots.Part) -> None:
    asyncio.run(bots.run_streams(address, scripts, part))


def _unary(address: str, scripts: Sequence[Script], part: bots.Part, channels: int) -> None:
    asyncio.run(bots.run_unary(address, scripts, part, channels))
