"""What a call tells of its end, in whichever order gRPC learns of it; the call is played."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import grpc
import grpc.aio
import pytest

from bots_sdk.client import duplex
from bots_sdk.client.duplex import Duplex

ABORTED = (grpc.StatusCode.ABORTED, "a newer stream took over")
STOPGAP = (grpc.StatusCode.INTERNAL, "Internal error from Core")
Status = tuple[grpc.StatusCode, str]


class PlayedCall:
    """Sets statuses as gRPC does: the last one counts, and every one of them is called back."""

    def __init__(self) -> None:
        self.status: Status | None = None
        self.callback: Callable[[object], None] = lambda _: None
        self.over = asyncio.Event()

    def set(self, status: Status) -> None:
        self.status = status
        self.over.set()
        self.callback(self)

    def add_done_callback(self, callback: Callable[[object], None]) -> None:
        self.callback = callback

    async def _known(self) -> Status:
        await self.over.wait()
        assert self.status is not None
        return self.status

    async def code(self) -> grpc.StatusCode:
        return (await self._known())[0]

    async def details(self) -> str:
        return (await self._known())[1]

    async def trailing_metadata(self) -> grpc.aio.Metadata:
        await self._known()
        return grpc.aio.Metadata(("of", self.status[1])) if self.status else grpc.aio.Metadata()

    def __aiter__(self) -> PlayedCall:
        return self

    async def __anext__(self) -> bytes:
        code, details = await self._known()
        raise grpc.aio.AioRpcError(code, grpc.aio.Metadata(), await self.trailing_metadata(), details)


@pytest.mark.parametrize("order", [(ABORTED,), (ABORTED, STOPGAP), (STOPGAP, ABORTED)])
async def test_the_status_of_the_other_side_is_told_whenever_it_comes(order: tuple[Status, ...]) -> None:
    call = PlayedCall()
    reading = asyncio.create_task(Duplex(call, "here").read())
    await asyncio.sleep(0)
    for status in order:
        call.over.clear()
        call.set(status)
        if status is STOPGAP:
            await asyncio.sleep(0)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await reading
    assert (caught.value.code(), caught.value.details()) == ABORTED
    assert list(caught.value.trailing_metadata() or ()) == [("of", ABORTED[1])]


async def test_a_status_that_never_comes_is_not_waited_for_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duplex, "STATUS_S", 0.01)
    call = PlayedCall()
    made = Duplex(call, "here")
    call.set(STOPGAP)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await made.read()
    assert (caught.value.code(), caught.value.details()) == STOPGAP
