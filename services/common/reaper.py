"""Makes sure that processes we started do not outlive us, even when we are killed without a chance to end them.

A tiny process of its own holds the reading end of a pipe. When the pipe closes, closed by us or by our death,
it kills what is left. It knows the processes by file descriptors, so a number that was given to somebody else in the
meantime does no harm.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

_WATCH = """
import os, signal, sys
watched = []
for pid in map(int, sys.argv[1:]):
    try:
        watched.append(os.pidfd_open(pid))
    except OSError:
        pass
os.write(1, b"+")
os.close(1)
while os.read(0, 1):
    pass
for process in watched:
    try:
        signal.pidfd_send_signal(process, signal.SIGKILL)
    except OSError:
        pass
"""


class Reaper:
    """Watches over processes by their ids; `close` ends those that are still there."""

    def __init__(self, pids: Iterable[int]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _WATCH, *map(str, pids)],
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
