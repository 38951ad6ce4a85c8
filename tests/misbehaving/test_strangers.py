"""Whoever reaches the port and has no ticket: what is asked without one costs nobody anything for long."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from grpc_health.v1 import health_pb2

from services.common import requests
from services.match.servicer import HELLO_BYTES, SERVICE_NAME
from tests.misbehaving.hostile.frames import raw_connection
from tests.misbehaving.hostile.messages import UNSET
from tests.misbehaving.raw_bot import arena, order_of

HONEST = ("ann", "ben", "cid", "dee", "eve")
CHECK = "/grpc.health.v1.Health/Check"
WATCH = "/grpc.health.v1.Health/Watch"


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(0.01)


async def test_a_watcher_of_health_that_reads_nothing_holds_up_no_draining() -> None:
    async with arena() as here, raw_connection(here.address) as stranger:
        for name in (SERVICE_NAME, "", "nobody"):
            stranger.call(WATCH, health_pb2.HealthCheckRequest(service=name).SerializeToString())
        (bot,) = await here.honest("ann")
        await bot.until("welcome")
        await until(lambda: stranger.begun == 3)
        async with asyncio.timeout(20):
            await here.service.drain(1.0)
        await bot.until("draining")


@pytest.mark.parametrize("path", [CHECK, WATCH])
async def test_a_request_that_never_comes_whole_is_not_waited_for(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was kept as long as the connection lived, up to four megabytes of it, as often as anybody liked."""
    monkeypatch.setattr(requests, "REQUEST_S", 0.5)
    async with arena() as here, raw_connection(here.address) as stranger:
        for _ in range(20):
            stranger.call(path, bytes(10_000), announced=4_000_000)
        await until(lambda: stranger.ended == 20)
        assert here.refusals("silent") == 20


async def test_so_many_unfinished_requests_at_once_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "REQUESTS_OF_PEER", 7)
    async with arena() as here, raw_connection(here.address) as stranger:
        for _ in range(20):
            stranger.call(CHECK, b"", announced=4_000_000)
        await until(lambda: stranger.ended == 13)
        assert here.refusals("rate_limited") == 13
        # and nobody who plays notices
        await here.honest(*HONEST)
        await here.service.submit([order_of(*HONEST)])
        assert (await here.outcome()).blamed == ()


async def test_a_hello_of_half_a_million_records_is_not_gone_through() -> None:
    """Who sends it has shown no ticket, and is charged for nothing: what is larger than a hello is not decoded."""
    async with arena() as here:
        bot = here.bot("vic")
        await bot.send_bytes(UNSET * 500_000)
        _, reason, message = await bot.refusal()
        assert reason == "REASON_TOO_LARGE"
        assert str(HELLO_BYTES) in message


async def test_a_hello_has_room_for_fields_that_nobody_knows_yet() -> None:
    async with arena() as here:
        bot = here.bot("vic")
        bot.start()
        unknown = b"\xfa\x3f" + b"\xa0\x06" + bytes(800)  # field 1023 of `PlayRequest`, 800 bytes
        await bot.send_bytes(bot.encoded_hello() + unknown)
        await bot.until("welcome")
