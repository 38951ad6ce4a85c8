"""What the processes of bots count, in memory that the benchmark reads while they run."""

from __future__ import annotations

import ctypes
import math
import multiprocessing
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.sharedctypes import RawArray
from typing import Any

SPAWN = multiprocessing.get_context("spawn")

FIELDS = 7
ENTERED, DECISIONS, READ, READ_BYTES, WRITTEN, WRITTEN_BYTES, HELD = range(FIELDS)

_STEPS = 200
"""Buckets for each factor of e: half a per cent each."""
_SMALLEST = 1e-6
_BUCKETS = 20 * _STEPS


def make_counts() -> Any:
    """Counters of one process of bots: bots that are in, decisions, messages and bytes each way, matches held."""
    return RawArray(ctypes.c_int64, FIELDS)


def make_latencies() -> Any:
    """A histogram of one process of bots."""
    return RawArray(ctypes.c_int64, _BUCKETS)


def observe(latencies: Any, seconds: float) -> None:
    """One more latency."""
    latencies[bucket_of(seconds)] += 1


def bucket_of(seconds: float) -> int:
    """The bucket of a latency."""
    if seconds <= _SMALLEST:
        return 0
    return min(_BUCKETS - 1, int(math.log(seconds / _SMALLEST) * _STEPS))


def quantile(counts: Sequence[int], share: float) -> float:
    """The latency, in seconds, that a share of the observations stays below."""
    wanted = share * sum(counts)
    seen = 0
    for bucket, count in enumerate(counts):
        seen += count
        if count and seen >= wanted:
            return _SMALLEST * math.exp((bucket + 0.5) / _STEPS)
    return math.nan


@dataclass(frozen=True, slots=True)
class Totals:
    """Counters of all processes of bots, added up, at some moment or between two."""

    numbers: tuple[int, ...]

    def __sub__(self, before: Totals) -> Totals:
        return Totals(tuple(now - then for now, then in zip(self.numbers, before.numbers, strict=True)))

    @property
    def entered(self) -> int:
        return self.numbers[ENTERED]

    @property
    def decisions(self) -> int:
        return self.numbers[DECISIONS]

    @property
    def read(self) -> int:
        return self.numbers[READ]

    @property
    def bytes_down(self) -> float:
        """Bytes that bots read for each decision."""
        return self.numbers[READ_BYTES] / max(1, self.decisions)

    @property
    def bytes_up(self) -> float:
        """Bytes that bots wrote for each decision."""
        return self.numbers[WRITTEN_BYTES] / max(1, self.decisions)


def add_up(arrays: Sequence[Any]) -> tuple[int, ...]:
    """Arrays of several processes as one."""
    return tuple(map(sum, zip(*(array[:] for array in arrays), strict=True)))
