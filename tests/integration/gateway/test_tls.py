"""Gateway, match service and metrics behind TLS: who is let in, who is not, and that certificates replace no token."""

from __future__ import annotations

import asyncio
import socket
import ssl
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from grpc_health.v1 import health_pb2

from bots_sdk.client import LobbyClient
from bots_sdk.errors import TicketRejected, TlsFault, TokenRejected
from services.cli.client import connect
from services.common.metrics import make_registry
from services.common.scraping import MetricsServer, serve_metrics
from services.common.targets import Role
from tests.integration.certificates import Certificates, live

from .sealed import Whole, handshake_fault, health_of, play_error, read, serving

# ---- who is let in


async def test_with_tls_everything_that_listens_speaks_it(tmp_path: Path, ours: Certificates) -> None:
    async with serving(tmp_path, ours.server()) as whole:
        assert await health_of(whole.gateway.grpc, ours.trusting) == health_pb2.HealthCheckResponse.SERVING
        async with connect(whole.gateway.grpc, ours.trusting):
            pass
        assert "baohuang_bots_attending" in await read(f"https://{whole.gateway.http}/metrics", ours.trusting)
        assert "baohuang_tables_live" in await read(f"https://{whole.metrics}/metrics", ours.trusting)
        assert isinstance(await play_error(whole.match, ours.trusting), TicketRejected)
        for address in (whole.gateway.http, whole.metrics):
            with pytest.raises((urllib.error.URLError, ConnectionError)):
                await read(f"http://{address}/metrics", None)
        for address in (whole.gateway.grpc, whole.match):
            fault = await handshake_fault(address, None)
            assert fault is TlsFault.SERVER_SPEAKS_TLS


async def test_without_a_certificate_nobody_gets_through_the_handshake(demanding: Whole, ours: Certificates) -> None:
    for address in (demanding.gateway.grpc, demanding.match):
        assert await handshake_fault(address, ours.trusting) is TlsFault.CLIENT_CERTIFICATE_NEEDED
    for address in (demanding.gateway.http, demanding.metrics):
        for path in ("/", "/metrics", "/sd"):
            with pytest.raises((urllib.error.URLError, ssl.SSLError, ConnectionError)) as caught:
                await read(f"https://{address}{path}", ours.trusting)
            assert not isinstance(caught.value, urllib.error.HTTPError), "it was answered"


async def test_of_strangers_no_certificate_is_taken(demanding: Whole, ours: Certificates, tmp_path: Path) -> None:
    stranger = Certificates(tmp_path / "strangers").client(ca=ours.ca)
    for address in (demanding.gateway.grpc, demanding.match):
        assert await handshake_fault(address, stranger) is TlsFault.CLIENT_CERTIFICATE_REFUSED


async def test_with_a_certificate_tokens_and_tickets_are_needed_all_the_same(
    demanding: Whole, ours: Certificates
) -> None:
    client = ours.client()
    assert await health_of(demanding.gateway.grpc, client) == health_pb2.HealthCheckResponse.SERVING
    assert "baohuang_tables_live" in await read(f"https://{demanding.metrics}/metrics", client)
    async with LobbyClient(demanding.gateway.grpc, client) as lobby:
        with pytest.raises(TokenRejected):
            await anext(lobby.attend("bh_nobody", 1))
    assert isinstance(await play_error(demanding.match, client), TicketRejected)


# ---- as a stranger's tool sees it


@pytest.mark.parametrize(("version", "spoken"), [("-tls1_3", True), ("-tls1_2", True), ("-tls1_1", False)])
async def test_old_versions_are_not_spoken(demanding: Whole, ours: Certificates, version: str, spoken: bool) -> None:
    client = ours.client()
    for address in (demanding.gateway.grpc, demanding.gateway.http, demanding.match, demanding.metrics):
        command = ["openssl", "s_client", "-connect", address, version, "-CAfile", str(ours.ca), "-verify_return_error"]
        command += ["-cert", str(client.certificate), "-key", str(client.key), "-cipher", "DEFAULT:@SECLEVEL=0"]
        done = await asyncio.to_thread(
            subprocess.run, command, input="", capture_output=True, text=True, timeout=60, check=False
        )
        assert ("Cipher is (NONE)" not in done.stdout) is spoken, done.stdout + done.stderr
        assert not spoken or "Verify return code: 0 (ok)" in done.stdout


# ---- metrics while somebody dawdles


@pytest.fixture
def metrics(ours: Certificates) -> Iterator[MetricsServer]:
    server = serve_metrics(make_registry(Role.DIRECTOR), "127.0.0.1", tls=live(ours.server()))
    yield server
    server.close()


async def test_who_is_slow_with_his_handshake_keeps_nobody_waiting(metrics: MetricsServer, ours: Certificates) -> None:
    host, _, port = metrics.address.rpartition(":")
    with socket.create_connection((host, int(port))) as silent, socket.create_connection((host, int(port))) as slow:
        slow.sendall(b"\x16\x03\x01")  # the beginning of a handshake, and no more
        assert "process_resident_memory_bytes" in await read(f"https://{metrics.address}/metrics", ours.trusting)
        silent.sendall(b"GET / HTTP/1.0\r\n\r\n")  # no TLS at all
        assert "process_resident_memory_bytes" in await read(f"https://{metrics.address}/metrics", ours.trusting)
