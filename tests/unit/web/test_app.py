"""The gateway's HTTP side, over a real socket."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import logging
import re
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import quote

import pytest

from services.common.clock import ManualClock
from services.common.errors import PlatformError, Reason, SetupError
from services.common.metrics import LobbyMetrics, make_registry
from services.common.targets import Role, Target
from services.ledger.values import TournamentState
from services.web.app import FRESH_SECONDS, make_app
from services.web.server import serve_web
from services.web.watching import BotCard

from .platforms import Line, MemoryPlatform, fetch, make_card


@asynccontextmanager
async def _served(platform: MemoryPlatform, clock: ManualClock | None = None) -> AsyncIterator[str]:
    metrics = LobbyMetrics()
    metrics.bots_attending = 6
    server = await serve_web(make_app(platform, make_registry(Role.GATEWAY, metrics), clock), "127.0.0.1")
    try:
        yield f"http://{server.address}"
    finally:
        await server.close()


async def test_service_discovery_is_what_prometheus_wants() -> None:
    processes = [Target(Role.MATCH_SERVICE, "match-1", "127.0.0.1:9001"), Target(Role.DIRECTOR, '春"季', "[::1]:9002")]
    async with _served(MemoryPlatform(processes=processes)) as url:
        reply = await fetch(f"{url}/sd")
    assert (reply.status, reply.headers["content-type"]) == (200, "application/json")
    assert json.loads(reply.text) == [
        {"targets": ["127.0.0.1:9001"], "labels": {"role": "match-service", "name": "match-1"}},
        {"targets": ["[::1]:9002"], "labels": {"role": "director", "name": '春"季'}},
    ]


async def test_metrics_and_health_are_there() -> None:
    async with _served(MemoryPlatform()) as url:
        metrics, health = await fetch(f"{url}/metrics"), await fetch(f"{url}/healthz")
    assert "baohuang_bots_attending 6.0" in metrics.text
    assert metrics.headers["content-type"].startswith("text/plain; version=")
    assert (health.status, health.text) == (200, "ok\n")


async def test_the_page_forbids_everything_but_its_own_style() -> None:
    async with _served(MemoryPlatform([make_card()], [Line()], [BotCard("b", "", "", attending=True)])) as url:
        reply = await fetch(url)
    assert reply.status == 200
    style = re.findall(r"<style>(.*?)</style>", reply.text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style[0].encode()).digest()).decode()
    policy = reply.headers["content-security-policy"]
    assert policy.startswith("default-src 'none';")
    assert f"style-src 'sha256-{digest}'" in policy
    assert "style=" not in reply.text, "the policy would drop it"
    assert reply.headers["x-content-type-options"] == "nosniff"


async def test_the_running_tournament_is_shown_unless_another_is_asked_for() -> None:
    cards = [make_card("new", state=TournamentState.FINISHED), make_card("old & 春")]
    async with _served(MemoryPlatform(cards, [Line()])) as url:
        assert "Standings of old &amp; 春" in (await fetch(url)).text
        assert "Standings of new" in (await fetch(f"{url}/?tournament=new")).text
        assert "Standings of old &amp; 春" in (await fetch(f"{url}/?tournament={quote('old & 春')}")).text
        unknown = await fetch(f"{url}/?tournament=%3Cb%3E")
    assert unknown.status == 404
    assert "There is no tournament called &lt;b&gt;." in unknown.text


async def test_many_watchers_cost_as_much_as_one() -> None:
    platform, clock = MemoryPlatform([make_card()], [Line()]), ManualClock()
    once = ["tournaments", "bots", "standings of spring"]
    async with _served(platform, clock) as url:
        await asyncio.gather(*(fetch(url) for _ in range(8)))
        assert platform.asked == once
        clock.advance(FRESH_SECONDS)
        await fetch(url)
        assert platform.asked == once * 2


async def test_a_refusal_is_a_page_with_the_next_step() -> None:
    failure = PlatformError(Reason.UNREACHABLE, "The lobby does not answer.")
    async with _served(MemoryPlatform(failure=failure)) as url:
        reply = await fetch(url)
    assert reply.status == 503
    assert "The lobby does not answer." in reply.text
    assert failure.next_step in reply.text


@pytest.mark.parametrize("path", ["/", "/sd"])
async def test_a_fault_shows_an_incident_and_nothing_else(path: str, caplog: pytest.LogCaptureFixture) -> None:
    async with _served(MemoryPlatform(failure=RuntimeError("the inner text"))) as url:
        reply = await fetch(url + path)
    assert reply.status == 500
    assert "the inner text" not in reply.text
    (record,) = [record for record in caplog.records if record.levelno >= logging.ERROR]
    incident = record.getMessage().removeprefix("incident ")
    assert incident in reply.text
    assert "the inner text" in caplog.text


async def test_what_is_not_there_is_not_found() -> None:
    async with _served(MemoryPlatform()) as url:
        assert (await fetch(f"{url}/nothing")).status == 404


async def test_a_taken_port_is_one_sentence() -> None:
    app = make_app(MemoryPlatform(), make_registry(Role.GATEWAY))
    server = await serve_web(app, "127.0.0.1")
    try:
        with pytest.raises(SetupError) as caught:
            await serve_web(app, "127.0.0.1", int(server.address.rpartition(":")[2]))
    finally:
        await server.close()
    assert str(caught.value) == (
        f"The page cannot be served at {server.address} (Address already in use): "
        "choose another with --host or --http-port."
    )


async def test_an_unknown_host_is_one_sentence() -> None:
    with pytest.raises(
        SetupError, match=r"^The host no\.such\.host\.invalid cannot be found \(.*\): choose another\.$"
    ):
        await serve_web(make_app(MemoryPlatform(), make_registry(Role.GATEWAY)), "no.such.host.invalid")


async def test_serving_leaves_signals_and_the_port_to_others() -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    app = make_app(MemoryPlatform(), make_registry(Role.GATEWAY))
    server = await serve_web(app, "127.0.0.1")
    during = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    await server.close()
    assert during == before
    again = await serve_web(app, "127.0.0.1", int(server.address.rpartition(":")[2]))
    await again.close()
    assert again.address == server.address
