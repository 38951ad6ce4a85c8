"""A wire on loopback that can be made worse: swallows bytes in silence, lets them trickle, or breaks with a reset."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import AsyncIterator
from dataclasses import dataclass


@dataclass(eq=False)
class _Line:
    """One connection through the proxy. What was lost on it stays lost: it never works again."""

    down: asyncio.StreamWriter
    up: asyncio.StreamWriter
    deaf: bool = False
    dumb: bool = False


class Proxy:
    """Passes bytes between clients and one server.

    Attributes:
        address: where clients connect to.
        trickle: bytes a second from the server to its clients; 0: as fast as they come.
    """

    def __init__(self, target: str) -> None:
        self.address = ""
        self.trickle = 0
        self._target = target
        self._whole = asyncio.Event()
        self._whole.set()
        self._lines: set[_Line] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    def cut(self, *, up: bool = True, down: bool = True) -> None:
        """Bytes to the server, to the clients, or both are thrown away from now on, and nobody else gets through."""
        self._whole.clear()
        for line in self._lines:
            line.dumb |= up
            line.deaf |= down

    def mend(self) -> None:
        """New connections work again; those that were cut do not."""
        self._whole.set()

    def reset(self) -> None:
        """Every connection ends with a reset towards the server and the client."""
        for line in self._lines:
            for writer in (line.up, line.down):
                sock = writer.get_extra_info("socket")
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                writer.transport.abort()

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """A client has connected."""
        task = asyncio.create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._whole.wait()
        host, _, port = self._target.rpartition(":")
        up_reader, up_writer = await asyncio.open_connection(host, int(port), limit=1024)
        line = _Line(writer, up_writer)
        self._lines.add(line)
        pumps = [
            asyncio.create_task(self._pump(reader, up_writer, line, downwards=False)),
            asyncio.create_task(self._pump(up_reader, writer, line, downwards=True)),
        ]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
            writer.close()
            up_writer.close()
            self._lines.discard(line)

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, line: _Line, *, downwards: bool
    ) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(1 if downwards and self.trickle else 65536):
                if line.deaf if downwards else line.dumb:
                    continue
                writer.write(data)
                await writer.drain()
                if downwards and self.trickle:
                    await asyncio.sleep(1 / self.trickle)
            # The end of what is swallowed is swallowed too.
            if line.deaf or line.dumb:
                await asyncio.Event().wait()

    async def close(self) -> None:
        """Ends every connection."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@contextlib.asynccontextmanager
async def proxy_to(target: str) -> AsyncIterator[Proxy]:
    """A proxy in front of HOST:PORT."""
    proxy = Proxy(target)
    server = await asyncio.start_server(proxy.accept, "127.0.0.1", 0)
    proxy.address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield proxy
    finally:
        server.close()
        await proxy.close()
