"""A schedule of a million matches: how long it takes to plan and to go through, and what it needs of memory.

In a process of its own, since what is measured is the resident size of the whole of it.
"""

from __future__ import annotations

import time
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path

from benchmarks.match.counting import SPAWN
from benchmarks.match.processes import receive, running
from benchmarks.whole.contest import Contest, spec_of
from services.tournament.director.backlog import Backlog, Turn
from services.tournament.schedule import make_schedule

MIB = 1024 * 1024
_PAGE_BYTES = 4096
PATIENCE_S = 600.0


def measure_planning(contest: Contest, matches: int) -> dict[str, float]:
    """Seconds until the first match is known, seconds for all, and how much memory grows.

    `plan_growth_mib` is growth from a tenth of the way to its end; `plan_mib` that by the whole, planning included;
    `backlog_mib` what a director needs besides, to know what is done: a byte for each match.
    """
    with running() as start:
        pipe, theirs = SPAWN.Pipe()
        process = start(_plan, replace(contest, matches=matches), theirs)
        found: dict[str, float] = receive(pipe, process, PATIENCE_S)
    return found


def _plan(contest: Contest, pipe: Connection) -> None:
    before, begun = _resident(), time.perf_counter()
    schedule = make_schedule(spec_of(contest, "million"))
    schedule.match(0)
    planned = time.perf_counter() - begun
    tenth, warm, count = len(schedule) // 10, 0.0, 0
    begun = time.perf_counter()
    for count, match in enumerate(schedule, 1):
        if count == tenth:
            warm = _resident()
        if match.number != count - 1:
            raise RuntimeError("matches must come in order")
    iterated = time.perf_counter() - begun
    end = _resident()
    if count != contest.matches:
        raise RuntimeError(f"{count} matches instead of {contest.matches}")
    begun = time.perf_counter()
    backlog = Backlog(len(schedule), range(0))
    while (number := backlog.take(lambda _: Turn.STARTS)) is not None:
        schedule.match(number)
        backlog.finish(number)
    taken = time.perf_counter() - begun
    pipe.send(
        {
            "plan_matches": count,
            "plan_s": round(planned, 2),
            "plan_iterate_s": round(iterated, 2),
            "plan_take_s": round(taken, 2),
            "plan_growth_mib": round((end - warm) / MIB, 2),
            "plan_mib": round((end - before) / MIB, 1),
            "backlog_mib": round((_resident() - end) / MIB, 2),
        }
    )


def _resident() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE_BYTES
