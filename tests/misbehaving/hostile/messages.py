"""Messages that nobody asked for: too many, too large, of no use. Each behaviour begins once the bot is asked."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import grpc
import grpc.aio
import pytest

from baohuang.match.v1 import match_service_pb2 as pb
from bots_sdk.client.duplex import Duplex
from bots_sdk.errors import Unreachable
from tests.misbehaving.raw_bot import PLAY, RawBot, duplex, reason_of

DECISION = pb.ClientRecord(decision=pb.Decision(table=1, request=1, index=0))
UNKNOWN = b"\x0a\x05\xd2\x05\x02hi"
"""A record of a kind that does not exist yet: field 90 of `ClientRecord`."""
UNSET = pb.PlayRequest(records=[pb.ClientRecord()]).SerializeToString()


async def _flood(bot: RawBot, data: bytes, times: int) -> None:
    """Sends until the service has enough; then it has said when to come back."""
    # A write fails once the stream is over.
    with contextlib.suppress(Unreachable):
        for _ in range(times):
            await bot.send_bytes(data)
    assert (await bot.until("closing")).closing.retry_after_ms >= 1000
    await bot.ended.wait()


def _encoded(*records: pb.ClientRecord) -> bytes:
    return pb.PlayRequest(records=records).SerializeToString()


async def ten_thousand_answers(bot: RawBot) -> None:
    await _flood(bot, _encoded(*[DECISION] * 100), 100)


async def answers_in_one_message(bot: RawBot) -> None:
    """As many records as are read at once; nothing is sent after them, so the status arrives as well."""
    await bot.send_bytes(_encoded(*[DECISION] * 20_000))
    assert (await bot.until("closing")).closing.retry_after_ms >= 1000
    assert (await bot.refusal())[1] == "REASON_RATE_LIMITED"


async def answers_to_every_request_there_may_be(bot: RawBot) -> None:
    """The numbers of requests are no secret: an illegal answer to each that the table might ask."""
    table = next(iter(bot.views))
    guesses = [pb.ClientRecord(decision=pb.Decision(table=table, request=n, index=99_999)) for n in range(2000)]
    await _flood(bot, _encoded(*guesses), 10)


async def heartbeats(bot: RawBot) -> None:
    await _flood(bot, _encoded(*[pb.ClientRecord(heartbeat=pb.Heartbeat())] * 100), 100)


async def empty_messages(bot: RawBot) -> None:
    await _flood(bot, b"", 500)


async def confirmations_of_what_was_never_sent(bot: RawBot) -> None:
    bot.confirms = False
    await _flood(bot, pb.PlayRequest(confirmed=(1 << 64) - 1).SerializeToString(), 500)


async def ready_again_and_again(bot: RawBot) -> None:
    table = next(iter(bot.views))
    await _flood(bot, _encoded(*[pb.ClientRecord(ready=pb.Ready(table=table))] * 100), 100)


async def unknown_records(bot: RawBot) -> None:
    await _flood(bot, UNKNOWN * 100, 100)


async def unset_records(bot: RawBot) -> None:
    await _flood(bot, UNSET * 100, 100)


# ---- what a clumsy but honest client may do, and is not held against it


async def some_unknown_records(bot: RawBot) -> None:
    await bot.send_bytes(UNKNOWN * 3)


async def two_hundred_heartbeats(bot: RawBot) -> None:
    for _ in range(200):
        await bot.send(pb.ClientRecord(heartbeat=pb.Heartbeat()))


async def ready_for_other_tables(bot: RawBot) -> None:
    for table in (0, 2, 4_000_000_000):
        await bot.send(pb.ClientRecord(ready=pb.Ready(table=table)))


# ---- too large, or no message at all


async def garbage(bot: RawBot) -> None:
    await bot.send_bytes(b"\xff\xff\xff\xff\xff")
    assert (await bot.refusal())[1] == "REASON_MALFORMED"


async def hello_again(bot: RawBot) -> None:
    await bot.send(pb.ClientRecord(hello=pb.Hello(protocol_version=1)))
    assert (await bot.refusal())[1] == "REASON_HELLO_EXPECTED"


async def a_message_of_three_mebibytes(bot: RawBot) -> None:
    await bot.send_bytes(bytes(3 << 20))
    code, reason, message = await bot.refusal()
    assert (code, reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "REASON_TOO_LARGE")
    assert "3145728" in message
    assert "1048576" in message


async def a_message_beyond_what_grpc_reads(bot: RawBot) -> None:
    await bot.send_bytes(bytes(5 << 20))
    await bot.ended.wait()


async def half_a_million_records(bot: RawBot) -> None:
    await bot.send_bytes(UNSET * 500_000)
    assert (await bot.refusal())[1] == "REASON_TOO_LARGE"


async def a_bomb(bot: RawBot) -> None:
    """8 MiB of zeros in 8 kB, on a stream of its own."""
    async with _stream(bot, compression=grpc.Compression.Gzip) as call:
        with contextlib.suppress(Unreachable):
            await call.write(bytes(8 << 20))
        assert (await _end(call)).code() is grpc.StatusCode.RESOURCE_EXHAUSTED


async def much_metadata(bot: RawBot) -> None:
    """Three megabytes of it; gRPC reads sixteen kilobytes."""
    for size in (20_000, 3_000_000):
        async with _stream(bot, metadata=(("x-flood", "z" * size),)) as call:
            with contextlib.suppress(Unreachable):
                await call.write(b"")
            assert (await _end(call)).code() is grpc.StatusCode.RESOURCE_EXHAUSTED


@contextlib.asynccontextmanager
async def _stream(bot: RawBot, **options: Any) -> AsyncIterator[Duplex]:
    channel_options = [("grpc.use_local_subchannel_pool", 1), ("grpc.max_send_message_length", -1)]
    async with grpc.aio.insecure_channel(bot.address, options=channel_options) as channel:
        yield duplex(channel, bot.address, **options)


async def _end(call: Duplex) -> grpc.aio.AioRpcError:
    """How a call ends on which nothing is said to this side."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call.read()
    return caught.value


# ---- streams


async def a_thousand_streams(bot: RawBot) -> None:
    """One after the other, each with a good hello; the newest wins, until there have been too many."""
    refusals: list[str] = []
    async with grpc.aio.insecure_channel(bot.address, options=[("grpc.use_local_subchannel_pool", 1)]) as channel:
        for _ in range(1_000):
            call = duplex(channel, bot.address)
            await call.write(bot.encoded_hello())
            try:
                await call.read()
            except grpc.aio.AioRpcError as error:
                refusals.append(reason_of(error))
            call.cancel()
    assert set(refusals) == {"REASON_RATE_LIMITED"}
    assert len(refusals) > 850


async def a_thousand_streams_at_once(bot: RawBot) -> None:
    """On one connection, and none says hello."""
    async with grpc.aio.insecure_channel(bot.address, options=[("grpc.use_local_subchannel_pool", 1)]) as channel:
        calls: list[Any] = [channel.stream_stream(PLAY)() for _ in range(1_000)]
        await asyncio.sleep(0.5)
        for call in calls:
            call.cancel()
