"""Wires that break without a word: both ends notice, the clocks go on, and the bot plays on when the wire is back.

Bots here are clients of the SDK. Once the wire is a proxy that swallows bytes, once a cable between two machines that
is pulled: the kernel loses the packets then, and nobody sees a socket close.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from pathlib import Path

import pytest

from bots_sdk.client import AsyncThinker, BotPool, ClientStatistics, PlayClient, Ticket
from bots_sdk.house import RandomBot
from bots_sdk.rules.answers import Answer
from bots_sdk.rules.view import View
from services.common.matches import ClockRules, Ending
from tests.misbehaving.hostile.proxy import Proxy, proxy_to
from tests.misbehaving.hostile.replaying import verify_outcome
from tests.misbehaving.raw_bot import Arena, arena, order_of, ticket_for

PATIENT = ClockRules(limit=timedelta(seconds=60), grace=timedelta(seconds=1), ready=timedelta(seconds=60))
HONEST = ("ann", "ben", "cid", "dee")
HEARTBEAT_S = 0.5
CUT_AT = 4


class Cutting(RandomBot):
    """Plays at random; its wire breaks while it thinks about its fourth answer. `limits` are those it was given."""

    def __init__(self, cut: Callable[[], None]) -> None:
        super().__init__("vic")
        self.limits: list[float] = []
        self._cut = cut

    def answer(self, view: View) -> Answer:
        assert self.time_limit is not None
        self.limits.append(self.time_limit)
        if len(self.limits) == CUT_AT:
            self._cut()
        return super().answer(view)


class Wire:
    """A bot of the SDK behind a proxy."""

    def __init__(self, here: Arena, proxy: Proxy, *, up: bool, down: bool) -> None:
        self.said: list[str] = []
        self.bot = Cutting(lambda: proxy.cut(up=up, down=down))
        self.statistics = ClientStatistics()
        pool = BotPool(lambda _seed: self.bot, 0)
        ticket = Ticket("m1", proxy.address, ticket_for("vic"), 100)
        self.client = PlayClient(ticket, AsyncThinker(pool), self.statistics, self.said.append)
        self._here = here

    @property
    def session(self) -> object:
        return self._here.service.floor.sessions.get("vic")


@contextlib.asynccontextmanager
async def playing(*, up: bool, down: bool) -> AsyncIterator[tuple[Arena, Proxy, Wire]]:
    async with asyncio.timeout(100), arena(heartbeat_s=HEARTBEAT_S) as here, proxy_to(here.address) as proxy:
        await here.honest(*HONEST)
        wire = Wire(here, proxy, up=up, down=down)
        task = asyncio.create_task(wire.client.run())
        try:
            await here.service.submit([order_of("vic", *HONEST, clock=PATIENT)])
            yield here, proxy, wire
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


async def until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110 - what is waited for has no event
        await asyncio.sleep(0.01)


@pytest.mark.parametrize(("up", "down"), [(True, True), (True, False), (False, True)], ids=["both", "up", "down"])
async def test_a_wire_that_swallows_bytes_is_noticed_and_the_bot_plays_on_with_the_time_truly_left(
    up: bool, down: bool
) -> None:
    async with playing(up=up, down=down) as (here, proxy, wire):
        # given a bot that plays, when the wire swallows what it says, what it hears, or both
        await until(lambda: len(wire.bot.limits) == CUT_AT)
        # then both ends notice, although no socket was closed
        await until(lambda: wire.session is None)
        await until(lambda: any("trying again" in line for line in wire.said))
        assert here.service.floor._tables, "the end of a stream is no end of a match"
        # and when it is mended, the bot comes back by itself and is told everything, with the time truly left
        proxy.mend()
        outcome = await here.outcome()
        assert outcome.ending is Ending.COMPLETED
        assert outcome.faults[0].disconnects >= 1
        verify_outcome(outcome, None)
        assert wire.bot.limits[CUT_AT - 1] == 60
        # What the bot was asked before the cut runs all the while. If its answer came through, it is asked anew: that
        # may wait behind a message which nobody confirms, and then runs since the break was noticed.
        assert wire.bot.limits[CUT_AT] < (60 - 0.9 * HEARTBEAT_S if up else 60)
        await until(lambda: wire.statistics.matches == 1)
        assert "m1: connected again" in wire.said


async def test_a_pulled_cable_and_a_stopped_process_are_noticed_and_survived(tmp_path: Path) -> None:
    """In network namespaces that the test makes for itself; needs iproute2 and no rights."""
    # Who has no rights gets them in a namespace of users; root has them, also where there are no such namespaces.
    rights = () if os.geteuid() == 0 else ("--user", "--map-root-user")
    process = await asyncio.create_subprocess_exec(
        *("unshare", *rights, "--net", "--"),
        *(sys.executable, "-m", "tests.misbehaving.hostile.cut_link", str(tmp_path)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    told = json.loads(out)
    assert told["ending"] == "completed_with_faults"
    assert told["blamed"] == [0]
    assert told["disconnects"] == 2
    assert told["timeouts"] >= 2
    assert told["illegal_answers"] == 0
    assert told["said"].count("m1: connected again") == 2
