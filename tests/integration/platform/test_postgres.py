"""A platform with its ledger in PostgreSQL: killed whole in the middle of a tournament, and its database under it."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from services.common.reaper import descendants_of
from services.ledger.ledger import Access, Ledger
from services.ledger.values import TournamentState
from tests.databases.postgres import ESCAPED, PASSWORD, USER, Cluster, running_cluster

from .serving import Serve, bot_processes, eventually, is_alive, register_bots, run_baohuang, write_spec

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(400)]

BOTS = ["greedy-1", "greedy-2", "greedy-3", "random-1", "random-2", "random-3"]
MATCHES, DEALS = 240, 1


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with running_cluster() as running:
        yield running


@pytest.fixture
def url(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Where the ledger is to be: an empty database. The platform is told by the environment, password and all."""
    with cluster.database() as name:
        monkeypatch.setenv("BAOHUANG_LEDGER", cluster.url(name))
        yield cluster.url(name)


def test_a_platform_killed_with_its_ledger_in_a_database_goes_on_and_loses_nothing(
    cluster: Cluster, url: str, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    with ExitStack() as stack:
        # given a tournament that is half played, and a ledger in a database
        serve = Serve(data)
        stack.callback(end, serve)
        assert f"Ledger: postgresql://{USER}@127.0.0.1:{cluster.port}/" in serve.said()
        stack.enter_context(bot_processes(serve.server, register_bots(serve.server, BOTS), tmp_path / "bots"))
        serve.tournament("run", str(write_spec(tmp_path, "cup", BOTS, matches=MATCHES, deals=DEALS)), "--detach")
        eventually(lambda: done(url) >= MATCHES // 8, 100, "some results")
        no_password_is_shown(serve, data)

        # when its database crashes, and comes back after a while
        cluster.stop(signal.SIGQUIT)
        cluster.start()
        before = done(url)
        eventually(lambda: done(url) > before, 100, "it goes on")

        # and everything of the platform is killed at once
        left = serve.kill()
        for pid in left:
            eventually(lambda pid=pid: not is_alive(pid), what=f"{pid} is gone")  # type: ignore[misc]
        reached = done(url)
        assert 0 < reached < MATCHES, "it was killed in the middle"

        # then another one goes on with it, and plays what is missing
        port = serve.port
        serve = Serve(data, port=port)
        stack.callback(end, serve)
        eventually(lambda: state(url) is TournamentState.FINISHED, 200, "the rest")
        serve.interrupt()
    with Ledger.open(url, access=Access.READER) as ledger:
        assert [result.number for result in ledger.results("cup")] == list(range(MATCHES))
        assert ledger.totals("cup") == ledger.recount("cup")
    checked = run_baohuang("ledger", "check", "--replay", seconds=110)
    assert f"Everything fits: 1 tournaments, {MATCHES} results, {MATCHES * DEALS} deals" in checked.stderr
    assert not list(data.glob("ledger.db*")), "nothing of it is in a file"


def end(serve: Serve) -> None:
    for pid in serve.kill():
        eventually(lambda pid=pid: not is_alive(pid))  # type: ignore[misc]


def done(url: str) -> int:
    with Ledger.open(url, access=Access.READER) as ledger:
        return ledger.totals("cup").matches


def state(url: str) -> TournamentState:
    with Ledger.open(url, access=Access.READER) as ledger:
        return ledger.tournament("cup").state


def no_password_is_shown(serve: Serve, data: Path) -> None:
    """Neither in a list of processes nor in a log."""
    words = (PASSWORD.encode(), ESCAPED.encode())
    for pid in [serve.process.pid, *descendants_of(serve.process.pid)]:
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        assert not any(word in command for word in words)
    for folder, _, names in os.walk(data):
        for name in names:
            assert not any(word in (Path(folder) / name).read_bytes() for word in words), name
