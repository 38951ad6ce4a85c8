"""Plans are computed one after another, and nobody else waits for them."""

from __future__ import annotations

import asyncio
import threading

import pytest

from services.common.errors import PlatformError, Reason
from services.tournament.servicer.planner import MOST_WAITING, Planner


async def test_one_after_another_and_others_do_not_wait() -> None:
    planner, go = Planner(), threading.Event()
    busy = most = 0

    def work() -> int:
        nonlocal busy, most
        busy += 1
        most = max(most, busy)
        go.wait(100)
        busy -= 1
        return 7

    plans = [asyncio.create_task(planner.do(work)) for _ in range(MOST_WAITING)]
    await asyncio.sleep(0)
    with pytest.raises(PlatformError, match="being planned already") as caught:
        await planner.do(work)
    assert caught.value.reason is Reason.RATE_LIMITED
    assert int(caught.value.metadata["retry_after_ms"]) > 0
    async with asyncio.timeout(60):
        await asyncio.to_thread(lambda: None)
    go.set()
    assert await asyncio.gather(*plans) == [7] * MOST_WAITING
    assert most == 1
    assert await planner.do(work) == 7


async def test_what_goes_wrong_reaches_who_asked_and_ends_the_waiting() -> None:
    planner = Planner()
    for _ in range(MOST_WAITING + 1):
        with pytest.raises(ValueError, match="sour"):
            await planner.do(lambda: int("sour"))
