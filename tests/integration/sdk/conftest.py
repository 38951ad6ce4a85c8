"""Clients that are started for a test and stopped after it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

import pytest

from bots_sdk.bot import AnyBot
from bots_sdk.client import (
    AsyncThinker,
    BotPool,
    Crew,
    InlineThinker,
    Thinker,
    ThreadThinker,
)
from bots_sdk.house import GreedyBot
from bots_sdk.testing.fake_match_service import FakeMatchService
from tests.integration.sdk.running import Running, Start


@pytest.fixture
async def start() -> AsyncIterator[Start]:
    running: list[Running] = []
    crew = Crew(2)
    async with FakeMatchService() as service:

        def begin(make: Callable[[], AnyBot] = GreedyBot, *, mode: str = "inline") -> Running:
            pool = BotPool(lambda _seed: make())
            thinkers: dict[str, Callable[[], Thinker]] = {
                "inline": lambda: InlineThinker(pool, trusted=False),
                "threads": lambda: ThreadThinker(pool, crew, asyncio.get_running_loop()),
                "async": lambda: AsyncThinker(pool),
            }
            running.append(Running(service, thinkers[mode]()))
            return running[-1]

        yield begin
        for one in running:
            one.task.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await one.task
    crew.close()
