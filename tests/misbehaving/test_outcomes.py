"""Every attempt at a match ends in exactly one typed outcome: who is to blame, why, and whether it counts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from baohuang.cards.v1 import answer_pb2
from baohuang.match.v1 import match_service_pb2 as pb
from bots_sdk.replay import decompress_record, record_from_bytes, verify_record
from services.common.matches import ClockRules, Ending, FaultRules
from services.match.table import Table
from tests.misbehaving.raw_bot import Arena, RawBot, arena, order_of

HONEST = ("ann", "ben", "cid", "dee")
QUICK = ClockRules(limit=timedelta(milliseconds=500), grace=timedelta(milliseconds=300), ready=timedelta(seconds=2))
PATIENT = ClockRules(limit=timedelta(seconds=30), grace=timedelta(seconds=1), ready=timedelta(seconds=30))
RULES = FaultRules(illegal_limit=1, takeover_after=2)


def silent(_bot: RawBot, _request: pb.Request) -> None:
    return None


def illegal_once(bot: RawBot, request: pb.Request) -> pb.Decision | None:
    if request.request > 5:  # one of the first five, all of which are asked at once
        return bot.honest(request)
    return pb.Decision(table=request.table, request=request.request, word=answer_pb2.WORD_KICK)


async def plays(here: Arena, vic: RawBot) -> None:
    await vic.hello()


async def hangs(here: Arena, vic: RawBot) -> None:
    vic.says_ready = False
    await vic.hello()


async def stays_away(here: Arena, vic: RawBot) -> None:
    pass


async def leaves_before_it_is_ready(here: Arena, vic: RawBot) -> None:
    vic.says_ready = False
    await vic.hello()
    await vic.until("seated")
    await vic.close()


async def crashes_while_it_plays(here: Arena, vic: RawBot) -> None:
    await vic.hello()
    await vic.until("request")
    await vic.close()


async def is_stopped_with_its_platform(here: Arena, vic: RawBot) -> None:
    await vic.hello()
    await vic.until("request")
    await here.service.drain(0.05)


@dataclass(frozen=True)
class Case:
    """What vic does, and what becomes of the match."""

    does: Callable[[Arena, RawBot], Coroutine[Any, Any, None]]
    ending: Ending
    message: str
    answers: Callable[[RawBot, pb.Request], Any] = RawBot.honest
    clock: ClockRules = QUICK
    blames_vic: bool = True


CASES = {
    "nothing wrong": Case(plays, Ending.COMPLETED, "", clock=PATIENT, blames_vic=False),
    "illegal answer": Case(plays, Ending.COMPLETED_WITH_FAULTS, "vic: 1 illegal answer", illegal_once, PATIENT),
    "no answers": Case(plays, Ending.COMPLETED_WITH_FAULTS, "vic: 2 timeouts, taken over", silent),
    "crash": Case(crashes_while_it_plays, Ending.COMPLETED_WITH_FAULTS, "vic: 2 timeouts, taken over", silent),
    "not there": Case(stays_away, Ending.NO_SHOW, "not connected: vic"),
    "hangs": Case(hangs, Ending.NO_SHOW, "connected, but not ready within 2 s: vic"),
    "left": Case(leaves_before_it_is_ready, Ending.NO_SHOW, "not connected any more: vic"),
    "service stops": Case(
        is_stopped_with_its_platform, Ending.VOID, "the match service stopped before the match ended", silent, PATIENT,
        blames_vic=False,
    ),
}  # fmt: skip


async def outcome_of(here: Arena, case: Case) -> Any:
    await here.honest(*HONEST)
    vic = here.bot("vic")
    vic.on_request = case.answers
    submitted = asyncio.create_task(case.does(here, vic))
    await here.service.submit([order_of("vic", *HONEST, clock=case.clock, faults=RULES)])
    outcome = await here.outcome()
    await submitted
    return outcome


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
async def test_an_attempt_ends_in_one_outcome_that_says_who_and_why(case: Case) -> None:
    async with arena() as here:
        outcome = await outcome_of(here, case)
        assert outcome.ending is case.ending
        assert outcome.message == case.message
        assert outcome.blamed == ((0,) if case.blames_vic else ())
        assert all(faults.total == 0 for faults in outcome.faults[1:])
        # What counts has its points and a record to check them by; of what does not there is neither.
        assert outcome.ending.counts == (case.ending in (Ending.COMPLETED, Ending.COMPLETED_WITH_FAULTS))
        if outcome.ending.counts:
            verify_record(record_from_bytes(decompress_record(outcome.record)))
            assert len(outcome.deals) == 1
            assert outcome.deals[0].spoiled == outcome.blamed
        else:
            assert (outcome.record, outcome.deals) == (b"", ())
        if case.does is not stays_away:  # nobody was told of a match that could not be seated
            bots = list(here.bots.values())[:4]
            told = [(await bot.until("match_ended")).match_ended for bot in bots]
            assert {(one.message, tuple(one.blamed)) for one in told} == {(case.message, outcome.blamed)}
        # And that is all that will ever be said of this attempt.
        again = await here.service.collect("t", 0, 0.3)
        assert [one.attempt for _, one in again] == ["a1"]


async def test_a_fault_of_ours_at_one_table_voids_its_match_and_blames_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise RuntimeError("not thought of")

    async with arena() as here:
        monkeypatch.setattr(Table, "_score", fails)
        outcome = await outcome_of(here, CASES["nothing wrong"])
        assert (outcome.ending, outcome.blamed) == (Ending.VOID, ())
        assert outcome.message == "a fault of the platform"
