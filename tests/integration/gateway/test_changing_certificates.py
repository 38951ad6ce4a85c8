"""Certificates that are renewed, and ones that are revoked, while gateway, match service and metrics are served."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import astuple, replace
from datetime import timedelta
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

from baohuang.lobby.v1 import lobby_service_pb2 as lobby_pb
from bots_sdk.client import LobbyClient, Tls
from bots_sdk.client.channel import open_channel
from bots_sdk.errors import Refused, TicketRejected, TlsFault
from bots_sdk.loading import load_bot
from bots_sdk.runner import BotRunner, RunnerSettings
from bots_sdk.testing.fake_lobby import FakeLobby
from services.cli.errors import reason_of
from services.common.clock import SystemClock
from services.common.tickets import Ticket, issue_ticket
from services.common.tls import ServerTls
from services.web.server import serve_web
from tests.integration.certificates import Certificates, grpc_credentials, live, renew

from .sealed import Whole, handshake_fault, health_of, make_match_service, play_error, read, serial_of, serving

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


async def test_a_bot_whose_certificate_is_revoked_leaves_and_comes_back_with_another(
    tmp_path: Path, files: ServerTls, ours: Certificates
) -> None:
    revoked = tmp_path / "revoked.crl"
    revoked.write_bytes(ours.authority.revoke([], None, SystemClock().now()))
    service, ann, ben = make_match_service(), ours.client(), ours.client()
    address = await service.start(tls=live(replace(files, client_crl=revoked)))
    until = SystemClock().now() + timedelta(hours=1)
    ticket = issue_ticket(b"k" * 32, Ticket("b1", "anns", "match-1", 2, until))
    said: list[str] = []
    async with FakeLobby(grpc_credentials(files)) as lobby:
        lobby.tokens["bh_token"] = "b1"
        lobby.name_services(lobby_pb.MatchServiceTicket(name="match-1", address=address, ticket=ticket, tables=2))
        settings = RunnerSettings(lobby.address, "bh_token", 2, tls=ann)
        running = asyncio.create_task(BotRunner(load_bot("greedy"), settings, said.append).run())
        try:
            await until_true(lambda: "b1" in service.floor.sessions)
            revoke(ours, ann, revoked)
            await until_true(lambda: any("was revoked" in line for line in said))
            await until_true(lambda: "b1" not in service.floor.sessions)
            for old, new in zip(astuple(ann), astuple(ben), strict=True):
                old.write_bytes(new.read_bytes())
            await until_true(lambda: said[-1] == "match-1: connected again")
            assert sum("was revoked" in line for line in said) == 1, said
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            await service.stop()


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


async def until_true(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        await asyncio.sleep(0.01)


async def until_read(url: str, tls: Tls, text: str) -> None:
    end = time.monotonic() + 60
    while text not in await read(url, tls):
        assert time.monotonic() < end
        await asyncio.sleep(0.05)


def serial_in(tls: ServerTls) -> int:
    return x509.load_pem_x509_certificate(tls.certificate.read_bytes()).serial_number
