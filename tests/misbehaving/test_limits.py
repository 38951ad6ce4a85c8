"""Where the limits are: what is borne, what is refused, what the refusal says, and what is left afterwards."""

from __future__ import annotations

import asyncio
import contextlib
import resource
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest

from baohuang.match.v1 import match_service_pb2 as pb
from bots_sdk.client import AsyncThinker, BotPool, ClientStatistics, PlayClient, Ticket
from bots_sdk.client.channel import error_of
from bots_sdk.client.duplex import Duplex
from bots_sdk.errors import Refused, Unreachable
from bots_sdk.house import RandomBot
from services.common import wire_limits
from services.match import conduct, sessions
from services.match.conduct import WASTE
from services.match.sessions import Session
from tests.misbehaving.hostile.messages import DECISION, UNSET
from tests.misbehaving.hostile.wires import SLOW, connection
from tests.misbehaving.raw_bot import PLAY, Arena, RawBot, arena, order_of, ticket_for

HONEST = ("ann", "ben", "cid", "dee")


async def until(condition: Any) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(0.01)


async def sent_away(here: Arena) -> RawBot:
    bot = here.bot("vic")
    await bot.hello()
    await bot.until("welcome")
    await bot.send(*[DECISION] * 20_000)
    await bot.ended.wait()
    return bot


async def test_a_message_full_of_rubbish_is_not_read_to_its_end() -> None:
    async with arena() as here:
        await sent_away(here)
        assert here.metrics.late_answers == WASTE.burst + 1


async def test_a_bot_that_was_sent_away_is_told_when_to_come_back_and_let_in_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("services.match.conduct.RETRY_S", 1.5)
    monkeypatch.setattr("services.match.servicer.RETRY_S", 1.5)
    async with arena() as here:
        first = await sent_away(here)
        closing = next(record.closing for record in first.records if record.HasField("closing"))
        assert (closing.reason, closing.retry_after_ms) == (10, 1500)
        code, reason, _ = await first.refusal()
        assert (code, reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "REASON_RATE_LIMITED")

        second = here.bot("vic")
        await second.hello()
        assert (await second.refusal())[1] == "REASON_RATE_LIMITED"
        assert "it may come back in" in (await second.refusal())[2]
        # Others are let in meanwhile, and the SDK comes back by itself when the time is over.
        await here.honest("ann")
        said: list[str] = []
        thinker = AsyncThinker(BotPool(lambda seed: RandomBot(seed), 0))
        ticket = Ticket("m1", here.address, ticket_for("vic"), 4)
        task = asyncio.create_task(PlayClient(ticket, thinker, ClientStatistics(), said.append).run())
        await until(lambda: "vic" in here.service.floor.sessions)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert here.refusals("rate_limited") >= 2


async def test_what_is_not_read_is_bounded_and_gone_with_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "OUTBOX_BYTES", 1_000)
    async with arena(heartbeat_s=30) as here:
        await here.honest(*HONEST)
        vic = here.bot("vic")
        vic.on_request = lambda bot, request: None
        await vic.hello()
        orders = [order_of("vic", *HONEST, attempt=f"a{number}") for number in range(20)]
        await here.service.submit(orders)
        await vic.until("request", times=5)
        vic.stop_reading()
        session = here.service.floor.sessions["vic"]
        # when it never confirms again, no more than one message is on its way, and what waits is bounded
        await here.service.submit([order_of("vic", *HONEST, attempt=f"b{number}") for number in range(70)])
        await until(lambda: session.farewell is not None)
        assert session.farewell is not None
        assert session.farewell.retry_after > 0
        await until(lambda: "vic" not in here.service.floor.sessions)
        again = here.bot("vic")
        await again.hello()
        reason = (await again.refusal())[1]
        assert reason == "REASON_RATE_LIMITED"


def test_no_more_than_the_window_is_on_its_way_to_a_client_that_confirms_nothing() -> None:
    terms = sessions.SessionTerms(bot_id="b", name="b", tables=1, list_legal=False, window=1)
    session = Session(terms, {}, 0.0, lambda: None, lambda _: None)
    session.push_now(b"x" * 100)
    assert session.take(0.0, 0.0) is not None
    for _ in range(1_000):
        session.push_now(b"x" * 1_000)
        assert session.take(0.0, 0.0) is None
    assert not session.is_flooded
    # once it reads again, it gets messages of a size it can read
    sizes = []
    for confirmed in range(1, 5):
        session.heard(0.0, confirmed)
        if (message := session.take(0.0, 0.0)) is not None:
            sizes.append(len(message))
    assert sum(sizes) == 1_000_000
    assert max(sizes) <= sessions.MESSAGE_BYTES


@contextlib.asynccontextmanager
async def calls(address: str) -> AsyncIterator[Any]:
    options = [("grpc.use_local_subchannel_pool", 1), ("grpc.max_send_message_length", -1)]
    async with grpc.aio.insecure_channel(address, options=options) as channel:
        yield channel.stream_stream(PLAY)


