"""A call that the other side ends while this side is writing: nothing that was said is lost."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any, cast

import grpc
import grpc.aio
import pytest

from baohuang.match.v1 import match_service_pb2 as pb
from bots_sdk.client import BotPool, InlineThinker
from bots_sdk.client.channel import error_of, open_channel
from bots_sdk.client.duplex import Duplex
from bots_sdk.client.session import PlaySession
from bots_sdk.errors import Superseded, Unreachable
from bots_sdk.house import GreedyBot
from bots_sdk.testing.fake_match_service import SERVICE, FakeMatchService, FakeStream
from tests.integration.sdk.running import Running

ABORTED = grpc.StatusCode.ABORTED


@contextlib.asynccontextmanager
async def talking() -> AsyncIterator[tuple[Duplex, FakeStream]]:
    """Both ends of a call."""
    async with FakeMatchService() as service:
        channel = open_channel(service.address)
        call = Duplex(channel.stream_stream(f"/{SERVICE}/Play")(), service.address)
        try:
            yield call, await service.next_stream()
        finally:
            call.cancel()
            await channel.close()


async def write_until_over(call: Duplex) -> None:
    while True:
        await call.write(b"")
        await asyncio.sleep(0)


async def test_what_was_said_before_the_end_is_read_after_a_write_has_failed() -> None:
    async with talking() as (call, stream):
        await stream.send_bytes(b"one")
        await stream.send_bytes(b"two")
        stream.refuse("REASON_SUPERSEDED", "a newer stream took over.", ABORTED)
        with pytest.raises(Unreachable, match=r"the stream to .* is over"):
            await write_until_over(call)
        assert [await call.read(), await call.read()] == [b"one", b"two"]
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call.read()
        assert caught.value.code() is ABORTED
        assert isinstance(error_of(caught.value, "here"), Superseded)


async def test_an_end_without_a_word_is_one_after_a_failed_write_too() -> None:
    async with talking() as (call, stream):
        await stream.send_bytes(b"one")
        stream.end()
        with pytest.raises(Unreachable):
            await write_until_over(call)
        assert await call.read() == b"one"
        with pytest.raises(Unreachable, match="ended the stream without saying why"):
            await call.read()


class Busy(InlineThinker):
    """Keeps the reader from reading and the writer writing, until a write has failed."""

    def __init__(self) -> None:
        super().__init__(BotPool(lambda _seed: GreedyBot()), trusted=False)
        self.failed = asyncio.Event()

    def think(self, until: Callable[[], bool]) -> bool:
        if self.failed.is_set():
            return super().think(until)
        cast("PlaySession", self.decider).beat()
        return True


async def test_a_bot_that_is_writing_when_it_is_sent_away_hears_every_word(monkeypatch: pytest.MonkeyPatch) -> None:
    thinker = Busy()

    async def write(call: Duplex, message: object, sends: Any = Duplex.write) -> None:
        try:
            await sends(call, message)
        except Unreachable:
            thinker.failed.set()
            raise

    monkeypatch.setattr(Duplex, "write", write)
    async with FakeMatchService() as service:
        running = Running(service, thinker)
        stream = await running.stream()
        await stream.welcome()
        await stream.send(draining=pb.Draining(grace_ms=2000))
        stream.refuse("REASON_SUPERSEDED", "a newer stream took over.", ABORTED)
        with pytest.raises(Superseded):
            await running.task
        assert running.said == ["ms-1: the match service is about to stop, within 2 s"]
        assert thinker.failed.is_set()
