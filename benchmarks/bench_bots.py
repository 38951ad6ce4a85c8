"""Instant bots for benchmarks: as little as a bot can do and still answer legally at random."""

from __future__ import annotations

import asyncio
import contextlib
import random
from typing import Any

import grpc.aio

from baohuang.match.v1 import match_service_pb2 as pb
from bots_sdk.convert import event_from_proto, options_from_proto, write_decision
from bots_sdk.rules.view import View

PLAY = "/baohuang.match.v1.MatchService/Play"
DECIDE = "/baohuang.benchmark.Unary/Decide"
CHANNEL = [("grpc.use_local_subchannel_pool", 1)]


class InstantBot:
    """One bot at any number of tables: takes a message, gives the message to send back."""

    def __init__(self, seed: int) -> None:
        self._views: dict[int, View] = {}
        self._number = random.Random(seed).random
        self.read = 0

    def answer(self, data: bytes) -> pb.PlayRequest:
        """Reads one message and answers all requests in it."""
        self.read += 1
        message = pb.PlayRequest(confirmed=self.read)
        views = self._views
        for record in pb.PlayResponse.FromString(data).records:
            kind = record.WhichOneof("record")
            if kind == "event":
                event = record.event
                views[event.table].apply(event_from_proto(event))
            elif kind == "request":
                request = record.request
                legal = views[request.table].legal()
                decision = message.records.add().decision
                decision.table = request.table
                decision.request = request.request
                write_decision(legal[int(self._number() * len(legal))], decision)
            elif kind == "seated":
                seated = record.seated
                views[seated.table] = View(options_from_proto(seated.options), seated.seat)
                message.records.add().ready.table = seated.table
            elif kind == "match_ended":
                del views[record.match_ended.table]
        return message


async def stream_bot(address: str, ticket: str, tables: int, seed: int) -> None:
    """A bot with one stream for all its tables, until it is cancelled or the server is gone."""
    bot = InstantBot(seed)
    async with grpc.aio.insecure_channel(address, options=CHANNEL) as channel:
        call: Any = channel.stream_stream(PLAY)()
        hello = pb.Hello(ticket=ticket, protocol_version=1, tables=tables)
        await call.write(pb.PlayRequest(records=[pb.ClientRecord(hello=hello)]).SerializeToString())
        with contextlib.suppress(grpc.aio.AioRpcError):
            while (data := await call.read()) is not grpc.aio.EOF:
                await call.write(bot.answer(data).SerializeToString())


async def unary_bot(channel: grpc.aio.Channel, name: bytes, seed: int) -> None:
    """A bot at one table with one unary call for each decision."""
    bot = InstantBot(seed)
    decide: Any = channel.unary_unary(DECIDE)
    metadata = (("bot", name.decode()),)
    said = b""
    # A server turns away calls that come by the thousand in one instant.
    await asyncio.sleep(seed * 0.002)
    with contextlib.suppress(grpc.aio.AioRpcError):
        while True:
            said = bot.answer(await decide(said, metadata=metadata)).SerializeToString()


async def run_streams(address: str, tickets: list[str], tables: int) -> None:
    """All stream bots of one process."""
    await asyncio.gather(*(stream_bot(address, ticket, tables, seed) for seed, ticket in enumerate(tickets)))


async def run_unary(address: str, channels: int, bots: list[str]) -> None:
    """All unary bots of one process, spread over so many connections as there would be bots."""
    opened = [grpc.aio.insecure_channel(address, options=CHANNEL) for _ in range(channels)]
    try:
        await asyncio.gather(*(unary_bot(opened[seed % channels], bot.encode(), seed) for seed, bot in enumerate(bots)))
    finally:
        for channel in opened:
            await channel.close()
