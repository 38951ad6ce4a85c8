"""Requests that are read whole, within a bounded time, and by a bounded number of callers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import grpc.aio
import pytest
from google.rpc import status_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc

from services.common import requests
from services.common.errors import ErrorInterceptor, Reason
from services.common.health import HealthServicer
from services.common.peers import Crowd
from services.common.requests import RequestsInterceptor

LIMIT = 1_000
Status = status_pb2.Status
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
_pb: Any = health_pb2  # its stubs lack what lists all services
_NO_CONTEXT: Any = None


async def _echo(request: Status, _context: Any) -> Status:
    return request


async def _twice(request: Status, _context: Any) -> AsyncIterator[Status]:
    yield request
    yield request


async def _twice_by_hand(request: Status, context: Any) -> None:
    for _ in range(2):
        await context.write(request)


async def _each(coming: AsyncIterator[Status], _context: Any) -> AsyncIterator[Status]:
    async for request in coming:
        yield request


_CODEC: Any = {"request_deserializer": Status.FromString, "response_serializer": Status.SerializeToString}
HANDLERS = {
    "echo": grpc.unary_unary_rpc_method_handler(_echo, **_CODEC),
    "twice": grpc.unary_stream_rpc_method_handler(_twice, **_CODEC),
    "by_hand": grpc.unary_stream_rpc_method_handler(_twice_by_hand, **_CODEC),
    "each": grpc.stream_stream_rpc_method_handler(_each, **_CODEC),
}


@asynccontextmanager
async def served(refused: Callable[[Reason], None], crowd: Crowd | None = None) -> AsyncIterator[Any]:
    health = HealthServicer()
    health.set("one", SERVING)
    interceptors = [ErrorInterceptor(refused), RequestsInterceptor(frozenset(), LIMIT, crowd)]
    server = grpc.aio.server(interceptors=interceptors)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("test.Service", HANDLERS),))
    health_pb2_grpc.add_HealthServicer_to_server(health, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            channel.health = health  # type: ignore[attr-defined]
            yield channel
    finally:
        await server.stop(0)


def ignore(_reason: Reason) -> None:
    """Counts nothing."""


async def test_requests_and_answers_are_as_without() -> None:
    request = Status(message="hello").SerializeToString()
    async with served(ignore) as channel:
        assert await channel.unary_unary("/test.Service/echo")(request) == request
        for name in ("twice", "by_hand"):
            assert [one async for one in channel.unary_stream(f"/test.Service/{name}")(request)] == [request] * 2
        answers = channel.stream_stream("/test.Service/each")(iter([request] * 3))
        assert [one async for one in answers] == [request] * 3


@pytest.mark.parametrize(
    ("request_bytes", "code", "reason"),
    [
        (b"\xff\xff", grpc.StatusCode.INVALID_ARGUMENT, Reason.MALFORMED),
        (bytes(LIMIT + 1), grpc.StatusCode.RESOURCE_EXHAUSTED, Reason.TOO_LARGE),
    ],
)
async def test_what_is_none_or_too_large_is_refused_with_a_reason(
    request_bytes: bytes, code: grpc.StatusCode, reason: Reason
) -> None:
    refused: list[Reason] = []
    async with served(refused.append) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as unary:
            await channel.unary_unary("/test.Service/echo")(request_bytes)
        with pytest.raises(grpc.aio.AioRpcError) as stream:
            _ = [one async for one in channel.unary_stream("/test.Service/twice")(request_bytes)]
        assert (unary.value.code(), stream.value.code()) == (code, code)
    assert refused == [reason] * 2


async def test_a_call_that_ends_before_its_request_is_refused() -> None:
    refused: list[Reason] = []
    async with served(refused.append) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await channel.stream_unary("/test.Service/echo")(iter(()))
        assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert refused == [Reason.MALFORMED]


async def test_a_request_that_does_not_come_is_given_up_and_so_is_a_stream_on_which_nothing_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(requests, "REQUEST_S", 0.2)
    monkeypatch.setattr(requests, "PAUSE_S", 0.2)
    refused: list[Reason] = []
    async with served(refused.append) as channel, asyncio.timeout(60):
        # On the wire a request of one message is a stream that has said nothing yet.
        for call in (channel.stream_unary("/test.Service/echo")(), channel.stream_stream("/test.Service/each")()):
            code = await call.code()
            assert code is grpc.StatusCode.UNAVAILABLE
    assert refused == [Reason.SILENT] * 2


async def test_so_many_begin_at_once_and_those_that_end_make_room() -> None:
    crowd = Crowd(3, 100, "full")
    refused: list[Reason] = []
    async with served(refused.append, crowd) as channel, asyncio.timeout(60):
        begun = [channel.stream_unary("/test.Service/echo")() for _ in range(3)]
        while len(crowd) < 3:  # noqa: ASYNC110 - it knows of no event
            await asyncio.sleep(0.01)
        with pytest.raises(grpc.aio.AioRpcError):
            await channel.unary_unary("/test.Service/echo")(b"")
        assert refused == [Reason.RATE_LIMITED]
        for call in begun:
            call.cancel()
        while len(crowd):  # noqa: ASYNC110 - it knows of no event
            await asyncio.sleep(0.01)
        assert await channel.unary_unary("/test.Service/echo")(b"") == b""


async def test_health_is_told_and_a_watcher_that_goes_takes_nothing_from_the_others() -> None:
    async with served(ignore) as channel, asyncio.timeout(60):
        stub: Any = health_pb2_grpc.HealthStub(channel)
        assert (await stub.Check(_pb.HealthCheckRequest())).status == SERVING
        with pytest.raises(grpc.aio.AioRpcError) as unknown:
            await stub.Check(_pb.HealthCheckRequest(service="nobody"))
        assert unknown.value.code() is grpc.StatusCode.NOT_FOUND
        assert set((await stub.List(_pb.HealthListRequest())).statuses) == {"", "one"}
        first, second = (stub.Watch(_pb.HealthCheckRequest(service="one")) for _ in range(2))
        assert [(await call.read()).status for call in (first, second)] == [SERVING] * 2
        first.cancel()
        nobody = stub.Watch(_pb.HealthCheckRequest(service="nobody"))
        assert (await nobody.read()).status == _pb.HealthCheckResponse.SERVICE_UNKNOWN
        channel.health.set("one", NOT_SERVING)
        assert (await second.read()).status == NOT_SERVING


async def test_a_watcher_is_told_what_changes_while_it_watches() -> None:
    health = HealthServicer()
    health.set("one", SERVING)
    watching = health.Watch(_pb.HealthCheckRequest(service="one"), _NO_CONTEXT)
    assert (await anext(watching)).status == SERVING
    # what changes while it is being told, or comes to the same, is told once or not at all
    health.set("one", NOT_SERVING)
    assert (await anext(watching)).status == NOT_SERVING
    coming = asyncio.ensure_future(anext(watching))
    await asyncio.sleep(0)
    health.set("one", NOT_SERVING)
    health.set("two", SERVING)
    await asyncio.sleep(0)
    assert not coming.done()
    health.set("one", SERVING)
    assert (await coming).status == SERVING
