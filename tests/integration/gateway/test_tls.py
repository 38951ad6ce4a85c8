"""Gateway, match service and metrics behind TLS: who is let in, who is not, and that certificates replace no token."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest
from cryptography import x509
from grpc_health.v1 import health_pb2, health_pb2_grpc
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from baohuang.match.v1 import match_service_pb2 as play_pb
from bots_sdk.client import LobbyClient, Tls
from bots_sdk.client.channel import error_of, open_channel
from bots_sdk.client.duplex import Duplex
from bots_sdk.errors import ArenaError, Refused, TicketRejected, TlsFailed, TlsFault, TokenRejected, Unreachable
from services.cli.client import connect
from services.cli.errors import reason_of
from services.common.clock import SystemClock
from services.common.metrics import LedgerMetrics, LobbyMetrics, MatchMetrics, TlsMetrics, make_registry
from services.common.scraping import MetricsServer, serve_metrics
from services.common.settings import Settings
from services.common.targets import Role
from services.common.tls import ServerTls
from services.gateway.gateway import Addresses, Gateway, GatewayMetrics
from services.ledger.ledger import Ledger
from services.match.service import MatchService, MatchServiceSettings
from services.web.server import serve_web
from tests.integration.certificates import Certificates, live, renew


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


@pytest.fixture
def ours(tmp_path: Path) -> Certificates:
    return Certificates(tmp_path / "ours")


@pytest.fixture
def files(ours: Certificates, tmp_path: Path) -> ServerTls:
    """Of a server that demands certificates; what it takes is in a file of its own, to be renewed."""
    client_ca = tmp_path / "clients.pem"
    client_ca.write_bytes(ours.ca.read_bytes())
    return ours.server(client_ca=client_ca)


@pytest.fixture
async def demanding(tmp_path: Path, files: ServerTls) -> AsyncIterator[Whole]:
    async with serving(tmp_path, files) as whole:
        yield whole


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


# ---- certificates that are renewed


async def test_renewed_files_are_served_without_a_restart_and_streams_stay_open(
    demanding: Whole, files: ServerTls, ours: Certificates, tmp_path: Path
) -> None:
    """The authority of the clients is another one too: who is in stays in, and comes in anew with renewed files."""
    client = ours.client()
    assert client.certificate is not None
    assert client.key is not None
    addresses = (demanding.gateway.grpc, demanding.gateway.http, demanding.match, demanding.metrics)
    before = {await serial_of(address) for address in addresses}
    async with (
        staying_in(demanding.gateway.grpc, client) as in_gateway,
        staying_in(demanding.match, client) as in_match,
    ):
        others = Certificates(tmp_path / "others")
        renewed = others.server(client_ca=others.ca)
        renew(files, renewed)
        for address in addresses:
            await until_shown(address, renewed)
        assert serial_in(renewed) not in before
        for address in (demanding.gateway.grpc, demanding.match):
            assert (
                await handshake_fault(address, Tls(others.ca, client.certificate, client.key))
                is TlsFault.CLIENT_CERTIFICATE_REFUSED
            )
        # The client's files are renewed, and the same client comes in with them.
        for old, new in zip((client.ca, client.certificate, client.key), astuple(others.client()), strict=True):
            old.write_bytes(new.read_bytes())  # type: ignore[union-attr]
        for address in (demanding.gateway.grpc, demanding.match):
            assert await health_of(address, client) == health_pb2.HealthCheckResponse.SERVING
        for address in (demanding.gateway.http, demanding.metrics):
            text = await read(f"https://{address}/metrics", client)
            assert "baohuang_tls_renewals_total 1.0" in text
        assert await in_gateway()
        assert await in_match()


async def test_half_written_files_keep_nobody_out(demanding: Whole, files: ServerTls, ours: Certificates) -> None:
    client = ours.client()
    addresses = (demanding.gateway.grpc, demanding.gateway.http, demanding.match, demanding.metrics)
    (before,) = {await serial_of(address) for address in addresses}
    renewed = ours.server(client_ca=ours.ca)
    files.key.write_bytes(renewed.key.read_bytes())
    for address in (demanding.gateway.http, demanding.metrics):
        await until_read(f"https://{address}/metrics", client, "baohuang_tls_files_refused 1.0")
    assert {await serial_of(address) for address in addresses} == {before}
    for address in (demanding.gateway.grpc, demanding.match):
        assert await health_of(address, client) == health_pb2.HealthCheckResponse.SERVING
    files.certificate.write_bytes(renewed.certificate.read_bytes())
    for address in addresses:
        await until_shown(address, renewed)
    for address in (demanding.gateway.http, demanding.metrics):
        assert "baohuang_tls_files_refused 0.0" in await read(f"https://{address}/metrics", client)


# ---- certificates that are revoked


async def test_who_is_put_on_the_list_is_refused_everywhere_and_his_streams_end(
    tmp_path: Path, files: ServerTls, ours: Certificates
) -> None:
    revoked = tmp_path / "revoked.crl"
    revoked.write_bytes(ours.authority.revoke([], None, SystemClock().now()))
    ann, ben = ours.client(), ours.client()
    async with serving(tmp_path, replace(files, client_crl=revoked)) as whole, contextlib.AsyncExitStack() as stack:
        streams = {}
        for name, client in (("ann", ann), ("ben", ben)):
            for address in (whole.gateway.grpc, whole.match):
                stub: Any = health_pb2_grpc.HealthStub(await stack.enter_async_context(open_channel(address, client)))
                streams[name, address] = stub.Watch(health_pb2.HealthCheckRequest())
                await streams[name, address].read()
        lobby = await stack.enter_async_context(LobbyClient(whole.gateway.grpc, ann))
        attending = lobby.attend((await lobby.register("anns")).token, 1)
        assert await anext(attending) == []
        revoke(ours, ann, revoked)
        for address in (whole.gateway.grpc, whole.match):
            async with asyncio.timeout(60):
                with pytest.raises(grpc.aio.AioRpcError) as caught:
                    await streams["ann", address].read()
            assert reason_of(caught.value) == "REASON_CERTIFICATE_REVOKED"
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await health_of(address, ann)
            assert reason_of(caught.value) == "REASON_CERTIFICATE_REVOKED"
            assert not streams["ben", address].done()
            assert await health_of(address, ben) == health_pb2.HealthCheckResponse.SERVING
        with pytest.raises(Refused, match="was revoked"):
            await anext(attending)
        refused = await play_error(whole.match, ann)
        assert isinstance(refused, Refused)
        assert refused.reason == "REASON_CERTIFICATE_REVOKED"
        assert isinstance(await play_error(whole.match, ben), TicketRejected)
        with pytest.raises(Refused, match="was revoked") as told:
            await lobby.list_bots()
        assert "another certificate" in told.value.next_step
        for address in (whole.gateway.http, whole.metrics):
            with pytest.raises((urllib.error.URLError, ssl.SSLError, ConnectionError)):
                await read(f"https://{address}/metrics", ann)
            assert "baohuang_build_info" in await read(f"https://{address}/metrics", ben)


async def test_a_page_that_goes_on_asking_over_its_connection_is_sent_away_too(
    tmp_path: Path, files: ServerTls, ours: Certificates
) -> None:
    revoked = tmp_path / "revoked.crl"
    revoked.write_bytes(ours.authority.revoke([], None, SystemClock().now()))
    tls, ann = live(replace(files, client_crl=revoked)), ours.client()
    app = Starlette(routes=[Route("/", lambda request: PlainTextResponse("here"))])
    server = await serve_web(app, "127.0.0.1", tls=tls, patience=3.0)
    context = ann.context()
    context.set_alpn_protocols(["http/1.1"])
    host, _, port = server.address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port), ssl=context)

    async def ask() -> bool:
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        try:
            return (await reader.readuntil(b"here")).startswith(b"HTTP/1.1 200")
        except (asyncio.IncompleteReadError, ConnectionError):
            return False

    assert await ask()
    revoke(ours, ann, revoked)
    end = time.monotonic() + 60
    while await ask():
        assert time.monotonic() < end
        await asyncio.sleep(0.05)
    writer.close()
    await server.close()


def revoke(authority: Certificates, client: Tls, known: Path) -> None:
    assert client.certificate is not None
    certificate = x509.load_pem_x509_certificate(client.certificate.read_bytes())
    known.write_bytes(authority.authority.revoke([certificate], known.read_bytes(), SystemClock().now()))


@contextlib.asynccontextmanager
async def staying_in(address: str, tls: Tls) -> AsyncIterator[Callable[[], Awaitable[bool]]]:
    """A stream that is opened before; the function says whether it is open still and something comes over it."""
    channel = open_channel(address, tls)
    stub: Any = health_pb2_grpc.HealthStub(channel)
    watch = stub.Watch(health_pb2.HealthCheckRequest())
    await watch.read()

    async def is_in() -> bool:
        # Over the connection of the stream: a channel has one, and a new one would not be let in.
        return not watch.done() and (await stub.Check(health_pb2.HealthCheckRequest(), timeout=60)).status == 1

    try:
        yield is_in
    finally:
        watch.cancel()
        await channel.close()


async def until_shown(address: str, tls: ServerTls) -> None:
    end = time.monotonic() + 60
    while await serial_of(address) != serial_in(tls):
        assert time.monotonic() < end
        await asyncio.sleep(0.05)


async def until_read(url: str, tls: Tls, text: str) -> None:
    end = time.monotonic() + 60
    while text not in await read(url, tls):
        assert time.monotonic() < end
        await asyncio.sleep(0.05)


def serial_in(tls: ServerTls) -> int:
    return x509.load_pem_x509_certificate(tls.certificate.read_bytes()).serial_number


async def serial_of(address: str) -> int:
    host, _, port = address.rpartition(":")
    pem = await asyncio.to_thread(ssl.get_server_certificate, (host, int(port)), timeout=60)
    return x509.load_pem_x509_certificate(pem.encode()).serial_number
