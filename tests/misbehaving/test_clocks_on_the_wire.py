"""Clocks of a real match service over real gRPC: what the service is late itself is charged to nobody."""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta

from baohuang.match.v1 import match_service_pb2 as pb
from bots_sdk.rules.phases import Phase
from services.common.matches import ClockRules, Ending, FaultRules
from tests.misbehaving.raw_bot import RawBot, arena, order_of

BOTS = ("ann", "ben", "cid", "dee", "eve")
BLOCK_S = 3.0


async def test_a_loop_that_hangs_costs_no_bot_any_time() -> None:
    """The loop stands still for twice the limit, with five requests open: nobody is late, and nobody is charged."""
    clock = ClockRules(limit=timedelta(seconds=1), grace=timedelta(milliseconds=500), ready=timedelta(seconds=20))
    async with arena() as here:
        blocked = 0

        def hangs(bot: RawBot, request: pb.Request) -> pb.Decision | None:
            # The answers of the others have been or will be written, and none can be read meanwhile.
            nonlocal blocked
            if blocked < 2:
                blocked += 1
                time.sleep(BLOCK_S)  # that is the point: a loop that somebody blocks
            return bot.honest(request)

        bots = [here.bot(name) for name in BOTS]
        for bot in bots:
            bot.on_request = hangs
            await bot.hello()
        await here.service.submit([order_of(*BOTS, clock=clock)])
        outcome = await here.outcome()
        assert blocked == 2
        assert outcome.ending is Ending.COMPLETED
        charges = [record.charged for bot in bots for record in bot.records if record.WhichOneof("record") == "charged"]
        assert charges
        assert not any(charged.timed_out for charged in charges)
        assert max(charged.charged_us for charged in charges) < 1e6


async def test_each_kind_of_decision_has_its_own_limit_on_the_wire() -> None:
    """Silent only when asked to play a card, a bot is late by the short limit of that kind and not by the long one."""
    clock = ClockRules(
        limit=timedelta(minutes=5),
        limits=((Phase.PLAY, timedelta(milliseconds=100)),),
        grace=timedelta(milliseconds=50),
        ready=timedelta(seconds=20),
    )

    def silent_in_play(bot: RawBot, request: pb.Request) -> pb.Decision | None:
        return None if request.phase == pb.PHASE_PLAY else bot.honest(request)

    async with arena() as here:
        await here.honest(*BOTS[1:])
        slow = here.bot("ann")
        slow.on_request = silent_in_play
        await slow.hello()
        rules = FaultRules(takeover_after=1)
        await here.service.submit([order_of(*BOTS, clock=clock, faults=rules)])
        await slow.until("taken_over", seconds=60)
        late = (await slow.until("charged")).charged
        told = [record.request for record in slow.records if record.WhichOneof("record") == "request"]
        assert {request.limit_ms for request in told if request.phase == pb.PHASE_PLAY} == {100}
        assert {request.limit_ms for request in told if request.phase != pb.PHASE_PLAY} <= {300_000}
        assert late is not None
        async with asyncio.timeout(60):
            await here.outcome()
