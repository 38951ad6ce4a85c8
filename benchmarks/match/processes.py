"""Processes of a benchmark: started, read from outside, and ended for certain."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

from benchmarks.match.counting import SPAWN

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_PR_SET_PDEATHSIG = 1


def _run(parent: int, target: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    """Runs in the child, and ends with the parent, whatever becomes of that."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is for the parent, which kills us
    if os.getppid() == parent:
        target(*arguments)


@contextlib.contextmanager
def running() -> Iterator[Callable[..., SpawnProcess]]:
    """Gives a function that starts processes; all of them are killed at the end."""
    started: list[SpawnProcess] = []

    def start(target: Callable[..., None], *arguments: Any) -> SpawnProcess:
        process = SPAWN.Process(target=_run, args=(os.getpid(), target, arguments), daemon=True)
        process.start()
        started.append(process)
        return process

    try:
        yield start
    finally:
        for process in reversed(started):  # bots before their server, or they would complain
            process.kill()
            process.join()


def receive(pipe: Connection, process: SpawnProcess, seconds: float = 120.0) -> Any:
    """What a process sends.

    Raises:
        RuntimeError: it has died, or says nothing.
    """
    until = time.monotonic() + seconds
    while not pipe.poll(0.1):
        if not process.is_alive() or time.monotonic() > until:
            raise RuntimeError("a process of the benchmark has died or says nothing")
    return pipe.recv()


def wait_for(
    condition: Callable[[], bool], processes: Sequence[SpawnProcess], what: str, seconds: float = 120.0
) -> None:
    """Waits until something has come about.

    Raises:
        RuntimeError: it does not, or one of the processes has ended: bots do when their streams do, as on a machine
            that was stopped for a while.
    """
    until = time.monotonic() + seconds
    while not condition():
        if not all(process.is_alive() for process in processes):
            raise RuntimeError(f"waited in vain, as a process has ended: {what}")
        if time.monotonic() > until:
            raise RuntimeError(f"waited in vain for {seconds:g} s: {what}")
        time.sleep(0.05)


def cpu_of(process: SpawnProcess) -> float:
    """Seconds of processor time that a process has used."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def memory_of(process: SpawnProcess) -> int:
    """Resident bytes of a process."""
    return int(Path(f"/proc/{process.pid}/statm").read_text().split()[1]) * _PAGE


@dataclass(frozen=True, slots=True)
class Moment:
    """When something was read: seconds of the clock, and of the processors of servers and bots."""

    wall: float
    server: float
    bots: float


def moment(server: SpawnProcess, bots: list[SpawnProcess]) -> Moment:
    """Now."""
    return Moment(time.perf_counter(), cpu_of(server), sum(map(cpu_of, bots)))
