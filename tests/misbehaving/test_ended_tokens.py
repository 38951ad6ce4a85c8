"""A bot whose token was replaced or revoked: its streams end, and the tickets it still has open no other."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

import pytest

from baohuang.match.v1 import match_service_pb2 as pb
from services.common.clock import SystemClock
from services.common.matches import ClockRules, FaultRules
from services.common.tickets import Ticket, TokenEnd, issue_ticket
from services.match.service import MatchServiceSettings
from tests.misbehaving.raw_bot import KEY, RawBot, arena, order_of

QUICK = ClockRules(limit=timedelta(milliseconds=150), grace=timedelta(milliseconds=50), ready=timedelta(seconds=2))
HONEST = ("ann", "ben", "cid", "dee")
LIFE = timedelta(minutes=10)
FIRST = datetime(2026, 1, 1, tzinfo=SystemClock().now().tzinfo)
"""Since when the bots have the tokens they begin with."""
SECOND = FIRST + timedelta(days=1)


def silent(_bot: RawBot, _request: pb.Request) -> None:
    return None


def ticket(bot_id: str, token_since: datetime) -> str:
    """A ticket that holds for a while, given out for a token."""
    return issue_ticket(KEY, Ticket(bot_id, bot_id, "m1", 100, SystemClock().now() + LIFE, token_since))


def end(bot_id: str, before: datetime = SECOND, life: timedelta = LIFE) -> TokenEnd:
    return TokenEnd(bot_id, before, SystemClock().now() + life)


async def test_a_bot_whose_token_has_ended_is_sent_away_and_its_clock_goes_on() -> None:
    async with arena() as here:
        await here.honest(*HONEST)
        revoked = here.bot("vic")
        revoked.on_request = silent
        await revoked.hello()
        await here.service.submit([order_of("vic", *HONEST, clock=QUICK, faults=FaultRules(takeover_after=1))])
        await revoked.until("request")
        await here.service.dismiss([end("vic")])
        assert (await revoked.refusal())[1] == "REASON_TOKEN_UNKNOWN"
        outcome = await here.outcome()
        assert outcome.faults[0].taken_over
        assert outcome.blamed == (0,)


async def test_a_ticket_in_hand_opens_nothing_once_its_token_has_ended() -> None:
    async with arena() as here:
        # given a bot that is in, and one that has a ticket and was never seen
        vic = here.bot("vic")
        await vic.hello(ticket("vic", FIRST))
        await vic.until("welcome")

        # when the tokens of both end
        await here.service.dismiss([end("vic"), end("eve")])

        # then neither comes in with what it holds, now or later
        for name in ("vic", "eve", "vic"):
            late = here.bot(name)
            await late.hello(ticket(name, FIRST))
            _, reason, message = await late.refusal()
            assert reason == "REASON_TICKET_INVALID"
            assert "replaced or revoked" in message

        # and with the tickets of another token they do
        for name in ("vic", "eve"):
            back = here.bot(name)
            await back.hello(ticket(name, SECOND))
            await back.until("welcome")


async def test_a_bot_that_is_in_with_its_new_token_is_left_alone() -> None:
    """The new ticket may be quicker than the news of the old token's end, and the news may come twice."""
    async with arena() as here:
        vic = here.bot("vic")
        await vic.hello(ticket("vic", SECOND))
        await vic.until("welcome")
        await here.service.dismiss([end("vic")])
        await here.service.dismiss([end("vic")])
        played = here.bot("ann")
        await played.hello(ticket("ann", FIRST))
        await here.honest("ben", "cid", "dee")
        await here.service.submit([order_of("vic", *HONEST)])
        assert (await here.outcome()).blamed == ()
        assert "closing" not in vic.kinds()


async def test_a_service_that_begins_anew_is_told_and_then_refuses_too() -> None:
    """What it is told is all it needs: it remembers nothing from before."""
    for told in ([], [end("vic")]):
        async with arena() as here:
            await here.service.dismiss(told)
            vic = here.bot("vic")
            await vic.hello(ticket("vic", FIRST))
            if told:
                assert (await vic.refusal())[1] == "REASON_TICKET_INVALID"
            else:
                await vic.until("welcome")


@pytest.mark.parametrize("service", ["m2", "M1", "m1 "])
async def test_a_ticket_for_another_match_service_opens_nothing(service: str) -> None:
    async with arena() as here:
        vic = here.bot("vic")
        await vic.hello(issue_ticket(KEY, Ticket("vic", "vic", service, 100, SystemClock().now() + LIFE, FIRST)))
        assert (await vic.refusal())[1] == "REASON_TICKET_INVALID"


async def test_a_ticket_is_good_for_the_bot_it_names_whoever_shows_it() -> None:
    """The bot is the ticket's: nothing else in hello says who somebody is, so no other bot can use it as its own."""
    async with arena() as here:
        thief = here.bot("eve")
        await thief.hello(ticket("vic", FIRST))
        await thief.until("welcome")
        assert list(here.service.floor.sessions) == ["vic"]


def test_the_key_of_tickets_is_in_no_repr() -> None:
    assert repr(KEY) not in repr(MatchServiceSettings(name="m1", ticket_key=KEY))


async def test_no_ticket_is_in_a_log_or_a_status(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    now = SystemClock().now()
    tickets = {
        "forged": issue_ticket(bytes(32), Ticket("vic", "vic", "m1", 1, now + LIFE)),
        "other": issue_ticket(KEY, Ticket("vic", "vic", "m2", 1, now + LIFE)),
        "over": issue_ticket(KEY, Ticket("vic", "vic", "m1", 1, now - LIFE)),
        "ended": ticket("vic", FIRST),
        "none": "mArKeD-and-nothing-like-a-ticket",
    }
    async with arena() as here:
        await here.service.dismiss([end("vic")])
        for shown in tickets.values():
            vic = here.bot("vic")
            await vic.hello(shown)
            _, reason, message = await vic.refusal()
            assert reason == "REASON_TICKET_INVALID"
            assert shown not in message
        good = here.bot("vic")
        good_ticket = ticket("vic", SECOND)
        await good.hello(good_ticket)
        await good.until("welcome")
    told = "\n".join(str(vars(record)) for record in caplog.records)
    assert "REASON_TICKET_INVALID" in told
    assert not any(shown in told for shown in (*tickets.values(), good_ticket))
