"""Every call of the gateway with anything in it, and pages under any address: answered, or refused with a reason."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

import grpc
import grpc.aio
import pytest
from google.protobuf import message_factory
from google.protobuf.descriptor import MethodDescriptor
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from baohuang.access.v1 import access_service_pb2
from baohuang.lobby.v1 import lobby_service_pb2
from baohuang.tournament.v1 import tournament_service_pb2
from services.access.operator import OPERATOR_FILE, provide_operator_token
from services.common.buckets import Rate
from services.ledger.values import TournamentState
from services.tournament.director import DirectorStatus
from tests.integration.gateway.test_gateway import SPEC, WaitingDirector, make_gateway

from .inputs import NASTY_BYTES, NASTY_TEXTS, random_message, spoilt, spoilt_text
from .written_texts import BLOCK_SPEC, BOMBS
from .written_texts import SPEC as LONG_SPEC

pytestmark = pytest.mark.timeout(600)  # for hundreds of calls and requests, one after the other
CALLS = 600
REQUESTS = 300
SERVICES = (
    access_service_pb2.DESCRIPTOR.services_by_name["AccessService"],
    lobby_service_pb2.DESCRIPTOR.services_by_name["LobbyService"],
    tournament_service_pb2.DESCRIPTOR.services_by_name["TournamentService"],
)
METHODS: list[MethodDescriptor] = [method for service in SERVICES for method in service.methods]


class EndingDirector(WaitingDirector):
    """Does at once what it is told."""

    async def pause(self, reason: str) -> bool:
        return await self.suspend(0)

    async def cancel(self) -> bool:
        self._board.put(DirectorStatus(0, TournamentState.CANCELLED, "", 5))
        return True


@pytest.fixture(autouse=True)
def _directors_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.integration.gateway.test_gateway.WaitingDirector", EndingDirector)
    monkeypatch.setattr("services.access.gate.FAILURES", Rate(per_second=1e6, burst=10**9))  # its tests are elsewhere


@asynccontextmanager
async def running(data: Path) -> AsyncIterator[tuple[str, str]]:
    """A gateway with a tournament and an operator; its two addresses."""
    gateway, ledger = make_gateway(data)
    provide_operator_token(ledger, data)
    addresses = await gateway.start()
    try:
        await gateway.desk.create(SPEC)
        yield addresses.grpc, addresses.http
    finally:
        await gateway.suspend(0)
        await gateway.stop()
        ledger.close()


@pytest.fixture
def errors(caplog: pytest.LogCaptureFixture) -> Iterator[list[logging.LogRecord]]:
    """What was logged as an error: every incident is."""
    found: list[logging.LogRecord] = []
    yield found
    found += [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert [(record.getMessage(), record.exc_info) for record in found] == []


_OLD, _NEW = 8, 4
"""Of the tokens that it remembers: those it began with, and the newest ones."""


class Caller:
    """Calls with anything in them; remembers tokens and names, so that some of what it says means something."""

    def __init__(self, channel: grpc.aio.Channel, operator: str, rng: Random) -> None:
        self.ends: Counter[str] = Counter()
        self._unary: Any = channel.unary_unary  # without serializers they take bytes, which the typing does not know
        self._stream: Any = channel.unary_stream
        self._rng = rng
        self._tokens = ["", "bh_nobody", *[operator] * 6]
        self._names = ["cup", "ada", ""]

    async def call(self) -> None:
        method = self._rng.choice(METHODS)
        path = f"/{method.containing_service.full_name}/{method.name}"
        metadata = self._metadata()
        kind = message_factory.GetMessageClass(method.output_type)
        try:
            if method.server_streaming:
                stream: Any = self._stream(path)(self._request(method), metadata=metadata, timeout=60)
                data = await stream.read()
                stream.cancel()
            else:
                data = await self._unary(path)(self._request(method), metadata=metadata, timeout=60)
        except grpc.aio.AioRpcError as error:
            self.ends[self._reason_of(error, path)] += 1
        else:
            self.ends["answered"] += 1
            if token := getattr(kind.FromString(data), "token", ""):
                self._tokens.append(token)
                del self._tokens[_OLD:-_NEW]

    def _reason_of(self, error: grpc.aio.AioRpcError, path: str) -> str:
        status = rpc_status.from_call(error)  # type: ignore[arg-type]  # the typing knows synchronous calls only
        assert status is not None, f"{path} ended without a reason: {error.code()}, {error.details()}"
        info = error_details_pb2.ErrorInfo()
        assert status.details[0].Unpack(info)
        assert info.reason != "REASON_INTERNAL", f"{path}: {status.message}"
        return info.reason

    def _metadata(self) -> list[tuple[str, str | bytes]]:
        rng = self._rng
        word = rng.choice(("Bearer ", "Bearer ", "Bearer ", "bearer ", "Basic ", "", "Bearer  "))
        metadata: list[tuple[str, str | bytes]] = []
        if rng.random() < 0.9:
            metadata.append(("authorization", word + rng.choice(self._tokens)))
        if rng.random() < 0.02:
            metadata.append(("authorization", "x" * 2000))
        if rng.random() < 0.1:
            metadata.append(("anything-bin", rng.choice(NASTY_BYTES)))
        return metadata

    def _request(self, method: MethodDescriptor) -> bytes:
        rng = self._rng
        request: Any = random_message(message_factory.GetMessageClass(method.input_type), rng)
        fields = request.DESCRIPTOR.fields_by_name
        if "name" in fields and rng.random() < 0.8:
            self._names.append(f"bot-{rng.randrange(1000)}")
            request.name = rng.choice((*self._names[:1] * 2, rng.choice(self._names), spoilt_text("cup", rng)))
        if "spec_yaml" in fields:
            spec = SPEC.replace("cup", f"cup-{rng.randrange(1000)}")
            request.spec_yaml = rng.choice((spec, spoilt_text(rng.choice((spec, LONG_SPEC, BLOCK_SPEC, *BOMBS)), rng)))
        if "page_token" in fields and rng.random() < 0.8:
            request.page_token = rng.choice((*NASTY_TEXTS, "0", "1", "-1", "1" * 18, "1" * 19, "cup", "²", "ada"))
        if "protocol_version" in fields and rng.random() < 0.7:
            request.protocol_version, request.tables, request.sdk = 1, rng.choice((1, 7, 10_000, 10_001)), "sdk"
        data: bytes = request.SerializeToString()
        return spoilt(data, rng) if rng.random() < 0.15 else data


async def test_every_call_is_answered_or_refused_with_a_reason(tmp_path: Path, errors: list[logging.LogRecord]) -> None:
    async with running(tmp_path) as (address, _), grpc.aio.insecure_channel(address) as channel:
        caller = Caller(channel, (tmp_path / OPERATOR_FILE).read_text().strip(), Random("calls"))
        for _ in range(CALLS):
            await caller.call()
    print(caller.ends)
    assert caller.ends["answered"] > CALLS / 20
    assert len(caller.ends) > 5, "some calls come to where they are understood"


def _request_line(rng: Random) -> bytes:
    paths = ["/", "/?tournament=cup", "/sd", "/metrics", "/healthz", "/?tournament=%FF%00&tournament=", "/../.."]
    path = rng.choice(paths)
    if rng.random() < 0.4:
        path = f"/?tournament={quote(rng.choice(NASTY_TEXTS))}&{quote(rng.choice(NASTY_TEXTS))}"
    data = spoilt_text(path, rng).encode() if rng.random() < 0.5 else path.encode()
    method = rng.choice((b"GET", b"GET", b"GET", b"HEAD", b"POST", b"OPTIONS", b"X"))
    line = method + b" " + data + b" HTTP/1.1\r\n"
    headers = b"Host: x\r\nConnection: close\r\n"
    if rng.random() < 0.3:
        headers += b"X-Odd: " + rng.choice(NASTY_TEXTS).encode().replace(b"\n", b"") + b"\r\n"
    whole = line + headers + b"\r\n"
    return spoilt(whole, rng) + b"\r\n\r\n" if rng.random() < 0.2 else whole


async def _ask(http: str, data: bytes) -> bytes:
    host, _, port = http.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        writer.write(data)
        writer.write_eof()
        async with asyncio.timeout(60):
            return await reader.read()
    except ConnectionError:  # sent away in the middle of what it would not read
        return b""
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


async def test_no_address_and_no_header_makes_a_page_fail(tmp_path: Path, errors: list[logging.LogRecord]) -> None:
    rng = Random("pages")
    seen: Counter[bytes] = Counter()
    async with running(tmp_path) as (_, http):
        for _ in range(REQUESTS):
            data = _request_line(rng)
            answer = await _ask(http, data)
            code = answer.split(b" ", 2)[1] if answer.startswith(b"HTTP/1.1 ") else b"none"
            assert not code.startswith(b"5"), (data, answer)
            assert b"incident" not in answer
            seen[code] += 1
    print(seen)
    assert {b"200", b"400", b"404"} <= seen.keys()
