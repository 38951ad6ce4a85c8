"""Two hundred tables live, and the process under half of them killed, three times: nothing missing, nothing double."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.ledger.values import TournamentState

from .counting import gauges, lost_by_service, moved, verify_every_match
from .many_bots import bots_in_processes
from .serving import Serve, eventually, is_alive, register_bots

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(400)]

BOTS = [f"{kind}-{number}" for number in range(20) for kind in ("greedy", "high")]
PROCESSES = 4
TABLES = 40
LIVE = 200
AT_ONCE = 250
"""Matches on the way: some of them wait for a bot."""
MATCHES = 600
KILLS = 3


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    running = Serve(tmp_path / "data")
    try:
        yield running
    finally:
        for pid in running.kill():
            eventually(lambda pid=pid: not is_alive(pid))  # type: ignore[misc]


def write_spec(folder: Path) -> Path:
    path = folder / "crowd.yaml"
    path.write_text(
        f"name: crowd\nprofile: classic\nbots: [{', '.join(BOTS)}]\n"
        f"schedule: {{kind: balanced, matches: {MATCHES}}}\ndeals: 1\nseed: crowd\nclock: {{limit: 60s}}\n"
        f"in_flight: {AT_ONCE}\n"
    )
    return path


def test_killing_a_match_service_with_two_hundred_tables_live_loses_nothing(serve: Serve, tmp_path: Path) -> None:
    tokens = register_bots(serve.server, BOTS)
    killed: list[float] = []
    with bots_in_processes(serve.server, tokens, tmp_path / "bots", processes=PROCESSES, tables=TABLES) as bots:
        serve.tournament("run", str(write_spec(tmp_path)), "--detach")
        for _ in range(KILLS):
            services = serve.pids("ray::MatchServiceActor")
            live: dict[str, float] = eventually(lambda: full(serve), 60, f"{LIVE} tables live")
            os.kill(services[0], signal.SIGKILL)
            killed.append(min(live.values()))
            assert serve.state("crowd") is TournamentState.RUNNING
            eventually(lambda old=services: replaced(serve, old), 60, "a new process")  # type: ignore[misc]
            eventually(lambda: sorted(gauges(serve.http, "baohuang_sessions_live").values()) == [len(BOTS)] * 2, 60)
        eventually(lambda: serve.state("crowd") is TournamentState.FINISHED, 200)
        assert [process.poll() for process in bots] == [None] * PROCESSES, "they came back by themselves"
    attempts = verify_every_match(serve.data, "crowd", matches=MATCHES, deals=1)
    lost = lost_by_service(attempts)
    print(f"live at the kills: {killed}, void attempts: {dict(lost)}, attempts: {len(attempts)}")
    assert sum(lost.values()) >= sum(killed)
    assert moved(attempts), "some were played elsewhere"


def full(serve: Serve) -> dict[str, float] | None:
    """The live tables of both match services, if there are enough."""
    live = gauges(serve.http, "baohuang_tables_live")
    return live if len(live) == 2 and sum(live.values()) >= LIVE else None


def replaced(serve: Serve, old: list[int]) -> bool:
    now = serve.pids("ray::MatchServiceActor")
    return len(now) == len(old) and now != old
