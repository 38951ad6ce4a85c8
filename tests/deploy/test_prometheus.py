"""Debian's Prometheus, with the configuration as shipped, finds every process and reads its numbers."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from bots_sdk.rules.phases import Phase
from services.common.matches import Ending
from services.common.metrics import (
    LedgerMetrics,
    LobbyMetrics,
    MatchMetrics,
    TournamentMetrics,
    make_registry,
)
from services.common.scraping import MetricsServer, serve_metrics
from services.common.targets import Role, Target
from services.web.app import make_app
from services.web.server import serve_web
from services.web.watching import BotCard, StandingLine, TournamentCard

from .conftest import StartPrometheus
from .prometheus_server import FOLDER

_ALERT = re.compile(r"^ +- alert: (\w+)$", re.MULTILINE)


class SmallPlatform:
    """A gateway, and processes that serve metrics; what is shown on the page does not matter here."""

    def __init__(self) -> None:
        self.lobby, self.match, self.tournament, self.ledger = (
            LobbyMetrics(),
            MatchMetrics(),
            TournamentMetrics(),
            LedgerMetrics(),
        )
        self.gateway = ""
        self._targets: dict[str, Target] = {}
        self._servers: dict[str, MetricsServer] = {}

    async def tournaments(self) -> Sequence[TournamentCard]:
        return ()

    async def standings(self, tournament: str) -> Sequence[StandingLine]:
        return ()

    async def bots(self) -> Sequence[BotCard]:
        return ()

    async def targets(self) -> Sequence[Target]:
        return list(self._targets.values())

    def start_match_service(self, name: str) -> None:
        self._start(Role.MATCH_SERVICE, name, serve_metrics(make_registry(Role.MATCH_SERVICE, self.match), "127.0.0.1"))

    def start_director(self, name: str) -> None:
        registry = make_registry(Role.DIRECTOR, self.tournament, self.ledger)
        self._start(Role.DIRECTOR, name, serve_metrics(registry, "127.0.0.1"))

    def end(self, name: str) -> None:
        """The process is gone, and not listed any more."""
        self._servers.pop(name).close()
        del self._targets[name]

    def end_all(self) -> None:
        for name in list(self._servers):
            self.end(name)

    def list_gateway(self, address: str) -> None:
        self.gateway = address
        self._targets["gateway"] = Target(Role.GATEWAY, "gateway", address)

    def _start(self, role: Role, name: str, server: MetricsServer) -> None:
        self._servers[name] = server
        self._targets[name] = Target(role, name, server.address)


@asynccontextmanager
async def _running_platform() -> AsyncIterator[SmallPlatform]:
    platform = SmallPlatform()
    server = await serve_web(make_app(platform, make_registry(Role.GATEWAY, platform.lobby)), "127.0.0.1")
    platform.list_gateway(server.address)
    platform.start_match_service("match-1")
    platform.start_director("spring")
    try:
        yield platform
    finally:
        platform.end_all()
        await server.close()


def _count(platform: SmallPlatform) -> None:
    platform.lobby.bots_attending = 6
    platform.match.tables_live = 9
    for milliseconds in range(1, 101):
        platform.match.decided(Phase.PLAY, milliseconds / 1000)
    platform.match.match_ended(Ending.COMPLETED)
    platform.tournament.matches_scheduled, platform.tournament.matches_done = 30, 12
    platform.ledger.wrote(rows=12, seconds=0.004)


@pytest.mark.slow
async def test_prometheus_finds_every_process_and_reads_its_numbers(prometheus_against: StartPrometheus) -> None:
    async with _running_platform() as platform:
        _count(platform)
        prometheus = await asyncio.to_thread(prometheus_against, platform.gateway)

        async def value(expression: str) -> float:
            (sample,) = await asyncio.to_thread(prometheus.wait_for, expression)
            return sample.value

        assert await value('count(up{job="baohuang"} == 1) == 3')
        assert await value('baohuang_bots_attending{job="baohuang", role="gateway", name="gateway"}') == 6
        assert await value('baohuang_tables_live{role="match-service", name="match-1"}') == 9
        assert await value('baohuang_matches_ended_total{name="match-1", outcome="completed"}') == 1
        assert await value('baohuang_matches_ended_total{name="match-1", outcome="void"}') == 0
        assert await value('baohuang_decisions_made_total{kind="play"}') == 100
        assert await value('baohuang_decisions_latency_seconds_bucket{kind="play", le="0.05"}') == 50
        assert await value('baohuang_tournament_matches_done{role="director", name="spring"}') == 12
        assert await value('baohuang_ledger_rows_total{role="director"}') == 12
        assert await value('count(baohuang_build_info{version!="", protocol="1"})') == 3
        assert await value('process_resident_memory_bytes{role="gateway"}') > 1e6
        shipped = {name for path in (FOLDER / "rules").glob("*.yml") for name in _ALERT.findall(path.read_text())}
        assert await asyncio.to_thread(prometheus.alert_names) == shipped
        assert {"BaohuangGatewayMissing", "BaohuangCertificateEnds"} <= shipped

        # A match service that is killed comes back on another port.
        platform.end("match-1")
        platform.start_match_service("match-2")
        platform.match.tables_live = 4
        assert await value('baohuang_tables_live{name="match-2"}') == 4
        assert await value('absent(up{name="match-1"})') == 1, "the dead one is not waited for"
        assert await value('count(up{job="baohuang"} == 1)') == 3
