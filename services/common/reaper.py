"""Makes sure that processes we started do not outlive us, even when we are killed without a chance to end them.

A tiny process of its own, this file run as a program, holds the reading end of a pipe. When the pipe closes, closed by
us or by our death, it kills what is left, and what that has started since. It knows the processes by file descriptors,
so a number that was given to somebody else in the meantime does no harm. Whoever lost his parent before he could be
found below it is known by a mark: a text in the command lines of all these processes and no others.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path


class Reaper:
    """Watches over processes by their ids; `close` ends those that are still there, all below them, and all marked."""

    def __init__(self, pids: Iterable[int], mark: str = "") -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__, mark, *map(str, pids)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # a Ctrl-C at the terminal is not for it
        )
        assert self._process.stdout is not None
        self._process.stdout.read(1)  # from here on it watches
        self._process.stdout.close()

    def close(self) -> None:
        """Kill what is left of the processes watched."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def descendants_of(pid: int) -> set[int]:
    """All processes below one, as the kernel tells now."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                # The name in parentheses may hold anything; what follows the last one is state and parent.
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(entry.name))
    found: set[int] = set()
    waiting = [pid]
    while waiting:
        for child in children.get(waiting.pop(), []):
            found.add(child)
            waiting.append(child)
    return found


def _marked(mark: bytes) -> set[int]:
    """All processes with the mark in their command lines."""
    found: set[int] = set()
    for entry in Path("/proc").iterdir():
        if mark and entry.name.isdigit():
            with contextlib.suppress(OSError):
                if mark in (entry / "cmdline").read_bytes():
                    found.add(int(entry.name))
    return found


def _watch(mark: bytes, pids: Iterable[int]) -> None:
    """Wait until standard input closes; then end these processes and all below them."""
    watched: dict[int, int] = {}
    _open(pids, watched)
    os.write(1, b"+")
    os.close(1)
    while os.read(0, 1):
        pass
    # What has stopped starts nothing more, and is still there to be asked for what it has started.
    known = -1
    while known < len(watched):
        known = len(watched)
        stopped = [pid for pid, process in watched.items() if _send(process, signal.SIGSTOP)]
        below = _marked(mark).union(*map(descendants_of, stopped)) - watched.keys() - {os.getpid()}
        _open(below, watched)
    for process in watched.values():
        _send(process, signal.SIGKILL)


def _open(pids: Iterable[int], watched: dict[int, int]) -> None:
    for pid in pids:
        with contextlib.suppress(OSError):
            watched[pid] = os.pidfd_open(pid)


def _send(process: int, number: signal.Signals) -> bool:
    """Whether the process was still there."""
    try:
        signal.pidfd_send_signal(process, number)
    except OSError:
        return False
    return True


if __name__ == "__main__":
    _watch(os.fsencode(sys.argv[1]), map(int, sys.argv[2:]))
