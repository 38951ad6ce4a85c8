"""A whole platform over mutual TLS, with a match service killed, and Prometheus; and no secret where others look."""

from __future__ import annotations

import asyncio
import json
import re
import ssl
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bots_sdk.client import LobbyClient, Tls
from services.access.operator import OPERATOR_FILE
from services.access.tokens import PREFIX
from services.common.live_tls import LOOK_S
from services.common.reaper import descendants_of
from tests.deploy.prometheus_server import start_prometheus

from .serving import (
    Serve,
    bot_processes,
    eventually,
    is_alive,
    register_bots,
    run_baohuang,
    tls_options,
    verify_ledger,
    write_spec,
)

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(400)]

BOTS = ["greedy-1", "greedy-2", "random-1", "random-2", "random-3"]


@dataclass
class Mutual:
    """A platform that demands certificates, its bots, and all that is secret about them."""

    serve: Serve
    certificates: Path
    tokens: dict[str, str]
    bots: list[subprocess.Popen[bytes]]

    @property
    def tls(self) -> Tls:
        assert self.serve.tls is not None
        return self.serve.tls


@pytest.fixture(scope="module")
def mutual(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mutual]:
    made = tmp_path_factory.mktemp("made") / "certs"
    run_baohuang("dev-ca", str(made))
    tls = Tls(made / "ca.pem", made / "client.pem", made / "client.key")
    options = ["--tls-server-cert", str(made / "server.pem"), "--tls-server-key", str(made / "server.key")]
    options += ["--tls-client-ca", str(made / "ca.pem"), "--tls-client-crl", str(made / "revoked.crl")]
    options += ["--log-level", "debug"]
    running = Serve(tmp_path_factory.mktemp("platform"), more=options, tls=tls)
    try:
        tokens = register_bots(running.server, BOTS, tls)
        with bot_processes(running.server, tokens, running.data / "bots", tls) as bots:
            yield Mutual(running, made, tokens, bots)
            assert "Traceback" not in running.said()
            running.interrupt()
    finally:
        for pid in running.kill():
            eventually(lambda pid=pid: not is_alive(pid))  # type: ignore[misc]


def fetch(address: str, path: str, tls: Tls) -> str:
    context = ssl.create_default_context(cafile=tls.ca)
    assert tls.certificate is not None
    context.load_cert_chain(tls.certificate, tls.key)
    with urllib.request.urlopen(f"https://{address}{path}", timeout=30, context=context) as response:
        return str(response.read().decode())


def test_a_tournament_is_played_although_a_match_service_dies(mutual: Mutual, tmp_path: Path) -> None:
    serve = mutual.serve
    assert "(TLS; clients need a certificate)" in serve.said()
    spec = write_spec(tmp_path, "sealed", BOTS, matches=60, deals=2)
    serve.tournament("run", str(spec), "--detach")
    eventually(lambda: serve.done("sealed") >= 5, 60)
    serve.kill_one("ray::MatchService")
    played = serve.tournament("resume", "sealed")
    assert played["tournament"]["state"] == "STATE_FINISHED"
    verify_ledger(serve.data, "sealed", 60, 2)
    for name, address in discovered(mutual).items():
        assert "baohuang_build_info" in fetch(address, "/metrics", mutual.tls), name


def discovered(mutual: Mutual) -> dict[str, str]:
    """The addresses of gateway and match services, by name, as `/sd` tells them."""
    entries = json.loads(fetch(mutual.serve.http, "/sd", mutual.tls))
    found = {entry["labels"]["name"]: entry["targets"][0] for entry in entries}
    return {name: found[name] for name in ("gateway", "match-1", "match-2")}


def test_who_has_no_certificate_gets_no_further_than_the_handshake(mutual: Mutual) -> None:
    server, ca = mutual.serve.server, str(mutual.certificates / "ca.pem")
    for command in (["tournament", "list"], ["bot", "list"], ["bot", "register", "eve"]):
        said = run_baohuang(*command, "--server", server, "--tls-ca", ca, code=1).stderr
        assert said.startswith(f"Error: {server} demands a certificate of its clients: ")
        said = run_baohuang(*command, "--server", server, code=1).stderr
        assert said.startswith(f"Error: {server} speaks TLS, but was called in plain text: ")


