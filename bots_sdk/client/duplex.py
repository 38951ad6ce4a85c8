"""A call on which both sides talk, which tells all that the other side said, to its last word.

A side that ends a call while the other one is just writing makes that write fail. gRPC for Python then puts an error of
its own in the place of the status that came (its issue 36066), and reads nothing more of what came before. So the
status is taken down as it comes in, and all that has come is read, whatever became of the writes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import grpc
import grpc.aio

from bots_sdk.errors import Unreachable

STATUS_S = 1.0
"""How long to wait for the status of a call that is over: it is there already, or follows on the heels of the end."""
_STOPGAP = (grpc.StatusCode.INTERNAL, "Internal error from Core")
"""What gRPC says of a failed write, and of everything after it."""
_T = TypeVar("_T")


class Duplex:
    """One side of a call of bytes in both directions.

    Args:
        call: just begun; nobody else reads or writes it.
        address: of the other side, for errors.
    """

    def __init__(self, call: Any, address: str) -> None:
        self._call = call
        self._address = address
        # Unlike `call.read` this reads on when a write has failed.
        self._messages = aiter(call)
        self._status: grpc.aio.AioRpcError | None = None
        self._told = asyncio.Event()
        call.add_done_callback(self._note)

    async def read(self) -> bytes:
        """The next message.

        Raises:
            AioRpcError: the other side, or the way there, ended the call; all it sent before has been read.
            Unreachable: it ended the call without saying why.
        """
        try:
            return await anext(self._messages)
        except StopAsyncIteration:
            error = await self._end(None)
        except grpc.aio.AioRpcError as raised:
            error = await self._end(raised)
        except asyncio.CancelledError:
            if self._call.cancelled() and not _is_cancelled():
                raise Unreachable(f"the stream to {self._address} was cut") from None
            raise
        if error is None or error.code() is grpc.StatusCode.OK:
            raise Unreachable(f"{self._address} ended the stream without saying why")
        raise error

    async def write(self, message: Any) -> None:
        """Send a message.

        Raises:
            Unreachable: the call is over; `read` says why.
        """
        try:
            await self._call.write(message)
        except (asyncio.InvalidStateError, grpc.aio.AioRpcError):
            raise Unreachable(f"the stream to {self._address} is over") from None

    def cancel(self) -> None:
        """Break the call off, if it is not over."""
        self._call.cancel()

    async def _end(self, raised: grpc.aio.AioRpcError | None) -> grpc.aio.AioRpcError | None:
        """What the other side said at the end, where gRPC raised that; None: nothing."""
        if raised is None or not _is_stopgap(raised.code(), raised.details()):
            return raised
        try:
            async with asyncio.timeout(STATUS_S):
                await self._told.wait()
        except TimeoutError:
            return raised
        return self._status

    def _note(self, call: Any) -> None:
        """Called whenever gRPC sets a status; a turn of the loop later it may have set another one."""
        code, details = _at_once(call.code()), _at_once(call.details())
        if code is None or self._status is not None or _is_stopgap(code, details):
            return
        trailing = _at_once(call.trailing_metadata()) or grpc.aio.Metadata()
        self._status = grpc.aio.AioRpcError(code, grpc.aio.Metadata(), trailing, details)
        self._told.set()


def _is_stopgap(code: grpc.StatusCode, details: str | None) -> bool:
    return (code, details) == _STOPGAP


def _at_once(coroutine: Coroutine[Any, Any, _T]) -> _T | None:
    """What a coroutine returns that has nothing to wait for; None if it has."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    coroutine.close()
    return None


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
