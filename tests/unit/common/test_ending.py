"""Work that is ended from outside: it has ended when that is said, and ends by itself as if nobody had watched."""

from __future__ import annotations

import asyncio

import pytest

from services.common.ending import done_until_ended
from services.common.errors import PlatformError, Reason


def why() -> PlatformError:
    return PlatformError(Reason.CERTIFICATE_REVOKED, "it was revoked")


class Work:
    """Goes on until it is let go; notes that it is over."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.go = asyncio.Event()
        self.is_over = False

    async def run(self) -> int:
        try:
            self.begun.set()
            await self.go.wait()
            return 7
        finally:
            await asyncio.sleep(0)  # whoever tidies up may have to wait for something
            self.is_over = True


async def test_what_ends_by_itself_gives_what_it_gives() -> None:
    work = Work()
    work.go.set()
    assert await done_until_ended(work.run(), asyncio.Event(), why) == 7

    async def fail() -> None:
        raise PlatformError(Reason.DRAINING, "enough")

    with pytest.raises(PlatformError, match="enough"):
        await done_until_ended(fail(), asyncio.Event(), why)


async def test_what_is_ended_has_tidied_up_when_it_is_said_why() -> None:
    work, ended = Work(), asyncio.Event()
    running = asyncio.ensure_future(done_until_ended(work.run(), ended, why))
    await work.begun.wait()
    ended.set()
    with pytest.raises(PlatformError, match="it was revoked"):
        await running
    assert work.is_over


async def test_whoever_goes_away_ends_it_too() -> None:
    work = Work()
    running = asyncio.ensure_future(done_until_ended(work.run(), asyncio.Event(), why))
    await work.begun.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert work.is_over
