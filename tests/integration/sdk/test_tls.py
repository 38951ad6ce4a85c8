"""TLS between a client and a platform: what works, and what is said of everything that does not."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import ssl
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import astuple
from datetime import timedelta
from pathlib import Path
from threading import Thread

import pytest

from baohuang.lobby.v1 import lobby_service_pb2 as lobby_pb
from bots_sdk.client import LobbyClient, Tls
from bots_sdk.client.diagnosis import diagnose
from bots_sdk.errors import ArenaError, TlsFailed, TlsFault, Unreachable
from bots_sdk.loading import load_bot
from bots_sdk.runner import BotRunner, RunnerSettings
from bots_sdk.testing.fake_lobby import FakeLobby
from bots_sdk.testing.fake_match_service import FakeMatchService
from bots_sdk.testing.hosted_match import HostedMatch, host
from services.common.tls import ServerTls
from tests.integration.certificates import Certificates, grpc_credentials

TOKEN = "token-of-mine"
DAY = timedelta(days=1)


@pytest.fixture
def ours(tmp_path: Path) -> Certificates:
    return Certificates(tmp_path / "ours")


@pytest.fixture
def strangers(tmp_path: Path) -> Certificates:
    return Certificates(tmp_path / "strangers")


async def register(tls: Tls | None, lobby: FakeLobby, address: str = "") -> str:
    async with LobbyClient(address or lobby.address, tls) as client:
        return (await client.register("mine")).token


async def fault_of(server: ServerTls | None, client: Tls | None) -> TlsFailed:
    """What a client says of a lobby; every call says the same."""
    async with FakeLobby(None if server is None else grpc_credentials(server)) as lobby:
        lobby.tokens[TOKEN] = "bot-1"
        with pytest.raises(TlsFailed) as caught:
            await register(client, lobby)
        with pytest.raises(TlsFailed) as again:
            async with LobbyClient(lobby.address, client) as attending:
                await anext(attending.attend(TOKEN, 1))
        assert str(again.value) == str(caught.value)
        assert str(caught.value).replace(lobby.address, "HOST:PORT").isprintable()
        return TlsFailed(caught.value.fault, str(caught.value).replace(lobby.address, "HOST:PORT"))


# ---- what works


async def test_whoever_trusts_the_authority_is_served(ours: Certificates) -> None:
    async with FakeLobby(grpc_credentials(ours.server())) as lobby:
        assert await register(ours.trusting, lobby) == "token-1"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
async def test_the_name_that_is_called_is_the_one_that_counts(ours: Certificates, host: str) -> None:
    async with FakeLobby(grpc_credentials(ours.server())) as lobby:
        assert await register(ours.trusting, lobby, f"{host}:{lobby.address.rpartition(':')[2]}") == "token-1"


async def test_who_has_a_certificate_is_let_in_where_one_is_demanded(ours: Certificates) -> None:
    async with FakeLobby(grpc_credentials(ours.server(client_ca=ours.ca))) as lobby:
        assert await register(ours.client(), lobby) == "token-1"


async def test_a_certificate_that_nobody_asks_for_does_no_harm(ours: Certificates, strangers: Certificates) -> None:
    async with FakeLobby(grpc_credentials(ours.server())) as lobby:
        assert await register(strangers.client(ca=ours.ca), lobby) == "token-1"


async def test_the_authorities_of_the_system_are_trusted(
    ours: Certificates, strangers: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(ours.ca))
    async with FakeLobby(grpc_credentials(ours.server())) as lobby:
        assert await register(Tls(), lobby) == "token-1"
    fault = await fault_of(strangers.server(), Tls())
    assert fault.fault is TlsFault.UNTRUSTED
    assert "the system does not know its authority" in str(fault)


# ---- what does not, and what is said


async def test_a_server_without_tls(ours: Certificates) -> None:
    fault = await fault_of(None, ours.trusting)
    assert fault.fault is TlsFault.SERVER_SPEAKS_PLAINTEXT
    assert str(fault) == (
        "HOST:PORT does not speak TLS: ask the operator for a port that does, or leave out --tls, --tls-ca and "
        "BAOHUANG_TLS… if you trust the network in between"
    )


@pytest.mark.parametrize("mutual", [False, True])
async def test_a_client_without_tls(ours: Certificates, mutual: bool) -> None:
    fault = await fault_of(ours.server(client_ca=ours.ca if mutual else None), None)
    assert fault.fault is TlsFault.SERVER_SPEAKS_TLS
    assert str(fault) == (
        "HOST:PORT speaks TLS, but was called in plain text: give the file of its authority with --tls-ca FILE, or "
        "--tls if it is one that the system trusts"
    )


async def test_a_server_of_another_authority(ours: Certificates, strangers: Certificates) -> None:
    fault = await fault_of(strangers.server(), ours.trusting)
    assert fault.fault is TlsFault.UNTRUSTED
    assert str(fault).startswith(
        f"the certificate of HOST:PORT is not trusted, as {ours.ca} does not hold its authority ("
    )
    assert str(fault).endswith("): give the right file with --tls-ca FILE")


async def test_a_server_of_another_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.common.authority.LOCAL_HOSTS", ())
    elsewhere = Certificates(tmp_path / "elsewhere")
    fault = await fault_of(elsewhere.server(hosts=["arena.example.org", "192.0.2.7"]), elsewhere.trusting)
    assert fault.fault is TlsFault.HOST_MISMATCH
    assert str(fault) == (
        "the certificate of HOST:PORT is not for 127.0.0.1 but for arena.example.org, 192.0.2.7: call the server by "
        "such a name, or the operator must get one for 127.0.0.1"
    )


async def test_a_server_whose_certificate_has_ended(ours: Certificates) -> None:
    fault = await fault_of(ours.server(life=-DAY), ours.trusting)
    assert fault.fault is TlsFault.EXPIRED
    assert str(fault) == (
        "the certificate of HOST:PORT has ended: the operator must renew it (or is the clock of this machine wrong?)"
    )


async def test_a_server_whose_certificate_is_not_good_yet(ours: Certificates) -> None:
    fault = await fault_of(ours.server(begins=DAY), ours.trusting)
    assert fault.fault is TlsFault.EXPIRED
    assert str(fault) == "the certificate of HOST:PORT is not good yet: is the clock of this machine right?"


async def test_a_client_without_the_certificate_that_is_demanded(ours: Certificates) -> None:
    fault = await fault_of(ours.server(client_ca=ours.ca), ours.trusting)
    assert fault.fault is TlsFault.CLIENT_CERTIFICATE_NEEDED
    assert str(fault) == (
        "HOST:PORT demands a certificate of its clients: give the one you got from the operator with --tls-cert FILE "
        "--tls-key FILE"
    )


@pytest.mark.parametrize("which", ["strange", "ended", "a server's"])
async def test_a_client_with_a_certificate_that_is_not_taken(
    ours: Certificates, strangers: Certificates, which: str
) -> None:
    server = ours.server()
    clients = {
        "strange": strangers.client(ca=ours.ca),
        "ended": ours.client(life=-DAY),
        "a server's": Tls(ours.ca, server.certificate, server.key),
    }
    fault = await fault_of(ours.server(client_ca=ours.ca), clients[which])
    assert fault.fault is TlsFault.CLIENT_CERTIFICATE_REFUSED
    assert str(fault) == (
        f"HOST:PORT did not take the certificate in {clients[which].certificate}: it must be of the authority that the "
        "server takes, made for clients, and not have ended"
    )


def test_files_of_the_client_that_are_not_in_order(ours: Certificates, tmp_path: Path) -> None:
    good = ours.client()
    other = ours.client()
    none, text = tmp_path / "none", tmp_path / "text"
    text.write_text("hello")
    cases = {
        Tls(none): f"{none} cannot be read: No such file or directory",
        Tls(text): f"{text} holds no certificate in PEM form (--tls-ca)",
        Tls(
            ours.ca, good.certificate
        ): "a client's certificate and its key go together: --tls-cert FILE --tls-key FILE",
        Tls(ours.ca, good.certificate, none): f"{none} cannot be read: No such file or directory",
        Tls(ours.ca, good.certificate, other.key): f"{other.key} is not the key of {good.certificate}",
        Tls(ours.ca, good.key, good.certificate): (
            f"{good.key} and {good.certificate} hold no certificate and key in PEM form"
        ),
    }
    for tls, sentence in cases.items():
        with pytest.raises(TlsFailed) as caught:
            tls.credentials()
        assert (caught.value.fault, str(caught.value)) == (TlsFault.FILES_WRONG, sentence)


# ---- servers that are not ours


@contextlib.asynccontextmanager
async def server(context: ssl.SSLContext | None, welcome: Callable[[int], bytes] = lambda _: b"") -> AsyncIterator[str]:
    """Says `welcome` of the number of the connection to whoever comes, and closes; its address."""
    connections = 0

    async def serve(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        with contextlib.suppress(ConnectionError):
            writer.write(welcome(connections))
            await writer.drain()
            writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context) as listening:
        yield f"127.0.0.1:{listening.sockets[0].getsockname()[1]}"


def server_context(
    tls: ServerTls, *, protocols: list[str], latest: ssl.TLSVersion = ssl.TLSVersion.MAXIMUM_SUPPORTED
) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_into(context)
    context.set_alpn_protocols(protocols)
    context.maximum_version = latest
    return context


@pytest.mark.parametrize(
    ("latest", "fault"),
    [
        (ssl.TLSVersion.TLSv1_3, TlsFault.CLIENT_CERTIFICATE_NEEDED),
        (ssl.TLSVersion.TLSv1_2, TlsFault.OTHER),  # it has no word for it but "handshake failure"
    ],
)
async def test_a_server_that_says_itself_what_it_misses(
    ours: Certificates, latest: ssl.TLSVersion, fault: TlsFault
) -> None:
    context = server_context(ours.server(client_ca=ours.ca), protocols=["h2"], latest=latest)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"127.0.0.1:{listening.getsockname()[1]}"

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listening.accept()
                    with connection, contextlib.suppress(ssl.SSLError):
                        context.wrap_socket(connection, server_side=True).close()

        thread = Thread(target=serve, daemon=True)
        thread.start()
        found = await diagnose(address, ours.trusting)
        assert isinstance(found, TlsFailed)
        assert found.fault is fault
        assert "--tls-cert" in str(found)
        plain = await diagnose(address, None)
        assert isinstance(plain, TlsFailed)
        assert plain.fault is TlsFault.SERVER_SPEAKS_TLS
        listening.shutdown(socket.SHUT_RDWR)
        await asyncio.to_thread(thread.join)


async def test_the_port_of_the_page_is_no_fault_of_tls(ours: Certificates) -> None:
    async with server(server_context(ours.server(), protocols=["http/1.1"])) as address:
        found = await diagnose(address, ours.trusting)
        assert isinstance(found, Unreachable)
        assert str(found) == (
            f"what answers at {address} speaks TLS, but is no gRPC server: is it the port of the page?"
        )


async def test_a_server_that_is_just_stopping_is_no_fault(ours: Certificates) -> None:
    context = server_context(ours.server(), protocols=["h2"])
    async with server(context, lambda number: b"" if number == 1 else b"settings") as address:
        assert await diagnose(address, ours.trusting) is None


@pytest.mark.parametrize("tls", [False, True])
async def test_nobody_there_and_somebody_else_are_no_faults(ours: Certificates, tls: bool) -> None:
    client = ours.trusting if tls else None
    async with server(None) as address:
        assert await diagnose(address, client) is None  # closes at once, as a server does that ends
    assert await diagnose(address, client) is None  # nobody any more
    assert await diagnose("no.such.host.invalid:1", client) is None
    assert await diagnose("nonsense", client) is None


# ---- bots


class Platform:
    """A lobby and a match service, and a bot that was told to go there."""

    def __init__(self, lobby: FakeLobby, service: FakeMatchService, tls: Tls | None) -> None:
        self.lobby, self.service = lobby, service
        lobby.tokens[TOKEN] = "bot-1"
        lobby.name_services(lobby_pb.MatchServiceTicket(name="ms-1", address=service.address, ticket="t", tables=2))
        self.said: list[str] = []
        self.runner = BotRunner(load_bot("greedy"), RunnerSettings(lobby.address, TOKEN, 2, tls=tls), self.said.append)
        self.task = asyncio.create_task(self.runner.run())

    async def until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            assert not self.task.done(), self.task
            await asyncio.sleep(0.005)


@contextlib.asynccontextmanager
async def running(lobby: ServerTls | None, service: ServerTls | None, tls: Tls | None) -> AsyncIterator[Platform]:
    async with (
        FakeLobby(None if lobby is None else grpc_credentials(lobby)) as first,
        FakeMatchService(None if service is None else grpc_credentials(service)) as second,
    ):
        made = Platform(first, second, tls)
        try:
            yield made
        finally:
            made.task.cancel()
            with contextlib.suppress(asyncio.CancelledError, ArenaError):
                await made.task


async def test_a_bot_shows_its_certificate_to_lobby_and_match_services(ours: Certificates) -> None:
    demanding = ours.server(client_ca=ours.ca)
    async with running(demanding, demanding, ours.client()) as platform:
        await host(await platform.service.next_stream(), HostedMatch())
        await platform.until(lambda: platform.runner.statistics.matches == 1)


async def test_a_fault_at_first_ends_the_run(ours: Certificates, strangers: Certificates) -> None:
    async with running(strangers.server(), ours.server(), ours.trusting) as platform:
        with pytest.raises(TlsFailed, match="is not trusted"):
            await platform.task
    async with running(ours.server(), strangers.server(), ours.trusting) as platform:
        with pytest.raises(TlsFailed, match="is not trusted"):
            await platform.task
    async with running(None, ours.server(), None) as platform:
        with pytest.raises(TlsFailed, match="speaks TLS, but was called in plain text"):
            await platform.task


async def test_a_fault_later_is_said_once_and_waited_out(ours: Certificates, strangers: Certificates) -> None:
    async with running(ours.server(), ours.server(), ours.trusting) as platform:
        await (await platform.service.next_stream()).welcome()
        for part in (platform.lobby, platform.service):
            await part.stop()
            part.credentials = grpc_credentials(strangers.server())
            await part.start()
        await platform.until(lambda: len([line for line in platform.said if "is not trusted" in line]) == 2)
        for part in (platform.lobby, platform.service):
            await part.stop()
            part.credentials = grpc_credentials(ours.server())
            await part.start()
        await (await platform.service.next_stream()).welcome()
        await platform.until(
            lambda: platform.said[-1].startswith("in the lobby") or "in the lobby" in platform.said[-2]
        )
        assert len([line for line in platform.said if "is not trusted" in line]) == 2, platform.said


async def test_a_bot_comes_in_anew_with_what_its_files_are_by_then(ours: Certificates, strangers: Certificates) -> None:
    """Another authority altogether: for the server, and for the bot."""
    before, after = ours.client(), strangers.client()
    demanding = ours.server(client_ca=ours.ca)
    async with running(demanding, demanding, before) as platform:
        await (await platform.service.next_stream()).welcome()
        for old, new in zip(astuple(before), astuple(after), strict=True):
            old.write_bytes(new.read_bytes())
        for part in (platform.lobby, platform.service):
            await part.stop()
            part.credentials = grpc_credentials(strangers.server(client_ca=strangers.ca))
            await part.start()
        await (await platform.service.next_stream()).welcome()
        await platform.until(lambda: sum(line.startswith("in the lobby") for line in platform.said) == 2)


async def test_a_server_that_is_down_is_waited_for_as_ever(ours: Certificates) -> None:
    async with running(ours.server(), ours.server(), ours.trusting) as platform:
        await platform.lobby.stop()
        platform.task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await platform.task
        again = BotRunner(
            load_bot("greedy"),
            RunnerSettings(platform.lobby.address, TOKEN, 2, tls=ours.trusting),
            platform.said.append,
        )
        platform.task = asyncio.create_task(again.run())
        await platform.until(lambda: "nobody answers" in (platform.said or [""])[-1])
        await platform.lobby.start()
        await platform.until(lambda: again.has_been_in)


# ---- processes


async def baohuang(*arguments: str, **variables: str) -> tuple[int | None, str, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bots_sdk.cli", *arguments,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, env={**os.environ, **variables},
    )  # fmt: skip
    out, err = await process.communicate()
    return process.returncode, out.decode(), err.decode()


async def test_bot_run_ends_with_the_sentence(ours: Certificates, strangers: Certificates) -> None:
    async with FakeLobby(grpc_credentials(ours.server(client_ca=ours.ca))) as lobby:
        run = ["bot", "run", "greedy", "--server", lobby.address]
        for options, sentence in {
            (): "speaks TLS, but was called in plain text",
            ("--tls",): "is not trusted, as the system does not know its authority",
            ("--tls-ca", str(strangers.ca)): "does not hold its authority",
            ("--tls-ca", str(ours.ca)): "demands a certificate of its clients",
            ("--tls-ca", str(ours.folder / "none.pem")): "none.pem cannot be read: No such file or directory",
        }.items():
            code, out, err = await baohuang(*run, *options, BAOHUANG_TOKEN=TOKEN)
            assert (code, out) == (1, ""), err
            (line,) = err.splitlines()
            assert line.startswith("Error: ")
            assert sentence in line


async def test_options_and_variables_do_the_same(ours: Certificates) -> None:
    tls = ours.client()
    assert tls.certificate is not None
    files = {"CA": str(ours.ca), "CERT": str(tls.certificate), "KEY": str(tls.key)}
    options = [word for name, file in files.items() for word in (f"--tls-{name.lower()}", file)]
    variables = {f"BAOHUANG_TLS_{name}": file for name, file in files.items()}
    async with FakeLobby(grpc_credentials(ours.server(client_ca=ours.ca))) as lobby:
        code, out, err = await baohuang("bot", "register", "ann", "--server", lobby.address, *options)
        assert (code, out) == (0, "token-1\n"), err
        assert f"baohuang bot run my_bot.py:MyBot --server {lobby.address} {' '.join(options)}" in err
        code, out, err = await baohuang("bot", "list", "--server", lobby.address, **variables)
        assert (code, out) == (0, "ann  away\n"), err
        assert err == ""
