"""What so many calls between director and match services leave behind in Ray, and what Ray calls everything.

    python -m tests.integration.platform.ray_calls CALLS        prints one line of JSON

A whole platform with a small tournament is started in this process, and its match services are then called as directors
call them, by the same wrapper. The calls are mixed so that a tenth of the arguments and a tenth of the answers are
too large to travel within a call (100 kB): those go through the object store.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import grpc
import ray
from ray._private.internal_api import node_stats
from ray.core.generated import gcs_service_pb2, gcs_service_pb2_grpc

from bots_sdk.rules.profiles import PROFILES
from services import main as platform
from services.common.matches import HOUSE_PREFIX, ClockRules, Entrant, MatchOrder, MatchOutcome
from services.common.settings import LEDGER_FILE, Settings
from services.ledger.ledger import Ledger
from services.tournament.actor import RayMatchService

CUP = (
    "name: cup\nprofile: classic\nbots: [house:greedy, house:random]\nschedule: {kind: full, repeats: 4}\nseed: cup\n"
    "duplicate: none\ndeals: 1\n"
)
LARGE = 100_000
"""Bytes from which on Ray puts an argument or an answer into its object store."""

TABLES = 64
PARTS = 10
"""So often it is looked what is left; the first time after a tenth of the calls."""
SETTLING = 100
"""Fifths of a second."""
MIB = 1024 * 1024


class Director:
    """Calls one match service as the director of a tournament of its own does; `calls` counts."""

    def __init__(self, name: str, service: str) -> None:
        self._name = name
        self._port = RayMatchService(service, ray.get_actor(service))
        house = Entrant(f"{HOUSE_PREFIX}random", "house")
        self._order = MatchOrder(
            tournament=name,
            number=0,
            attempt="",
            seats=(house, house, house, house, house),
            options=PROFILES["classic"],
            deals=4,
            secret=b"s" * 32,
            nonce=b"n" * 32,
        )
        self._waiting: list[MatchOrder] = []

    async def begin(self) -> None:
        """Have some matches played, whose outcomes stay unconfirmed, and more wait for a bot that never comes."""
        await self._port.withdraw(self._name)
        played = [replace(self._order, number=one, attempt=f"{self._name}/{one}") for one in range(TABLES)]
        await self._port.submit(played)
        outcomes: list[tuple[int, MatchOutcome]] = []
        while len(outcomes) < TABLES:
            outcomes = await self._port.collect(self._name, 0, 20.0, TABLES)
        assert sum(len(outcome.record) for _, outcome in outcomes) > LARGE
        patient = ClockRules(ready=timedelta(hours=10))
        away = replace(self._order, clock=patient, seats=(Entrant("away", "away"), *self._order.seats[1:]))
        self._waiting = [
            replace(away, number=one, attempt=f"{self._name}/waits/{one}", nonce=os.urandom(LARGE // 32))
            for one in range(TABLES)
        ]
        await self._port.submit(self._waiting)

    async def ten_calls(self) -> None:
        """One with large arguments, one with a large answer, eight small ones."""
        await self._port.submit(self._waiting)
        assert len(await self._port.collect(self._name, 0, 0.0, 1)) == TABLES
        for _ in range(4):
            await self._port.submit(self._waiting[:1])
            assert await self._port.missing(["away"], 0.0) == ["away"]


@contextlib.asynccontextmanager
async def small_platform(folder: Path) -> AsyncIterator[platform.Platform]:
    """A platform that finds a tournament of house bots in its ledger."""
    settings = Settings(data_dir=folder, port=0, http_port=0, match_services=2)
    with Ledger.open(folder / LEDGER_FILE) as ledger:
        ledger.create_tournament("cup", CUP, b"cup")
    running = platform.Platform(settings)
    try:
        await running.start()
        yield running
    finally:
        running.close()


def store() -> dict[str, int]:
    """What is in the object stores, and what has ever been."""
    found = [node_stats(n["NodeManagerAddress"], n["NodeManagerPort"], False).store_stats for n in ray.nodes()]
    core = ray._private.worker.global_worker.core_worker
    return {
        "bytes_used": sum(one.object_store_bytes_used for one in found),
        "objects": sum(one.num_local_objects for one in found),
        "created": sum(one.cumulative_created_objects for one in found),
        "references": len(core.get_all_reference_counts()),
    }


def names() -> dict[str, Any]:
    """Actors and tasks as the state API reads them: `ray list actors` and `ray list tasks` ask the same services."""
    address = ray.get_runtime_context().gcs_address
    token = (("authorization", f"Bearer {platform._RAY_TOKEN}"),)
    with grpc.insecure_channel(address) as channel:
        actors = gcs_service_pb2_grpc.ActorInfoGcsServiceStub(channel).GetAllActorInfo(
            gcs_service_pb2.GetAllActorInfoRequest(), metadata=token
        )
        tasks = gcs_service_pb2_grpc.TaskInfoGcsServiceStub(channel).GetTaskEvents(
            gcs_service_pb2.GetTaskEventsRequest(limit=1000), metadata=token
        )
    return {
        "actors": {actor.name: [actor.class_name, actor.max_restarts] for actor in actors.actor_table_data},
        "tasks": sorted({event.task_info.name for event in tasks.events_by_task if event.HasField("task_info")}),
    }


async def named_from_the_start() -> set[str]:
    """The names of tasks before there are many calls: later the director's are not among the last thousand."""
    found: set[str] = set()
    for _ in range(SETTLING):
        found = set(names()["tasks"])
        if any(name.startswith("DirectorActor.") for name in found):
            break
        await asyncio.sleep(0.2)
    return found


def resident(pid: int) -> int:
    """MiB of memory of a process."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // MIB


async def settled() -> dict[str, int]:
    """The same, once Ray has had the time to throw away what nobody wants any more."""
    found = store()
    for _ in range(SETTLING):
        if not found["objects"]:
            break
        await asyncio.sleep(0.2)
        found = store()
    return found


async def measure(calls: int, folder: Path) -> dict[str, Any]:
    """Make the calls, a tenth of them to warm up."""
    async with small_platform(folder) as running:
        pids = await running._gateway.processes.remote() | {"caller": os.getpid()}
        directors = [Director(f"calls-{number}", f"match-{number % 2 + 1}") for number in range(4)]
        await asyncio.gather(*(one.begin() for one in directors))
        seen = await named_from_the_start()

        async def work(director: Director) -> None:
            for _ in range(calls // (PARTS * 10 * len(directors))):
                await director.ten_calls()

        parts = []
        begun, spent = time.perf_counter(), time.process_time()
        for _ in range(PARTS):
            await asyncio.gather(*(work(one) for one in directors))
            parts.append(await settled() | {name: resident(pid) for name, pid in pids.items()})
            print(json.dumps(parts[-1]), file=sys.stderr, flush=True)
        last = names()
        return {
            "calls": calls,
            "ms_a_call": round((time.perf_counter() - begun) / calls * 1000, 2),
            "callers_cpu_ms_a_call": round((time.process_time() - spent) / calls * 1000, 2),
            "growth_mib": {name: parts[-1][name] - parts[0][name] for name in pids},
            "parts": parts,
            "actors": last["actors"],
            "tasks": sorted(seen.union(last["tasks"])),
        }


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(asyncio.run(measure(int(sys.argv[1]), Path(folder)))), flush=True)


if __name__ == "__main__":
    main()
