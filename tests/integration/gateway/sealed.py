"""All of a platform that listens, in this process and behind TLS, and how a client finds it."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest
from cryptography import x509
from grpc_health.v1 import health_pb2, health_pb2_grpc

from baohuang.match.v1 import match_service_pb2 as play_pb
from bots_sdk.client import LobbyClient, Tls
from bots_sdk.client.channel import error_of, open_channel
from bots_sdk.client.duplex import Duplex
from bots_sdk.errors import ArenaError, TlsFailed, TlsFault, Unreachable
from services.common.clock import SystemClock
from services.common.metrics import LedgerMetrics, LobbyMetrics, MatchMetrics, TlsMetrics, make_registry
from services.common.scraping import serve_metrics
from services.common.settings import Settings
from services.common.targets import Role
from services.common.tls import ServerTls
from services.gateway.gateway import Addresses, Gateway, GatewayMetrics
from services.ledger.ledger import Ledger
from services.match.service import MatchService, MatchServiceSettings
from tests.integration.certificates import live


@dataclass
class Whole:
    """Everything of a platform that listens."""

    gateway: Addresses
    match: str
    metrics: str


@contextlib.asynccontextmanager
async def serving(data: Path, tls: ServerTls | None) -> AsyncIterator[Whole]:
    with Ledger.open(data / "ledger.db") as ledger:
        files = (None,) * 4 if tls is None else (tls.certificate, tls.key, tls.client_ca, tls.client_crl)
        settings = Settings(data, port=0, http_port=0, **dict(zip(NAMES, files, strict=True)))  # type: ignore[arg-type]
        gateway = Gateway(
            settings,
            ledger,
            b"k" * 32,
            lambda name: pytest.fail("no tournament is started here"),
            metrics=GatewayMetrics(LobbyMetrics(), LedgerMetrics()),
            clock=SystemClock(),
        )
        service = make_match_service()
        tls_metrics = TlsMetrics()
        of_service = None if tls is None else live(tls, tls_metrics)
        registry = make_registry(Role.MATCH_SERVICE, MatchMetrics(), tls_metrics)
        metrics = serve_metrics(registry, "127.0.0.1", tls=of_service)
        addresses = await gateway.start()
        try:
            yield Whole(addresses, await service.start(tls=of_service), metrics.address)
        finally:
            await asyncio.to_thread(metrics.close)
            await service.stop()
            await gateway.stop()


NAMES = ("tls_server_cert", "tls_server_key", "tls_client_ca", "tls_client_crl")


def make_match_service() -> MatchService:
    settings = MatchServiceSettings("match-1", ticket_key=b"k" * 32)
    return MatchService(settings, MatchMetrics(), SystemClock())


async def health_of(address: str, tls: Tls | None) -> int:
    channel = open_channel(address, tls)
    stub: Any = health_pb2_grpc.HealthStub(channel)
    try:
        return int((await stub.Check(health_pb2.HealthCheckRequest(), timeout=60)).status)
    finally:
        await channel.close()


async def read(url: str, tls: Tls | None) -> str:
    def fetch() -> str:
        context = None if tls is None else tls.context()
        if context is not None:
            context.set_alpn_protocols(["http/1.1"])
        with urllib.request.urlopen(url, timeout=60, context=context) as response:
            return str(response.read().decode())

    return await asyncio.to_thread(fetch)


async def handshake_fault(address: str, tls: Tls | None) -> TlsFault:
    async with LobbyClient(address, tls) as lobby:
        with pytest.raises(TlsFailed) as caught:
            await lobby.register("mine")
    return caught.value.fault


async def play_error(address: str, tls: Tls) -> ArenaError:
    """Why a bot that has a wrong ticket is not let into a match service."""
    hello = play_pb.ClientRecord(hello=play_pb.Hello(ticket="forged", sdk="test", protocol_version=1, tables=1))
    channel = open_channel(address, tls)
    play: Any = channel.stream_stream(
        "/baohuang.match.v1.MatchService/Play", request_serializer=play_pb.PlayRequest.SerializeToString
    )
    call = Duplex(play(), address)
    try:
        with contextlib.suppress(Unreachable):  # it may be over already; reading tells why
            await call.write(play_pb.PlayRequest(records=[hello]))
        await call.read()
    except grpc.aio.AioRpcError as error:
        return error_of(error, address)
    finally:
        await channel.close()
    pytest.fail("it was let in")


async def serial_of(address: str) -> int:
    host, _, port = address.rpartition(":")
    pem = await asyncio.to_thread(ssl.get_server_certificate, (host, int(port)), timeout=60)
    return x509.load_pem_x509_certificate(pem.encode()).serial_number
