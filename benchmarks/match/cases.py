"""The cases of the throughput benchmark, each beside its baselines in the same run."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from benchmarks.match.load import Kind, Load
from benchmarks.match.measuring import EchoRig, MatchRig, Measured, Times
from benchmarks.match.memory import FULL, QUICK, measure_memory
from benchmarks.match.processes import running
from benchmarks.match.scripts import Script

Figures = dict[str, float]
SAME_BYTES = 0.03
"""How far the null referee may be off the real service in bytes for each decision; deals begin and end by chance."""
SLOW_S = 0.2


@dataclass(frozen=True, slots=True)
class Setting:
    """What all cases share: the scripts, the times, and whether the run is to be short."""

    scripts: Sequence[Script]
    times: Times
    quick: bool


class Turns(Protocol):
    """A load that takes turns with others."""

    def turn(self) -> Measured:
        """Lets it loose for a while."""

    def finish(self) -> None:
        """Raises RuntimeError if the figures mean nothing."""


def say(text: str) -> None:
    """A line for people, at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def take_turns(setting: Setting, case: str, rigs: Mapping[str, Turns]) -> dict[str, list[Measured]]:
    """Measures all loads in turns, round by round, so that what disturbs the machine disturbs them alike."""
    found: dict[str, list[Measured]] = {name: [] for name in rigs}
    for number in range(setting.times.rounds):
        for name, rig in rigs.items():
            measured = rig.turn()
            found[name].append(measured)
            say(f"{case}  round {number + 1}  {name:5}  {measured.sentence()}")
    for rig in rigs.values():
        rig.finish()
    return found


def median(rounds: Sequence[Measured], figure: Callable[[Measured], float]) -> float:
    """The median of one figure over the rounds."""
    return statistics.median(map(figure, rounds))


def median_ratio(
    one: Sequence[Measured], other: Sequence[Measured], figure: Callable[[Measured], float] = lambda it: it.per_s
) -> float:
    """The median over the rounds of how one load compares with the other in the same round."""
    return round(statistics.median(figure(a) / figure(b) for a, b in zip(one, other, strict=True)), 3)


def rates(rounds: dict[str, list[Measured]]) -> Figures:
    """Decisions per second, processor time and batches of all loads of a case."""
    figures: Figures = {}
    for name, found in rounds.items():
        figures[f"{name}_per_s"] = round(median(found, lambda it: it.per_s))
        figures[f"{name}_server_us"] = round(median(found, lambda it: it.server_us), 1)
        figures[f"{name}_bots_us"] = round(median(found, lambda it: it.bots_us), 1)
        figures[f"{name}_batch"] = round(median(found, lambda it: it.batch), 2)
    return figures


def costs(rounds: dict[str, list[Measured]]) -> Figures:
    """The same ratios by processor time of the server: what they come to where the server is all that limits.

    On a machine with other work to do these are steadier than ratios of rates.
    """
    return {
        f"{name}_cpu_ratio": round(
            statistics.median(
                base.server_us / real.server_us for real, base in zip(rounds["real"], found, strict=True)
            ),
            3,
        )
        for name, found in rounds.items()
        if name != "real"
    }


# ---- throughput


def throughput(setting: Setting, case: str, bots: int, tables: int, *, null: bool) -> Figures:
    """The real service against the null referee and against one unary call per decision."""
    loads = {
        "real": Load(Kind.REAL, bots, tables),
        "null": Load(Kind.NULL, bots, tables),
        "unary": Load(Kind.UNARY, 5 * tables, tables, own=True),
    }
    if not null:
        del loads["null"]
    with running() as start:
        rigs = {name: MatchRig(start, load, setting.scripts, setting.times) for name, load in loads.items()}
        for rig in rigs.values():
            rig.enter()
        rounds = take_turns(setting, case, rigs)
    figures = {"unary_ratio": median_ratio(rounds["real"], rounds["unary"])}
    if null:
        verify_same_bytes(rounds["real"], rounds["null"], quick=setting.quick)
        figures["null_ratio"] = median_ratio(rounds["real"], rounds["null"])
        figures["null_bytes_ratio"] = median_ratio(rounds["real"], rounds["null"], lambda it: it.down)
    return figures | costs(rounds) | rates(rounds)


