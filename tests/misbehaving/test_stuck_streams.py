"""Streams whose client gives no leave to send: gRPC cannot end them, so a bot may leave a few and no more."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from services.match.servicer import STUCK
from tests.misbehaving.hostile.frames import raw_connection
from tests.misbehaving.raw_bot import PLAY, arena


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(0.01)


async def test_a_bot_leaves_a_few_streams_that_cannot_be_ended_and_no_more() -> None:
    """Each newer one sends the older away, which then stays with its message as long as the connection."""
    async with arena(heartbeat_s=1.0) as here, raw_connection(here.address) as deaf:
        bot = here.bot("vic")
        for number in range(int(STUCK.burst) + 1):
            deaf.call(PLAY, bot.encoded_hello())
            await until(lambda number=number: here.refusals("superseded") >= number)  # type: ignore[misc]
        assert deaf.ended == 0
        await bot.hello()
        _, reason, message = await bot.refusal()
        assert reason == "REASON_RATE_LIMITED"
        assert "does not read" in message
        # others are let in meanwhile
        (other,) = await here.honest("ann")
        await other.until("welcome")


async def test_streams_whose_clients_read_leave_nothing() -> None:
    async with arena() as here:
        for number in range(2 * int(STUCK.burst)):
            bot = here.bot("vic")
            await bot.hello()
            await bot.until("welcome")
            await until(lambda number=number: here.refusals("superseded") >= number)  # type: ignore[misc]
