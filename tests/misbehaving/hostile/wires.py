"""What a hostile client does below its messages: connections that say nothing, say it slowly, or break."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from tests.misbehaving.hostile.proxy import Proxy
from tests.misbehaving.raw_bot import RawBot

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SETTINGS = b"\0\0\0\4\0\0\0\0\0"
HEADERS = b"\0\0\x20\x01\x04\0\0\0\x01" + b"\x82" * 32
SLOW = {
    "nothing": b"",
    "half a preface": PREFACE[:12],
    "no settings": PREFACE,
    "no acknowledgement": PREFACE + SETTINGS,
    "half a header": PREFACE + SETTINGS + HEADERS[:15],
}
"""Beginnings of connections that are never finished."""


async def stops_reading(bot: RawBot, _proxy: Proxy) -> None:
    bot.stop_reading()


async def reads_a_byte_a_second(_bot: RawBot, proxy: Proxy) -> None:
    proxy.trickle = 1


async def is_cut_off(_bot: RawBot, proxy: Proxy) -> None:
    proxy.cut()


async def breaks_with_a_reset(_bot: RawBot, proxy: Proxy) -> None:
    proxy.reset()


async def goes_away(bot: RawBot, _proxy: Proxy) -> None:
    await bot.close()


async def garbage_on_fifty_connections(bot: RawBot, _proxy: Proxy) -> None:
    for _ in range(50):
        async with connection(bot.address) as (reader, writer):
            writer.write(b"GET / HTTP/1.1\r\n\r\n" + b"\xff" * 5_000)
            with contextlib.suppress(ConnectionError):
                await reader.read()


async def a_hundred_handshakes_that_never_end(bot: RawBot, _proxy: Proxy) -> None:
    async with contextlib.AsyncExitStack() as stack:
        wires = [await stack.enter_async_context(connection(bot.address)) for _ in range(20) for _ in SLOW]
        for at in range(12):
            for number, (_, writer) in enumerate(wires):
                said = [*SLOW.values()][number % len(SLOW)]
                writer.write(said[at : at + 1] if number % 2 else said[at * 8 : at * 8 + 8])
            await asyncio.sleep(0.05)


@contextlib.asynccontextmanager
async def connection(address: str) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A plain TCP connection to HOST:PORT."""
    host, _, port = address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        yield reader, writer
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