def verify_same_bytes(real: Sequence[Measured], null: Sequence[Measured], *, quick: bool) -> None:
    """The null referee must say as much as the real service, or it is no baseline.

    Raises:
        RuntimeError: it does not.
    """
    allowed = 0.15 if quick else SAME_BYTES  # in a second or two hardly a deal begins or ends
    for figure in (lambda it: it.down, lambda it: it.up):
        found = statistics.fmean(map(figure, real)) / statistics.fmean(map(figure, null))
        if abs(found - 1) > allowed:
            raise RuntimeError(f"the null referee is no baseline: bytes for each decision are {found:.3f} of it")


def alone(setting: Setting, case: str, bots: int, tables: int) -> Figures:
    """Each bot at one table at most: nothing to batch, against a bare echo on as many streams."""
    rounds = _beside_echo(setting, case, Load(Kind.REAL, bots, tables, own=True), watch=False)
    return {"echo_ratio": median_ratio(rounds["real"], rounds["echo"])} | costs(rounds) | rates(rounds)


def single(setting: Setting, case: str) -> Figures:
    """One table: from a decision being written until the next request is read, against a bare ping-pong."""
    setting = replace(setting, times=replace(setting.times, processes=1))  # one process, one clock
    rounds = _beside_echo(setting, case, Load(Kind.REAL, 5, 1, own=True), watch=True)
    figures: Figures = {}
    for name, share in (("p50", 0.5), ("p99", 0.99)):
        figures[f"added_{name}"] = median_ratio(rounds["real"], rounds["echo"], _quantile(share))
    return figures | _latencies(rounds, 1e6, "us") | rates(rounds)


def _beside_echo(setting: Setting, case: str, load: Load, *, watch: bool) -> dict[str, list[Measured]]:
    with running() as start:
        real = MatchRig(start, load, setting.scripts, setting.times, watch=watch)
        real.enter()
        echo = EchoRig(start, load.tables, real.turn(), setting.times)  # as many bytes as the real service has shown
        return take_turns(setting, case, {"real": real, "echo": echo})


def slow(setting: Setting, case: str, bots: int, tables: int) -> Figures:
    """One bot thinks for a while; how long others wait, at tables where it does not sit.

    Turns with it and turns without it alternate on one server, with the same bots at the same tables; both look only at
    the tables without the first bot. What is measured is what the platform makes others wait: from the moment a bot has
    written its decision until the next request of the table is read; bots are instant, so nobody's thinking is in it.
    The slow bot thinks about all its tables at the same time. They stand still for the greatest part, so the others
    have a little more of the machine for themselves: that may bring the ratio below 1, and a slow bot that held up
    others would drive it far above.
    """
    setting = replace(setting, times=replace(setting.times, processes=1))
    load = Load(Kind.REAL, bots, tables, slow=True)
    with running() as start:
        rig = MatchRig(start, load, setting.scripts, setting.times, watch=True)
        rig.enter()
        rounds = take_turns(setting, case, {"slow": _Thinking(rig, SLOW_S), "quick": _Thinking(rig, 0.0)})
    figures = {
        f"others_{name}_ratio": median_ratio(rounds["slow"], rounds["quick"], _quantile(share))
        for name, share in (("p99", 0.99), ("p50", 0.5))
    }
    return figures | _latencies(rounds, 1e3, "ms") | rates(rounds)


class _Thinking:
    """Turns of a load in which the slow bot thinks so long."""

    def __init__(self, rig: MatchRig, seconds: float) -> None:
        self._rig = rig
        self._seconds = seconds

    def turn(self) -> Measured:
        self._rig.control.think(self._seconds)
        return self._rig.turn()

    def finish(self) -> None:
        self._rig.finish()


def _quantile(share: float) -> Callable[[Measured], float]:
    return lambda it: it.quantile(share)


def _latencies(rounds: dict[str, list[Measured]], scale: float, unit: str) -> Figures:
    return {
        f"{load}_{name}_{unit}": round(median(found, _quantile(share)) * scale, 1)
        for load, found in rounds.items()
        for name, share in (("p50", 0.5), ("p99", 0.99))
    }


CASES: dict[str, Callable[[Setting], Figures]] = {
    "8x1000": lambda setting: throughput(setting, "8x1000", 8, 1000, null=True),
    "50x1000": lambda setting: throughput(setting, "50x1000", 50, 1000, null=True),
    "200x4000": lambda setting: throughput(setting, "200x4000", 200, 4000, null=False),
    "500x100": lambda setting: alone(setting, "500x100", 500, 100),
    "5x1": lambda setting: single(setting, "5x1"),
    "slow": lambda setting: slow(setting, "slow", 50, 1000),
    "memory": lambda setting: measure_memory(setting.scripts, QUICK if setting.quick else FULL),
}
"""By name, in the order in which they run."""
