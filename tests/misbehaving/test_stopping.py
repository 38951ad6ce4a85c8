"""The end of a match service, and faults of its own: whoever is here is told, and nothing stands still."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import grpc
import pytest

from baohuang.error.v1 import reason_pb2
from baohuang.match.v1 import match_service_pb2 as pb
from services.common.matches import ClockRules, FaultRules
from services.match.floor import Floor
from tests.misbehaving.hostile.frames import raw_connection
from tests.misbehaving.raw_bot import PLAY, RawBot, arena, order_of

HONEST = ("ann", "ben", "cid", "dee")
QUICK = ClockRules(limit=timedelta(milliseconds=150), grace=timedelta(milliseconds=50), ready=timedelta(seconds=20))


async def test_bots_are_told_why_their_streams_end_when_the_service_does() -> None:
    async with arena() as here:
        bots = await here.honest("ann", "ben")
        for bot in bots:
            await bot.until("welcome")
        await here.service.drain(1.0)
        await here.service.stop()
        for bot in bots:
            code, reason, message = await bot.refusal()
            assert (code, reason) == (grpc.StatusCode.UNAVAILABLE, "REASON_DRAINING")
            assert message == "the match service is stopping"
            closing = (await bot.until("closing")).closing
            assert closing.reason == reason_pb2.REASON_DRAINING


async def test_a_bot_that_reads_nothing_is_not_waited_for_when_the_service_stops() -> None:
    async with arena() as here, raw_connection(here.address) as deaf:
        deaf.call(PLAY, here.bot("vic").encoded_hello())
        async with asyncio.timeout(60):
            while "vic" not in here.service.floor.sessions:  # noqa: ASYNC110 - what is waited for has no event
                await asyncio.sleep(0.01)
        async with asyncio.timeout(20):
            await here.service.drain(0.1)
            await here.service.stop()


@pytest.mark.parametrize("name", ["sweep", "tidy"])
async def test_a_fault_of_ours_stops_no_clock_for_ever(
    name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It was the end of the task that looks after the clocks, and nobody was told."""
    real, failed = getattr(Floor, name), 0

    def fails_at_first(*arguments: Any) -> None:
        nonlocal failed
        failed += 1
        if failed == 1:
            raise RuntimeError("not thought of")
        real(*arguments)

    monkeypatch.setattr(Floor, name, fails_at_first)
    async with arena(heartbeat_s=0.6) as here:
        await here.honest(*HONEST)
        vic = here.bot("vic")
        vic.on_request = _silent
        await vic.hello()
        await here.service.submit([order_of("vic", *HONEST, clock=QUICK, faults=FaultRules(takeover_after=1))])
        outcome = await here.outcome()
        assert outcome.faults[0].taken_over
        quiet = here.bot("eve")
        await quiet.hello()
        quiet.confirms = False
        assert (await quiet.refusal())[1] == "REASON_SILENT"
    assert failed > 1
    told = [record.getMessage() for record in caplog.records if record.name == "services.match.service"]
    assert told == ["the floor failed; it goes on"]


def _silent(_bot: RawBot, _request: pb.Request) -> None:
    return None