def test_a_certificate_is_no_token(mutual: Mutual, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("bh_nobody\n")
    options = ["--server", mutual.serve.server, *tls_options(mutual.tls), "--token-file", str(tmp_path / "token")]
    said = run_baohuang("bot", "run", "greedy", *options, code=1).stderr
    assert "TLS" not in said
    assert "token" in said
    assert "token" in run_baohuang("tournament", "pause", "nothing", *options, code=1).stderr


def test_a_certificate_that_was_revoked_opens_nothing_any_more(mutual: Mutual) -> None:
    run_baohuang("dev-ca", str(mutual.certificates), "--add-client", "eve")
    eve = Tls(mutual.tls.ca, mutual.certificates / "eve.pem", mutual.certificates / "eve.key")
    command = ["bot", "list", "--server", mutual.serve.server, *tls_options(eve)]
    run_baohuang(*command)
    run_baohuang("dev-ca", str(mutual.certificates), "--revoke", "eve")
    time.sleep(LOOK_S)
    said = run_baohuang(*command, code=1).stderr
    assert said.startswith("Error: The certificate with which you came was revoked. Ask the operator for another"), said
    for name, address in discovered(mutual).items():
        with pytest.raises((OSError, ssl.SSLError)):
            fetch(address, "/metrics", eve)
        assert "baohuang_tls_files_refused 0.0" in fetch(address, "/metrics", mutual.tls), name


def test_prometheus_reads_every_process(mutual: Mutual, tmp_path: Path) -> None:
    with start_prometheus(mutual.serve.http, tmp_path, mutual.certificates) as prometheus:
        prometheus.wait_for('count(up{job="baohuang", role=~"gateway|match-service"} == 1) >= 3')
        assert {target["scrapeUrl"].partition(":")[0] for target in prometheus.targets()} == {"https"}


def test_no_secret_is_where_others_look(mutual: Mutual, tmp_path: Path) -> None:
    serve = mutual.serve
    # Whatever may be written on the way is: a tournament to its end, refusals, a token that ends.
    spec = write_spec(tmp_path, "open", BOTS, matches=10, deals=1)
    serve.tournament("run", str(spec))
    extra = register_bots(serve.server, ["greedy-9"], mutual.tls)
    secrets = secrets_of(mutual, extra)
    asyncio.run(end_token(serve.server, mutual.tls, extra["greedy-9"]))

    processes = {serve.process.pid, *descendants_of(serve.process.pid), *(bot.pid for bot in mutual.bots)}
    listed = subprocess.run(
        ["ps", "-ww", "-o", "pid,args", "-p", ",".join(map(str, sorted(processes)))],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "baohuang bot run" in listed
    assert "--tls-key" in listed, "files may be named"
    seen = {"ps": listed, "page": fetch(serve.http, "/", mutual.tls), "/sd": fetch(serve.http, "/sd", mutual.tls)}
    for name, address in discovered(mutual).items():
        seen[f"metrics of {name}"] = fetch(address, "/metrics", mutual.tls)
    for path in (*serve.data.rglob("*"), *ray_session(listed).rglob("*.*")):
        if path.is_file() and path.name != OPERATOR_FILE:
            seen[str(path)] = path.read_bytes().decode("latin-1")
    assert {Path(name).name for name in seen} >= {"gateway.jsonl", "match-1.jsonl", "serve.jsonl", "greedy-1.log"}
    assert any(name.endswith("gcs_server.out") for name in seen)
    found = [(what, name) for name, text in seen.items() for what, secret in secrets.items() if secret in text]
    # Others of the kind, which the bots got: they begin alike.
    kinds = {"token": PREFIX + r"[\w-]{20,}", "ticket": re.escape(secrets["ticket 0"][:4]) + r"[\w-]{80,}"}
    found += [(f"some {what}", name) for name, text in seen.items() for what in kinds if re.search(kinds[what], text)]
    assert found == []


def secrets_of(mutual: Mutual, more: dict[str, str]) -> dict[str, str]:
    """What nobody else may see, by what it is: tokens, tickets, private keys, what lets into Ray."""
    found = {f"token of {name}": token for name, token in (mutual.tokens | more).items()}
    found["token of the operator"] = (mutual.serve.data / OPERATOR_FILE).read_text().strip()
    tickets = asyncio.run(tickets_for(mutual.serve.server, mutual.tls, more["greedy-9"]))
    found |= {f"ticket {number}": ticket for number, ticket in enumerate(tickets)}
    for path in mutual.certificates.glob("*.key"):
        body = "".join(line for line in path.read_text().splitlines() if "-----" not in line)
        found |= {f"part of {path.name} at {at}": body[at : at + 40] for at in (60, 100)}
    tokens = {token for pid in descendants_of(mutual.serve.process.pid) for token in ray_tokens(pid)}
    assert len(tokens) == 1
    found["what lets into Ray"] = tokens.pop()
    assert all(len(secret) >= 16 for secret in found.values())
    return found


async def tickets_for(server: str, tls: Tls, token: str) -> list[str]:
    async with LobbyClient(server, tls) as lobby:
        return [ticket.ticket for ticket in await anext(lobby.attend(token, 1))]


async def end_token(server: str, tls: Tls, token: str) -> None:
    async with LobbyClient(server, tls) as lobby:
        await lobby.revoke_token(token)


def ray_tokens(pid: int) -> list[str]:
    """What the environment of a process, which only its owner reads, says of Ray."""
    try:
        environment = Path(f"/proc/{pid}/environ").read_bytes().decode("latin-1").split("\0")
    except OSError:
        return []
    return [line.partition("=")[2] for line in environment if line.startswith("RAY_AUTH_TOKEN=")]


def ray_session(listed: str) -> Path:
    """Where Ray writes its logs, which every user of the machine reads."""
    found = re.search(r"--log_dir=(\S+)", listed)
    assert found is not None
    return Path(found[1])
