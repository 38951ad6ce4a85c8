"""A bare gRPC echo: what streams cost by themselves, with messages as long as those of the real service.

The server reads and writes, nothing else. The bots sit in groups of five with a stream each, and in a group one stream
after the other has its turn, as at a table: so many streams are busy at a time as there are tables. A message down and
one up are one decision; what happened at the table since is in the one message down.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import grpc
import grpc.aio

from benchmarks.match.bots import CHANNEL
from benchmarks.match.control import Control, Gate
from benchmarks.match.counting import (
    DECISIONS,
    ENTERED,
    READ,
    READ_BYTES,
    WRITTEN,
    WRITTEN_BYTES,
    make_counts,
    make_latencies,
    observe,
)

NAME = "baohuang.benchmark.Echo"
PLAY = f"/{NAME}/Play"


@dataclass(frozen=True, slots=True)
class EchoPart:
    """The groups of five of one process, and the sizes of messages up and down."""

    groups: int
    up: int
    down: int
    counts: Any
    latencies: Any
    control: Control


def parts_of(groups: int, processes: int, up: int, down: int, control: Control) -> list[EchoPart]:
    """So many groups, spread over processes."""
    shares = [len(range(part, groups, processes)) for part in range(processes)]
    return [EchoPart(share, up, down, make_counts(), make_latencies(), control) for share in shares]


async def _serve(down: int, pipe: Connection) -> None:
    reply = bytes(down)

    async def play(_requests: object, context: grpc.aio.ServicerContext[Any, Any]) -> None:
        while await context.read() is not grpc.aio.EOF:
            await context.write(reply)

    handler: Any = grpc.stream_stream_rpc_method_handler(play)
    server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(NAME, {"Play": handler}),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    pipe.send(f"127.0.0.1:{port}")
    await server.wait_for_termination()


def serve(down: int, pipe: Connection) -> None:
    """The process of the server: sends its address, then echoes until it is killed."""
    asyncio.run(_serve(down, pipe))


async def _group(address: str, part: EchoPart, gate: Gate) -> None:
    counts, latencies, message = part.counts, part.latencies, bytes(part.up)
    channels = [grpc.aio.insecure_channel(address, options=CHANNEL) for _ in range(5)]
    calls: list[Any] = [channel.stream_stream(PLAY)() for channel in channels]
    for call in calls:
        await call.write(message)
        await call.read()
        counts[ENTERED] += 1
    now = time.perf_counter
    while True:
        if gate.shut:
            await gate.open()
        for call in calls:
            begun = now()
            await call.write(message)
            data = await call.read()
            observe(latencies, now() - begun)
            counts[DECISIONS] += 1
            counts[READ] += 1
            counts[READ_BYTES] += len(data)
            counts[WRITTEN] += 1
            counts[WRITTEN_BYTES] += len(message)


async def _play(address: str, part: EchoPart) -> None:
    gate = Gate(part.control)
    await asyncio.gather(*(_group(address, part, gate) for _ in range(part.groups)))


def play(address: str, part: EchoPart) -> None:
    """A process of bots, until it is killed."""
    asyncio.run(_play(address, part))
