"""How many streams whoever likes may hold open: bounded for each peer and in all, and what ends makes room."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from typing import Any

import grpc.aio
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_health.v1.health import aio as health
from grpc_reflection.v1alpha import reflection, reflection_pb2, reflection_pb2_grpc

from services.common.errors import ErrorInterceptor, PlatformError, Reason
from services.common.peers import Crowd, StreamsInterceptor, peer_of
from services.match.conduct import STRANGERS_LIMIT, STRANGERS_OF_PEER, make_strangers

WATCH = "/grpc.health.v1.Health/Watch"


def test_strangers_are_bounded_for_each_peer_and_in_all() -> None:
    strangers = make_strangers()
    with ExitStack() as rest, ExitStack() as stack:
        one = rest.enter_context(ExitStack())
        one.enter_context(strangers.place("10.0.0.1"))
        for _ in range(STRANGERS_OF_PEER - 1):
            stack.enter_context(strangers.place("10.0.0.1"))
        with pytest.raises(PlatformError) as refused:
            stack.enter_context(strangers.place("10.0.0.1"))
        assert refused.value.reason is Reason.RATE_LIMITED
        assert refused.value.metadata["retry_after_ms"]
        for number in range(STRANGERS_LIMIT - STRANGERS_OF_PEER):
            stack.enter_context(strangers.place(f"10.0.1.{number % 200}"))
        with pytest.raises(PlatformError):
            stack.enter_context(strangers.place("10.0.2.1"))
        one.close()
        stack.enter_context(strangers.place("10.0.2.1"))


def test_a_customer_with_a_network_of_its_own_is_one_peer() -> None:
    strangers = make_strangers()
    with ExitStack() as stack:
        for number in range(STRANGERS_OF_PEER):
            stack.enter_context(strangers.place(peer_of(f"ipv6:%5B2001:db8:1:2::{number:x}%5D:4711")))
        with pytest.raises(PlatformError):
            stack.enter_context(strangers.place(peer_of("ipv6:%5B2001:db8:1:2:3:4:5:6%5D:4711")))
        stack.enter_context(strangers.place(peer_of("ipv6:%5B2001:db8:1:3::1%5D:4711")))


def test_nothing_is_left_of_peers_that_are_gone() -> None:
    crowd = Crowd(10, 1000, "full")
    peers = [f"peer-{number}" for number in range(50)] * 3
    stacks = [ExitStack() for _ in peers]
    for stack, peer in zip(stacks, peers, strict=True):
        stack.enter_context(crowd.place(peer))
    assert len(crowd) == 150
    random.Random(1).shuffle(stacks)
    for stack in stacks:
        stack.close()
    assert len(crowd) == 0
    assert not crowd._by_peer


@asynccontextmanager
async def served(streams: StreamsInterceptor) -> AsyncIterator[grpc.aio.Channel]:
    server = grpc.aio.server(interceptors=[ErrorInterceptor(), streams])
    health_pb2_grpc.add_HealthServicer_to_server(health.HealthServicer(), server)
    reflection.enable_server_reflection((reflection.SERVICE_NAME,), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield channel
    finally:
        await server.stop(0)


async def watch(channel: grpc.aio.Channel) -> Any:
    stub: Any = health_pb2_grpc.HealthStub(channel)
    call = stub.Watch(health_pb2.HealthCheckRequest())
    async with asyncio.timeout(60):
        await call.read()
    return call


async def reflect(channel: grpc.aio.Channel) -> Any:
    plain: Any = channel
    stub: Any = reflection_pb2_grpc.ServerReflectionStub(plain)
    call = stub.ServerReflectionInfo()
    await call.write(reflection_pb2.ServerReflectionRequest(list_services=""))
    async with asyncio.timeout(60):
        await call.read()
    return call


@pytest.mark.parametrize("open_stream", [watch, reflect])
async def test_a_stream_too_many_is_refused_with_a_reason_and_one_that_ends_makes_room(open_stream: Any) -> None:
    streams = StreamsInterceptor(frozenset(), Crowd(3, 100, "Too many streams are open already."))
    async with served(streams) as channel, AsyncExitStack() as stack:
        calls = [await open_stream(channel) for _ in range(3)]
        for call in calls:
            stack.callback(call.cancel)
        assert [call.done() for call in calls] == [False] * 3
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await open_stream(channel)
        assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        stub: Any = health_pb2_grpc.HealthStub(channel)
        await stub.Check(health_pb2.HealthCheckRequest(service=""), timeout=60)
        calls[0].cancel()
        async with asyncio.timeout(60):
            while len(streams.crowd) == 3:  # noqa: ASYNC110 - it knows of no event
                await asyncio.sleep(0.01)
        call = await open_stream(channel)
        stack.callback(call.cancel)
        assert not call.done()


async def test_streams_that_have_bounds_of_their_own_are_not_counted() -> None:
    streams = StreamsInterceptor(frozenset({WATCH}), Crowd(1, 1, "full"))
    async with served(streams) as channel, AsyncExitStack() as stack:
        for _ in range(3):
            call = await watch(channel)
            stack.callback(call.cancel)
            assert not call.done()
        assert len(streams.crowd) == 0
