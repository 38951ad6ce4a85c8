"""Streams that come, go, come again, or never come: what becomes of seats, clocks, matches. Real gRPC on loopback."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from baohuang.cards.v1 import answer_pb2
from baohuang.match.v1 import match_service_pb2 as pb
from services.common.buckets import Rate
from services.common.matches import ClockRules, Ending, FaultRules
from services.match import conduct
from services.match.floor import STALE_LIMIT
from tests.misbehaving.raw_bot import RawBot, arena, order_of

QUICK = ClockRules(limit=timedelta(milliseconds=150), grace=timedelta(milliseconds=50), ready=timedelta(seconds=2))
PATIENT = ClockRules(limit=timedelta(seconds=20), grace=timedelta(seconds=1), ready=timedelta(seconds=20))
HONEST = ("ann", "ben", "cid", "dee")


def silent(_bot: RawBot, _request: pb.Request) -> None:
    return None


async def test_a_late_answer_is_a_timeout_though_it_arrives() -> None:
    async with arena() as here:
        await here.honest(*HONEST)
        late = here.bot("vic")
        late.on_request = silent
        await late.hello()
        await here.service.submit([order_of("vic", *HONEST, clock=QUICK, faults=FaultRules(takeover_after=1))])
        request = (await late.until("request")).request
        charged = (await late.until("charged")).charged
        assert charged.timed_out
        decision = pb.Decision(table=request.table, request=request.request, word=answer_pb2.WORD_STAY)
        await late.send(pb.ClientRecord(decision=decision))
        outcome = await here.outcome()
        assert outcome.faults[0].timeouts == 1
        assert here.metrics.late_answers == 1


async def test_a_bot_that_is_never_ready_is_a_no_show_and_the_match_does_not_count() -> None:
    async with arena() as here:
        await here.honest(*HONEST)
        idle = here.bot("vic")
        idle.says_ready = False
        await idle.hello()
        clock = ClockRules(ready=timedelta(milliseconds=300))
        await here.service.submit([order_of("vic", *HONEST, clock=clock)])
        outcome = await here.outcome()
        assert outcome.ending is Ending.NO_SHOW
        assert outcome.blamed == (0,)
        assert outcome.message == "connected, but not ready within 0.3 s: vic"
        assert (await idle.until("match_ended")).match_ended.ending == pb.ENDING_NO_SHOW


async def test_a_bot_that_is_not_there_is_a_no_show() -> None:
    async with arena() as here:
        await here.honest(*HONEST)
        clock = ClockRules(ready=timedelta(milliseconds=300))
        await here.service.submit([order_of("vic", *HONEST, clock=clock)])
        outcome = await here.outcome()
        assert outcome.ending is Ending.NO_SHOW
        assert outcome.blamed == (0,)
        assert outcome.message == "not connected: vic"


async def test_a_bot_that_never_confirms_gets_no_further_message_and_times_out() -> None:
    async with arena() as here:
        await here.honest(*HONEST)
        greedy = here.bot("vic")
        greedy.confirms = False
        await greedy.hello()
        clock = ClockRules(limit=timedelta(milliseconds=200), grace=timedelta(0), ready=timedelta(milliseconds=500))
        await here.service.submit([order_of("vic", *HONEST, clock=clock)])
        outcome = await here.outcome()
        assert outcome.ending is Ending.NO_SHOW, "it has not even seen that it has a seat"
        assert greedy.read == 1


async def test_a_bot_that_comes_back_finds_its_seat_and_its_request_and_has_no_fault() -> None:
    async with arena() as here:
        await here.honest(*HONEST)
        first = here.bot("vic")
        first.on_request = silent
        await first.hello()
        await here.service.submit([order_of("vic", *HONEST, clock=PATIENT)])
        asked = (await first.until("request")).request
        hand = first.views[asked.table].hand
        await first.close()
        await asyncio.sleep(0.3)
        second = here.bot("vic")
        await second.hello()
        resumed = (await second.until("resumed")).resumed
        assert resumed.request.request == asked.request
        late_ms = 1000 * here.service.floor.lag.total  # what the service was late itself is nobody's time
        assert 0 < resumed.request.limit_ms < asked.limit_ms - 250 + late_ms
        assert second.views[asked.table].hand == hand
        assert (await second.until("welcome")).welcome.resumed == 1
        outcome = await here.outcome()
        assert outcome.ending is Ending.COMPLETED
        assert outcome.faults[0].disconnects == 1
        assert here.metrics.reconnects == 1


async def test_a_bot_may_come_and_go_at_every_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conduct, "COMINGS", Rate(per_second=1000, burst=1000))  # how often is not the matter here
    async with arena() as here:
        await here.honest(*HONEST)
        await here.service.submit([order_of("vic", *HONEST, clock=PATIENT)])
        comings = 0
        while not (await here.service.collect("t", 0, 0)):
            visitor = here.bot("vic")
            asked = asyncio.Event()

            def answer_once(bot: RawBot, request: pb.Request, asked: asyncio.Event = asked) -> pb.Decision | None:
                if asked.is_set():
                    return None
                asked.set()
                return bot.honest(request)

            visitor.on_request = answer_once
            await visitor.hello()
            comings += 1
            # The match may be over before the visitor has come: then it is told nothing.
            over = here.service.collect("t", 0, 60)
            waits: list[asyncio.Task[Any]] = [asyncio.create_task(asked.wait()), asyncio.create_task(over)]
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            await visitor.close()
            for wait in waits:
                wait.cancel()
            await asyncio.gather(*waits, return_exceptions=True)
        outcome = await here.outcome()
        assert outcome.ending is Ending.COMPLETED
        assert comings > 5
        # A visitor may come before the service has noticed that the one before is gone.
        assert 0 < outcome.faults[0].disconnects <= comings


async def test_the_newest_stream_wins_and_the_older_one_is_told_so() -> None:
    async with arena() as here:
        await here.honest(*HONEST)
        older = here.bot("vic")
        older.on_request = silent
        await older.hello()
        await here.service.submit([order_of("vic", *HONEST, clock=PATIENT)])
        await older.until("request")
        newer = here.bot("vic")
        await newer.hello()
        assert (await older.until("closing")).closing.reason == 7
        assert (await older.refusal())[1] == "REASON_SUPERSEDED"
        outcome = await here.outcome()
        assert outcome.ending is Ending.COMPLETED
        assert len(here.service.floor.sessions) == 5


async def test_a_stream_that_was_sent_away_is_not_listened_to_any_more() -> None:
    async with arena() as here:
        await here.honest(*HONEST)
        older = here.bot("vic")
        older.on_request = silent
        await older.hello()
        await here.service.submit([order_of("vic", *HONEST, clock=PATIENT)])
        asked = (await older.until("request")).request
        newer = here.bot("vic")
        newer.on_request = silent
        await newer.hello()
        await older.until("closing")
        # when it answers in the half second that is left to it, then that is no answer
        decision = older.honest(asked)
        assert decision is not None
        await older.send(pb.ClientRecord(decision=decision))
        await older.ended.wait()
        (seat,) = here.service.floor.seats_of("vic").values()
        assert seat.request == asked.request
        # and it is still to be given
        await newer.until("resumed")
        decision = newer.honest(asked)
        assert decision is not None
        newer.on_request = RawBot.honest
        await newer.send(pb.ClientRecord(decision=decision))
        assert (await here.outcome()).ending is Ending.COMPLETED


async def test_a_silent_stream_is_closed_after_two_heartbeats_and_a_living_one_is_not() -> None:
    async with arena(heartbeat_s=0.4) as here:
        quiet = here.bot("vic")
        await quiet.hello()
        quiet.confirms = False
        (alive,) = await here.honest("ann")
        _, reason, _ = await quiet.refusal()
        assert reason == "REASON_SILENT"
        await asyncio.sleep(1.0)
        assert not alive.ended.is_set()
        assert "heartbeat" in alive.kinds()


async def test_capacity_is_never_exceeded() -> None:
    async with arena() as here:
        seen: list[int] = []

        def watch(bot: RawBot, request: pb.Request) -> pb.Decision | None:
            seen.append(len(here.service.floor.sessions["vic"].seats))
            return bot.honest(request)

        await here.honest(*HONEST)
        small = here.bot("vic")
        small.on_request = watch
        await small.hello(tables=2)
        await here.service.submit([order_of("vic", *HONEST, attempt=f"a{n}", clock=PATIENT) for n in range(6)])
        for confirmed in range(6):
            assert await here.service.collect("t", confirmed, 60)
        assert max(seen) == 2
        await small.until("match_ended", times=6)


REFUSALS = {
    "no ticket": ({"ticket": ""}, "REASON_UNAUTHENTICATED"),
    "a ticket that is rubbish": ({"ticket": "rubbish"}, "REASON_TICKET_INVALID"),
    "a version nobody speaks": ({"protocol_version": 9}, "REASON_VERSION_UNSUPPORTED"),
    "no tables": ({"tables": 0}, "REASON_MALFORMED"),
}


@pytest.mark.parametrize(("fields", "reason"), REFUSALS.values(), ids=REFUSALS.keys())
async def test_a_hello_that_does_not_fit_is_refused_with_a_sentence(fields: dict[str, object], reason: str) -> None:
    async with arena() as here:
        bot = here.bot("vic")
        await bot.hello(**fields)  # type: ignore[arg-type]
        _, found, message = await bot.refusal()
        assert found == reason
        assert len(message) > 10
        assert "Traceback" not in message
        assert here.service.floor.sessions == {}


async def test_the_first_message_must_be_hello() -> None:
    async with arena() as here:
        bot = here.bot("vic")
        await bot.send(pb.ClientRecord(ready=pb.Ready(table=1)))
        assert (await bot.refusal())[1] == "REASON_HELLO_EXPECTED"


async def test_draining_tells_the_bots_finishes_what_runs_and_hands_back_what_waits() -> None:
    async with arena() as here:
        bots = await here.honest("vic", *HONEST)
        for bot in bots:
            await bot.until("welcome")
        bots[0].on_request = silent
        running = order_of("vic", *HONEST, attempt="running", clock=PATIENT)
        waiting = order_of("vic", "eve", *HONEST[:3], attempt="waiting", clock=PATIENT)
        await here.service.submit([running, waiting])
        request = (await bots[0].until("request")).request
        draining = asyncio.create_task(here.service.drain(90))
        await bots[1].until("draining")
        bots[0].on_request = RawBot.honest
        decision = bots[0].honest(request)
        assert decision is not None
        await bots[0].send(pb.ClientRecord(decision=decision))
        await draining
        endings = {outcome.attempt: outcome.ending for _, outcome in await here.service.collect("t", 0, 1)}
        assert endings == {"running": Ending.COMPLETED, "waiting": Ending.VOID}
        await here.service.submit([order_of("vic", *HONEST, attempt="later")])
        (_, last), *_ = await here.service.collect("t", 2, 1)
        assert last.ending is Ending.VOID


async def test_what_does_not_finish_in_time_is_void() -> None:
    async with arena() as here:
        bots = await here.honest("vic", *HONEST)
        bots[0].on_request = silent
        await here.service.submit([order_of("vic", *HONEST, clock=PATIENT)])
        await bots[0].until("request")
        await here.service.drain(0.2)
        outcome = await here.outcome()
        assert outcome.ending is Ending.VOID
        assert (await bots[1].until("match_ended")).match_ended.ending == pb.ENDING_VOID


async def test_what_is_over_is_not_kept_until_its_deadlines_have_passed() -> None:
    async with arena() as here:
        bots = await here.honest("vic", *HONEST)
        for bot in bots:
            bot.on_request = silent
        clock = ClockRules(bank=timedelta(hours=24))
        await here.service.submit([order_of("vic", *HONEST, attempt=f"a{n}", clock=clock) for n in range(50)])
        for bot in bots:
            await bot.until("seated", times=50)
        floor = here.service.floor
        for _ in range(200):
            if len(floor._deadlines) > 2 * STALE_LIMIT:
                break
            await asyncio.sleep(0.05)
        assert len(floor._deadlines) > 2 * STALE_LIMIT
        await here.service.withdraw("t")
        assert len(floor._deadlines) <= STALE_LIMIT
        await here.service.submit([order_of("vic", *HONEST, attempt="next", clock=QUICK)])
        assert (await here.outcome()).faults[0].timeouts > 0, "deadlines are watched as before"
