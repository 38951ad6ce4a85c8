"""HTTP/2 by hand, as no client of gRPC speaks it: windows that stay shut, messages that never end."""

from __future__ import annotations

import asyncio
import contextlib
import struct
from collections.abc import AsyncIterator

from tests.misbehaving.hostile.wires import PREFACE, connection

_DATA, _HEADERS, _SETTINGS, _PING = 0, 1, 4, 6
_END_HEADERS = 4
_ACK = _END_STREAM = 1
_INITIAL_WINDOW = 4


class RawConnection:
    """One connection that answers pings and settings, and never gives leave to send it anything.

    Attributes:
        begun: on how many streams the server has begun to answer.
        ended: how many streams it has ended.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.begun = self.ended = 0
        self._reader = reader
        self._writer = writer
        self._next = 1
        writer.write(PREFACE + _frame(_SETTINGS, 0, 0, struct.pack(">HI", _INITIAL_WINDOW, 0)))

    def call(self, path: str, message: bytes, *, announced: int | None = None) -> None:
        """Begins a call and sends a message of which it says that it has `announced` bytes."""
        stream, self._next = self._next, self._next + 2
        told = {":method": "POST", ":scheme": "http", ":path": path, ":authority": "x", "te": "trailers"}
        told["content-type"] = "application/grpc"
        block = b"".join(b"\0" + _text(name) + _text(value) for name, value in told.items())
        size = len(message) if announced is None else announced
        self._writer.write(_frame(_HEADERS, _END_HEADERS, stream, block))
        self._writer.write(_frame(_DATA, 0, stream, b"\0" + struct.pack(">I", size) + message))

    async def listen(self) -> None:
        """Until the connection ends."""
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await self._reader.readexactly(9)
                payload = await self._reader.readexactly(int.from_bytes(head[:3], "big"))
                kind, flags = head[3], head[4]
                if kind in (_SETTINGS, _PING) and not flags & _ACK:
                    self._writer.write(_frame(kind, _ACK, 0, payload if kind == _PING else b""))
                self.begun += kind == _HEADERS and not flags & _END_STREAM
                self.ended += kind == _HEADERS and flags & _END_STREAM


def _frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def _text(text: str) -> bytes:
    return bytes([len(text)]) + text.encode()


@contextlib.asynccontextmanager
async def raw_connection(address: str) -> AsyncIterator[RawConnection]:
    """A connection to HOST:PORT."""
    async with connection(address) as (reader, writer):
        raw = RawConnection(reader, writer)
        listening = asyncio.create_task(raw.listen())
        try:
            yield raw
        finally:
            listening.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await listening