async def test_a_message_beyond_what_grpc_reads_has_a_sentence_in_the_sdk() -> None:
    async with arena() as here, calls(here.address) as open_stream:
        call = Duplex(open_stream(), here.address)
        with contextlib.suppress(Unreachable):
            await call.write(bytes(5 << 20))
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call.read()
        error = error_of(caught.value, here.address)
        assert isinstance(error, Refused)
        assert error.reason == "REASON_TOO_LARGE"
        assert str(error).startswith(f"a message to or from {here.address} is larger")


async def test_one_connection_carries_a_hundred_streams_and_the_next_one_waits() -> None:
    async with arena() as here, calls(here.address) as open_stream:
        sessions = here.service.floor.sessions
        opened = {f"bot{number}": open_stream() for number in range(wire_limits.STREAMS_LIMIT + 5)}
        writes = [asyncio.create_task(call.write(hello_of(bot))) for bot, call in opened.items()]
        await until(lambda: len(sessions) == wire_limits.STREAMS_LIMIT)
        # others, on connections of their own, notice nothing
        (other,) = await here.honest("ann")
        await other.until("welcome")
        waiting = opened.keys() - sessions.keys()
        assert len(waiting) == 5
        for bot in [bot for bot in opened if bot in sessions][:10]:
            opened[bot].cancel()
        # gRPC may count a place as free before the service does: such a stream is refused, to be tried again.
        await until(lambda: waiting & sessions.keys() or all(opened[bot].done() for bot in waiting))
        await until(lambda: len(sessions) <= wire_limits.STREAMS_LIMIT - 4)
        again = open_stream()
        await again.write(hello_of("again"))
        await until(lambda: "again" in sessions)
        for task in writes:
            task.cancel()
        await asyncio.gather(*writes, return_exceptions=True)


def hello_of(bot: str) -> bytes:
    hello = pb.Hello(ticket=ticket_for(bot), protocol_version=1, tables=1)
    return pb.PlayRequest(records=[pb.ClientRecord(hello=hello)]).SerializeToString()


async def test_streams_without_hello_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conduct, "STRANGERS_OF_PEER", 5)
    async with arena() as here, calls(here.address) as open_stream:
        opened = [open_stream() for _ in range(9)]
        await until(lambda: here.refusals("rate_limited") == 4)
        for call in opened:
            call.cancel()
        bot = here.bot("ann")
        await bot.hello()
        await bot.until("welcome")


@pytest.mark.parametrize("kind", SLOW)
async def test_a_connection_that_never_gets_anywhere_is_closed(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire_limits, "HANDSHAKE_S", 1.0)
    async with arena(heartbeat_s=1.0) as here:
        (honest,) = await here.honest("ann")
        async with asyncio.timeout(60), connection(here.address) as (reader, writer):
            writer.write(SLOW[kind][:-1])
            for byte in (SLOW[kind][-1:], *[b""] * 1000):
                writer.write(byte)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(0.25):
                        if await reader.read() == b"" or reader.at_eof():
                            break
        assert reader.at_eof()
        assert not honest.ended.is_set()


async def test_a_connection_without_a_call_is_closed_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire_limits, "IDLE_S", 1.0)
    async with arena() as here:
        (honest,) = await here.honest("ann")
        options = [("grpc.use_local_subchannel_pool", 1)]
        async with grpc.aio.insecure_channel(here.address, options=options) as channel:
            async with asyncio.timeout(60):
                await channel.channel_ready()
                await channel.wait_for_state_change(grpc.ChannelConnectivity.READY)
        assert not honest.ended.is_set()


async def test_more_connections_than_the_limit_are_not_let_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire_limits, "CONNECTIONS_LIMIT", 3)
    async with arena() as here, contextlib.AsyncExitStack() as stack:
        (honest,) = await here.honest("ann")
        await honest.until("welcome")
        first, second, third = [await stack.enter_async_context(connection(here.address)) for _ in range(3)]
        async with asyncio.timeout(60):
            assert await first[0].read(1)
            assert await second[0].read(1)
            assert await third[0].read() == b""
        assert not honest.ended.is_set()


async def test_memory_does_not_grow_with_bots_that_are_sent_away() -> None:
    """Each floods, leaves more rubbish on the way, and never reads why it has to go."""

    async def visit(here: Arena, number: int) -> None:
        bot = RawBot(here.address, f"bot{number}")
        bot.is_reading = False
        refused = here.refusals("too_large")
        await bot.hello()
        with contextlib.suppress(Unreachable):
            for _ in range(4):
                await bot.send_bytes(UNSET * 21_000)
        await until(lambda: here.refusals("too_large") > refused)
        await bot.close()

    async with arena() as here:
        for number in range(40):
            await visit(here, number)
        before = resident_mib()
        for number in range(40, 100):
            await visit(here, number)
        await until(lambda: not here.service.floor.sessions)
        assert here.refusals("too_large") == 100
        # Kept, each visit would cost more than a megabyte; the rest are the moods of the allocator.
        assert resident_mib() - before < 48


def resident_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / (1 << 20)
