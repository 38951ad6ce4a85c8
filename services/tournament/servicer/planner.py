"""Computes plans one after another, on a thread of its own: a large one takes seconds, and the ledger's threads are for
everybody who wants an answer now."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from services.common.errors import PlatformError, Reason

MOST_WAITING = 16
"""Whoever comes when so many wait already is told to come back."""

RETRY_AFTER = 5.0
"""Seconds after which one should come back."""

T = TypeVar("T")


class Planner:
    """One thread, and a line in front of it."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "planner")
        self._waiting = 0

    async def do(self, work: Callable[[], T]) -> T:
        """What `work` gives, when it is its turn. Raises what it raises, and PlatformError RATE_LIMITED."""
        if self._waiting >= MOST_WAITING:
            raise PlatformError(
                Reason.RATE_LIMITED,
                f"{MOST_WAITING} tournaments are being planned already.",
                retry_after_ms=str(int(RETRY_AFTER * 1000)),
            )
        self._waiting += 1
        future = asyncio.get_running_loop().run_in_executor(self._thread, work)
        future.add_done_callback(self._one_less)  # also for one whose caller has gone: it is computed all the same
        return await future

    def _one_less(self, _: object) -> None:
        self._waiting -= 1
