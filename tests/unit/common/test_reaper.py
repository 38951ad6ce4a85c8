"""Processes that were started do not outlive whoever started them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from services.common.reaper import Reaper, descendants_of

SLEEP = [sys.executable, "-S", "-c", "import time; time.sleep(600)"]


def ended(pid: int) -> bool:
    """Whether a process comes to be gone; one nobody waits for counts as gone."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.01)
    return False


def test_closing_kills_what_is_left() -> None:
    process = subprocess.Popen(SLEEP)
    reaper = Reaper([process.pid])
    assert process.poll() is None
    reaper.close()
    assert process.wait(60) == -signal.SIGKILL


def test_closing_is_harmless_when_nothing_is_left() -> None:
    process = subprocess.Popen(SLEEP)
    reaper = Reaper([process.pid])
    process.kill()
    process.wait()
    reaper.close()


def test_what_we_started_dies_with_us_when_we_are_killed() -> None:
    script = (
        "import subprocess, sys, time\n"
        "from services.common.reaper import Reaper\n"
        f"child = subprocess.Popen({SLEEP!r}, start_new_session=True)\n"
        "reaper = Reaper([child.pid])\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        others = descendants_of(parent.pid)
        assert child in others
        parent.kill()
    assert all(ended(pid) for pid in others)


def test_what_they_start_later_dies_too() -> None:
    script = (
        "import subprocess, sys\n"
        "sys.stdin.readline()\n"
        f"child = subprocess.Popen({SLEEP!r}, start_new_session=True)\n"
        "print(child.pid, flush=True)\n"
        "child.wait()\n"
    )
    command, pipe = [sys.executable, "-S", "-c", script], subprocess.PIPE
    with subprocess.Popen(command, text=True, stdin=pipe, stdout=pipe) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None
        reaper = Reaper([parent.pid])
        parent.stdin.write("go\n")
        parent.stdin.flush()
        child = int(parent.stdout.readline())
        reaper.close()
        assert ended(child)


def test_an_orphan_is_known_by_its_mark() -> None:
    marked, other = (subprocess.Popen([*SLEEP, word]) for word in ("/a/session", "/another"))
    try:
        Reaper([], mark="/a/session").close()
        assert marked.wait(60) == -signal.SIGKILL
        assert other.poll() is None
    finally:
        for process in (marked, other):
            process.kill()
            process.wait()


def test_descendants_are_found_at_any_depth() -> None:
    script = f"import subprocess; subprocess.Popen({SLEEP!r}).wait()"
    with subprocess.Popen([sys.executable, "-S", "-c", script]) as parent:
        deadline = time.monotonic() + 60
        while not (below := descendants_of(parent.pid)) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert below <= descendants_of(os.getpid())
        assert len(below) == 1
        Reaper([parent.pid, *below]).close()
