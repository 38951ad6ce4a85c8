"""Clients of the page that say nothing, trickle, or do not read: none keeps its connection for ever."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from services.web.server import serve_web

PATIENCE = 0.3
ASK = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


@asynccontextmanager
async def served(size: int = 2, connections: int = 100) -> AsyncIterator[int]:
    async def page(request: Request) -> PlainTextResponse:
        return PlainTextResponse("x" * size)

    app = Starlette(routes=[Route("/", page)])
    server = await serve_web(app, "127.0.0.1", patience=PATIENCE, connections=connections)
    try:
        yield int(server.address.rpartition(":")[2])
    finally:
        await server.close()


async def closed(reader: asyncio.StreamReader) -> bool:
    """Whether the server closes the connection, given much more time than it takes."""
    try:
        async with asyncio.timeout(60):
            while await reader.read(1 << 16):
                pass
    except ConnectionError:
        pass
    except TimeoutError:
        return False
    return True


@pytest.mark.parametrize("said", [b"", b"GET / HT", ASK[:-2], ASK + b"GET / HT"])
async def test_a_connection_without_a_whole_request_is_closed(said: bytes) -> None:
    async with served() as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(said)
        assert await closed(reader)
        writer.close()


async def test_a_request_that_trickles_is_closed_as_well() -> None:
    async with served() as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)

        async def trickle() -> None:
            writer.write(b"GET / HTTP/1.1\r\n")
            for number in range(1200):
                writer.write(b"X-%d: y\r\n" % number)
                await asyncio.sleep(PATIENCE / 6)

        trickling = asyncio.create_task(trickle())
        assert await closed(reader)
        trickling.cancel()
        await asyncio.gather(trickling, return_exceptions=True)
        writer.close()


async def test_an_answer_that_is_not_read_is_given_up() -> None:
    async with served(size=64 << 20) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1)
        writer.write(ASK)
        await asyncio.sleep(6 * PATIENCE)
        # What lies in buffers is read now; the rest was never sent.
        size = 0
        with contextlib.suppress(ConnectionError):
            async with asyncio.timeout(60):
                while data := await reader.read(1 << 16):
                    size += len(data)
        assert size < 64 << 20
        writer.close()


async def test_beyond_the_limit_connections_are_closed_at_once_and_there_is_a_place_again_when_one_goes() -> None:
    async with served(connections=2) as port:
        held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        assert await closed(reader)
        writer.close()
        for one, other in held:
            assert await closed(one)
            other.close()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(ASK)
        assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        writer.close()
