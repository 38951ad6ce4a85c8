"""Match services on two nodes of a cluster, and one of them lost in the middle: nothing missing, nothing double."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.ledger.values import TournamentState
from services.tournament.spec import parse_spec
from tests.integration.platform.counting import gauges, lost_by_service, moved, verify_every_match
from tests.integration.platform.many_bots import bots_in_processes
from tests.integration.platform.serving import Serve, eventually, register_bots
from tests.integration.platform.undisturbed import play_schedule

from .nodes import SECOND, Nodes, two_nodes

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(400)]

BOTS = [f"{kind}-{number}" for number in range(5) for kind in ("greedy", "fickle")]
MATCHES = 700
SERVICES = 2
SPEC = (
    f"name: spread\nprofile: classic\nbots: [{', '.join(BOTS)}]\n"
    f"schedule: {{kind: balanced, matches: {MATCHES}}}\ndeals: 1\nseed: spread\nclock: {{limit: 60s}}\n"
    "in_flight: 80\n"
)


def join(nodes: Nodes, data: Path, monkeypatch: pytest.MonkeyPatch) -> Serve:
    """A platform that listens everywhere, in a cluster that wants its token."""
    monkeypatch.setenv("RAY_AUTH_TOKEN", nodes.environ["RAY_AUTH_TOKEN"])
    reach = ("--host", "0.0.0.0", "--advertised-host", "127.0.0.1", "--allow-plaintext", "--registration", "open")
    return Serve(data, ray_address=nodes.address, more=reach)


def hosts(serve: Serve) -> list[str]:
    """Where the match services are, as Prometheus is told."""
    with urllib.request.urlopen(f"http://{serve.http}/sd", timeout=10) as response:
        groups = json.loads(response.read())
    return sorted(
        group["targets"][0].rpartition(":")[0] for group in groups if group["labels"]["role"] == "match-service"
    )


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    with two_nodes(tmp_path_factory.mktemp("nodes")) as running:
        yield running


def test_without_its_token_a_cluster_is_not_joined_and_that_is_said(
    nodes: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_AUTH_TOKEN", "0" * 64)
    with pytest.raises(AssertionError, match=r"cannot be joined: .* set RAY_AUTH_TOKEN or RAY_AUTH_TOKEN_PATH"):
        Serve(tmp_path / "data", ray_address=nodes.address)


def test_on_this_machine_alone_the_platform_says_that_others_cannot_reach_it(
    nodes: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_AUTH_TOKEN", nodes.environ["RAY_AUTH_TOKEN"])
    with pytest.raises(AssertionError, match=rf"{SECOND} is another machine of the Ray cluster.* --host 0\.0\.0\.0"):
        Serve(tmp_path / "data", ray_address=nodes.address)


def test_a_lost_node_costs_no_result(nodes: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    serve = join(nodes, tmp_path / "data", monkeypatch)
    try:
        assert hosts(serve) == ["127.0.0.1", SECOND], "spread, and each told by an address that leads to it"
        tokens = register_bots(serve.server, BOTS)
        with bots_in_processes(serve.server, tokens, tmp_path / "bots", processes=2, tables=64) as bots:
            (tmp_path / "spread.yaml").write_text(SPEC)
            serve.tournament("run", str(tmp_path / "spread.yaml"), "--detach")
            eventually(lambda: serve.done("spread") > 20, 60)
            eventually(lambda: min(gauges(serve.http, "baohuang_tables_live").values()) > 10, 60)
            nodes.lose_second()
            assert serve.state("spread") is TournamentState.RUNNING
            eventually(lambda: hosts(serve) == ["127.0.0.1"] * SERVICES, 100, "restarted on the node that is left")
            eventually(
                lambda: list(gauges(serve.http, "baohuang_sessions_live").values()) == [len(BOTS)] * SERVICES,
                60,
                "the bots have learnt the new address",
            )
            eventually(lambda: serve.state("spread") is TournamentState.FINISHED, 200)
            assert [process.poll() for process in bots] == [None, None]
        attempts = verify_every_match(serve.data, "spread", play_schedule(parse_spec(SPEC)), deals=1)
        lost = lost_by_service(attempts)
        print(f"void attempts: {dict(lost)}, attempts: {len(attempts)}")
        assert len(lost) == 1, "only what was on the lost node"
        assert sum(lost.values()) > 10
        assert moved(attempts), "some were played on the other node"
        assert serve.interrupt().endswith("Stopped.\n")
    finally:
        serve.kill()
