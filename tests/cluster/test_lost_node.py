"""Match services on two nodes of a cluster, over mutual TLS: certificates are renewed, then one of the nodes is lost.

Nothing is missing, and nothing is there twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bots_sdk.client import Tls
from services.ledger.values import TournamentState
from services.tournament.spec import parse_spec
from tests.integration.platform.counting import discovered, gauges, lost_by_service, moved, verify_every_match
from tests.integration.platform.many_bots import bots_in_processes
from tests.integration.platform.serving import Serve, eventually, register_bots, run_baohuang
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


def join(nodes: Nodes, data: Path, certificates: Path, monkeypatch: pytest.MonkeyPatch) -> Serve:
    """A platform that listens everywhere and demands certificates, in a cluster that wants its token."""
    monkeypatch.setenv("RAY_AUTH_TOKEN", nodes.environ["RAY_AUTH_TOKEN"])
    run_baohuang("dev-ca", str(certificates), "--host", SECOND)
    ca, client, server = (certificates / name for name in ("ca.pem", "client.pem", "server.pem"))
    reach = ["--host", "0.0.0.0", "--advertised-host", "127.0.0.1", "--registration", "open"]
    reach += ["--tls-server-cert", str(server), "--tls-server-key", str(server.with_suffix(".key"))]
    tls = Tls(ca, client, client.with_suffix(".key"))
    return Serve(data, ray_address=nodes.address, more=[*reach, "--tls-client-ca", str(ca)], tls=tls)


def renew(serve: Serve, certificates: Path) -> None:
    """Another certificate in place of the server's, of which every match service is aware when this returns."""
    run_baohuang("dev-ca", str(certificates), "--add-server", "renewed", "--host", SECOND)
    for kind in ("key", "pem"):
        (certificates / f"server.{kind}").write_bytes((certificates / f"renewed.{kind}").read_bytes())
    eventually(
        lambda: list(gauges(serve.http, "baohuang_tls_renewals_total", serve.tls).values()) == [1] * SERVICES,
        60,
        "the renewed files are served on both nodes",
    )


def hosts(serve: Serve) -> list[str]:
    """Where the match services are, as Prometheus is told."""
    groups = discovered(serve.http, serve.tls)
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
    certificates = tmp_path / "certs"
    serve = join(nodes, tmp_path / "data", certificates, monkeypatch)

    def live(name: str) -> list[float]:
        return list(gauges(serve.http, name, serve.tls).values())

    try:
        assert hosts(serve) == ["127.0.0.1", SECOND], "spread, and each told by an address that leads to it"
        tokens = register_bots(serve.server, BOTS, serve.tls)
        processes = bots_in_processes(serve.server, tokens, tmp_path / "bots", processes=2, tables=64, tls=serve.tls)
        with processes as bots:
            (tmp_path / "spread.yaml").write_text(SPEC)
            serve.tournament("run", str(tmp_path / "spread.yaml"), "--detach")
            eventually(lambda: serve.done("spread") > 20, 60)
            eventually(lambda: min(live("baohuang_tables_live")) > 10, 60)
            renew(serve, certificates)
            assert live("baohuang_sessions_live") == [len(BOTS)] * SERVICES
            assert live("baohuang_sessions_reconnects_total") == [0] * SERVICES, "nobody had to come in anew for it"
            eventually(lambda: min(live("baohuang_tables_live")) > 10, 60)
            nodes.lose_second()
            assert serve.state("spread") is TournamentState.RUNNING
            eventually(lambda: hosts(serve) == ["127.0.0.1"] * SERVICES, 100, "restarted on the node that is left")
            eventually(
                lambda: live("baohuang_sessions_live") == [len(BOTS)] * SERVICES,
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
