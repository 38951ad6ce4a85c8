"""Forty bots in the middle of a tournament, and something killed ten times: nothing missing, nothing double, no digit
other than in a run that nothing disturbs.

What is killed when is drawn anew each time. A run is repeated with the seed that it prints:

    BAOHUANG_KILL_SEED=... pytest -s tests/integration/platform/test_killed_anywhere.py
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import grpc
import pytest

from services.cli.client import Unreachable, connect
from services.ledger.ledger import Access, Ledger
from services.ledger.values import TournamentState
from services.tournament.spec import parse_spec
from services.tournament.standings import Order

from .counting import gauges, lost_by_service, moved, verify_every_match
from .kills import Kill, Victim, plan_kills
from .many_bots import bots_in_processes
from .serving import Serve, eventually, is_alive, register_bots, run_baohuang
from .undisturbed import format_table, play_schedule

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(900)]

BOTS = [f"{kind}-{number}" for number in range(20) for kind in ("greedy", "fickle")]
PROCESSES = 4
TABLES = 40
AT_ONCE = 250
"""Matches on the way: some of them wait for a bot."""
LIVE = 200
"""Tables that the first match service is killed with half of."""
MATCHES = 660
MIDDLE = 200
"""Results before which the moments of all kills are. They come later where many matches end at about the same time, or
the platform goes on while something is waited for: there are enough left for that.
"""
DELAY = 0.5
PATIENCE = 300.0
"""Seconds that nothing takes: they say only that nothing hangs."""
KILLS = {Victim.DIRECTOR: 2, Victim.MATCH_SERVICE: 3, Victim.GATEWAY: 2, Victim.WHOLE: 2, Victim.SERVE: 1}
SPEC = (
    f"name: crowd\nprofile: classic\noptions: {{beans: true, room: 10, stakes: [1, 2, 3], titles: true}}\n"
    f"bots: [{', '.join(BOTS)}]\n"
    f"schedule: {{kind: balanced, matches: {MATCHES}}}\ndeals: 1\nseed: crowd\nclock: {{limit: 60s}}\n"
    f"in_flight: {AT_ONCE}\n"
)


class Running:
    """A platform that is killed and started again, with its one tournament."""

    def __init__(self, data: Path) -> None:
        self.serve = Serve(data)
        self.results: dict[int, str] = {}
        """The attempts that had made results at the last look, by match: none of them may ever change."""

    def done(self) -> int:
        return self.serve.done("crowd")

    def kill(self, kill: Kill) -> None:
        """Kill one victim, and start the platform again where nothing else does."""
        if kill.victim.is_actor:
            pids: list[int] = eventually(lambda: self.serve.pids(kill.victim), PATIENCE, kill.victim)
            os.kill(pids[int(kill.choice * len(pids))], 9)
            return
        left = self.serve.kill() if kill.victim is Victim.SERVE else self.serve.kill_whole()
        eventually(lambda: not any(map(is_alive, left)), PATIENCE, "all processes of the platform are gone")
        self.serve = Serve(self.serve.data, port=self.serve.port)

    def look(self) -> None:
        """What has a result keeps it."""
        with Ledger.open(self.serve.data / "ledger.db", access=Access.READER) as ledger:
            results = {result.number: result.attempt for result in ledger.results("crowd")}
        assert self.results.items() <= results.items(), "a result is lost, or was replaced"
        self.results = results

    def table_is_told(self) -> bool:
        """Whether the gateway answers, and has a table."""

        async def ask() -> int:
            async with connect(self.serve.server) as client:
                return len((await client.standings("crowd")).standings)

        try:
            return asyncio.run(ask()) == len(BOTS)
        except (grpc.RpcError, Unreachable):
            return False

    def end(self) -> None:
        for pid in self.serve.kill():
            eventually(lambda pid=pid: not is_alive(pid))  # type: ignore[misc]


@pytest.fixture
def seed() -> str:
    chosen = os.environ.get("BAOHUANG_KILL_SEED") or secrets.token_hex(4)
    print(f"BAOHUANG_KILL_SEED={chosen}")
    return chosen


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    started = Running(tmp_path / "data")
    try:
        yield started
    finally:
        started.end()


def test_whatever_is_killed_ten_times_the_results_are_those_of_a_run_that_nothing_disturbs(
    running: Running, tmp_path: Path, seed: str
) -> None:
    kills = plan_kills(seed, KILLS, results=MIDDLE, delay=DELAY)
    spec_file = tmp_path / "crowd.yaml"
    spec_file.write_text(SPEC)
    with ExitStack() as stack:
        tokens = register_bots(running.serve.server, BOTS)
        bots = stack.enter_context(
            bots_in_processes(running.serve.server, tokens, tmp_path / "bots", processes=PROCESSES, tables=TABLES)
        )
        running.serve.tournament("run", str(spec_file), "--detach")
        victims: set[Victim] = set()
        for number, kill in enumerate(kills, 1):
            eventually(lambda kill=kill: running.done() >= kill.results, PATIENCE, f"the moment for {kill}")  # type: ignore[misc]
            if kill.victim is Victim.MATCH_SERVICE and kill.victim not in victims:
                eventually(lambda: live_tables(running.serve) >= LIVE, PATIENCE, f"{LIVE} tables live")
            time.sleep(kill.delay)  # the moment, drawn from the seed
            assert running.serve.state("crowd") is TournamentState.RUNNING
            running.kill(kill)
            victims.add(kill.victim)
            running.look()
            before = len(running.results)
            print(f"{number}. {kill}: {before} results were there")
            eventually(lambda before=before: running.done() > before, PATIENCE, "it goes on by itself")  # type: ignore[misc]
            eventually(running.table_is_told, PATIENCE, "the gateway tells the table")
        eventually(lambda: running.serve.state("crowd") is TournamentState.FINISHED, PATIENCE)
        assert [process.poll() for process in bots] == [None] * PROCESSES, "they came back by themselves"

    # then the results are those of the schedule, each once, to the cards and beans
    running.look()
    spec = parse_spec(SPEC)
    played = play_schedule(spec)
    attempts = verify_every_match(running.serve.data, "crowd", played, deals=1)
    lost = lost_by_service(attempts)
    print(f"void attempts: {dict(lost)}, attempts: {len(attempts)}")
    assert moved(attempts), "some that a match service lost were played by another one"
    # and the table is the same to the last digit
    for order in Order:
        table = ("standings", "crowd", "--by", order.name.lower(), "--json")
        said = run_baohuang("tournament", *table, *running.serve.operator).stdout
        assert said.endswith(f'"standings": {format_table(spec, played, order)}}}\n')
    run_baohuang("ledger", "check", "--data", str(running.serve.data))


def live_tables(serve: Serve) -> float:
    """Live tables of both match services; 0 while one of them, or the gateway, does not answer."""
    with contextlib.suppress(OSError):
        live = gauges(serve.http, "baohuang_tables_live")
        return sum(live.values()) if len(live) == 2 else 0
    return 0
