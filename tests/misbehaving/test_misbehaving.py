"""Bots that do what they should not, each beside four honest ones and next to a table of honest ones.

Whatever the hostile bot does: the honest ones have no fault, their results are what the rules and the deck make of
them, the hostile one alone pays, and nothing is left of it. Real gRPC on loopback.
"""

from __future__ import annotations

import asyncio
import gc
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

import pytest

from services.common.matches import ClockRules, Ending, FaultRules, MatchOrder, MatchOutcome
from services.match.seat import Seat
from services.match.sessions import Session
from services.match.table import Table
from tests.misbehaving.hostile import answers, messages, wires
from tests.misbehaving.hostile.proxy import Proxy, proxy_to
from tests.misbehaving.hostile.replaying import play_out, points_of, verify_outcome
from tests.misbehaving.raw_bot import Arena, RawBot, Said, arena, order_of

QUICK = ClockRules(limit=timedelta(seconds=1), grace=timedelta(seconds=0.5), ready=timedelta(seconds=20))
"""Where the hostile bot runs out of time. The honest ones answer at once and must not, however busy the machine."""
PATIENT = ClockRules(limit=timedelta(seconds=20), grace=timedelta(seconds=1), ready=timedelta(seconds=20))
HONEST = ("ann", "ben", "cid", "dee")
SECONDS = 100
"""Far more than any row takes; the machine may be busy."""


async def nothing_more(_bot: RawBot) -> None:
    """The misbehaviour is in the answers."""


async def fine_wire(_bot: RawBot, _proxy: Proxy) -> None:
    """The misbehaviour is not in the wire."""


@dataclass(frozen=True)
class Case:
    """What a bot does, and what comes of it.

    `answers` is how it answers, `does` and `wire` what else it does once it is asked. `pays`: it has faults in the end.
    `refused`: the reason with which it was refused.
    """

    answers: Callable[[RawBot, object], Said] | Callable[..., Said] = RawBot.honest
    does: Callable[[RawBot], Awaitable[None]] = nothing_more
    wire: Callable[[RawBot, Proxy], Awaitable[None]] = fine_wire
    pays: str = ""
    refused: str = ""

    @property
    def clock(self) -> ClockRules:
        return QUICK if self.pays == "timeouts" else PATIENT


def _answers(kind: Callable[..., Said], pays: str) -> Case:
    return Case(answers=kind, pays=pays)


def _sends(kind: Callable[[RawBot], Awaitable[None]], refused: str = "") -> Case:
    return Case(does=kind, pays="timeouts" if refused else "", refused=refused)


CASES = {
    # Answers that are none
    "never answers": _answers(answers.silent, "timeouts"),
    "says the wrong word": _answers(answers.wrong_word, "illegal"),
    "says a word nobody knows": _answers(answers.unknown_word, "illegal"),
    "plays bytes that are no cards": _answers(answers.no_cards, "illegal"),
    "plays cards it does not hold": _answers(answers.cards_not_held, "illegal"),
    "plays a card more often than it has it": _answers(answers.too_many_copies, "illegal"),
    "plays the deck twice": _answers(answers.whole_deck_twice, "illegal"),
    "answers without a choice": _answers(answers.without_choice, "illegal"),
    "answers with nothing in it": _answers(answers.empty_answer, "illegal"),
    "answers with an index out of range": _answers(answers.index_out_of_range, "illegal"),
    "answers with the furthest index": _answers(answers.furthest_index, "illegal"),
    "makes two choices at once": _answers(answers.two_choices, "illegal"),
    "answers for a table that is none": _answers(answers.for_another_table, "timeouts"),
    "answers for a table of others": _answers(answers.for_a_table_of_others, "timeouts"),
    "answers requests of the past": _answers(answers.of_the_past, "timeouts"),
    "answers requests of the future": _answers(answers.of_the_future, "timeouts"),
    "answers request 0": _answers(answers.of_request_0, "timeouts"),
    "answers the furthest request": _answers(answers.of_the_furthest_request, "timeouts"),
    # Messages nobody asked for
    "sends ten thousand answers": _sends(messages.ten_thousand_answers, "rate_limited"),
    "sends twenty thousand answers in one message": _sends(messages.answers_in_one_message, "rate_limited"),
    "answers what it might be asked": _sends(messages.answers_to_every_request_there_may_be, "rate_limited"),
    "sends thousands of heartbeats": _sends(messages.heartbeats, "rate_limited"),
    "sends thousands of empty messages": _sends(messages.empty_messages, "rate_limited"),
    "confirms what was never sent": _sends(messages.confirmations_of_what_was_never_sent, "rate_limited"),
    "is ready again and again": _sends(messages.ready_again_and_again, "rate_limited"),
    "sends thousands of records nobody knows": _sends(messages.unknown_records, "rate_limited"),
    "sends thousands of records without a kind": _sends(messages.unset_records, "rate_limited"),
    "sends some records nobody knows": _sends(messages.some_unknown_records),
    "sends two hundred heartbeats": _sends(messages.two_hundred_heartbeats),
    "is ready at tables where it does not sit": _sends(messages.ready_for_other_tables),
    # Too large, or no message
    "sends garbage": _sends(messages.garbage, "malformed"),
    "says hello twice": _sends(messages.hello_again, "hello_expected"),
    "sends a message of three mebibytes": _sends(messages.a_message_of_three_mebibytes, "too_large"),
    "sends a message beyond what gRPC reads": Case(does=messages.a_message_beyond_what_grpc_reads, pays="timeouts"),
    "sends half a million records at once": _sends(messages.half_a_million_records, "too_large"),
    "sends a compressed bomb": _sends(messages.a_bomb),
    "floods with metadata": _sends(messages.much_metadata),
    # Streams and wires
    "opens a stream a thousand times": _sends(messages.a_thousand_streams, "rate_limited"),
    "opens a thousand streams on one connection": _sends(messages.a_thousand_streams_at_once),
    "sends garbage below gRPC": Case(wire=wires.garbage_on_fifty_connections),
    "never finishes its handshakes": Case(wire=wires.a_hundred_handshakes_that_never_end),
    "stops reading": Case(wire=wires.stops_reading, pays="timeouts"),
    "reads a byte a second": Case(wire=wires.reads_a_byte_a_second, pays="timeouts"),
    "is cut off": Case(wire=wires.is_cut_off, pays="timeouts"),
    "resets its connection": Case(wire=wires.breaks_with_a_reset, pays="timeouts"),
    "goes away for good": Case(wire=wires.goes_away, pays="timeouts"),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
async def test_nobody_else_is_hurt(case: Case) -> None:
    # What is there already is set aside: to go through all of it for each row took longer than to play.
    gc.freeze()
    try:
        await _play(case)
        assert _kept() == {}
    finally:
        gc.unfreeze()


async def _play(case: Case) -> None:
    async with asyncio.timeout(SECONDS), arena(heartbeat_s=20) as here, proxy_to(here.address) as proxy:
        # given four honest bots at a table with a hostile one, and at a table beside it with another honest one
        honest = await here.honest(*HONEST, "eve")
        villain = here.bot("vic", proxy.address)
        villain.on_request = case.answers
        await villain.hello()
        faults = FaultRules(illegal_limit=2, takeover_after=1)
        shared = order_of("vic", *HONEST, attempt="shared", clock=case.clock, faults=faults)
        beside = order_of("eve", *HONEST, attempt="beside", clock=PATIENT)
        await here.service.submit([shared, beside])

        # when the hostile one does what it does
        await villain.until("request")
        await case.does(villain)
        await case.wire(villain, proxy)
        outcomes = await _outcomes(here, 2)

        # then everybody else's matches are right
        commitments = {record.seated.match_id: record.seated.commitment for bot in honest for record in bot.records
                       if record.WhichOneof("record") == "seated"}  # fmt: skip
        for attempt, outcome in outcomes.items():
            assert outcome.ending.counts
            verify_outcome(outcome, commitments[attempt])
        _assert_untouched(outcomes["beside"], beside)
        _assert_pays(outcomes["shared"], case.pays)
        if not case.pays:
            _assert_untouched(outcomes["shared"], shared)
        for bot in honest[:4]:
            await bot.until("match_ended", times=2)
            told = {ended.match_id: tuple(ended.points) for ended in bot.over}
            assert told == {attempt: points_of(outcome) for attempt, outcome in outcomes.items()}
        if case.refused:
            assert here.refusals(case.refused) > 0

        # and nothing is left of anybody
        for bot in here.bots.values():
            await bot.close()
        proxy.reset()
        await _until(lambda: not here.service.floor.sessions)
        assert here.service.floor.is_idle


def _assert_untouched(outcome: MatchOutcome, order: MatchOrder) -> None:
    assert outcome.ending is Ending.COMPLETED
    assert points_of(outcome) == play_out(order)


def _assert_pays(outcome: MatchOutcome, pays: str) -> None:
    villain, *others = outcome.faults
    assert all(faults.total == 0 and faults.disconnects == 0 for faults in others)
    assert (villain.timeouts > 0) == (pays == "timeouts")
    assert (villain.illegal_answers > 0) == (pays == "illegal")
    assert outcome.blamed == ((0,) if pays else ())


async def _outcomes(here: Arena, number: int) -> dict[str, MatchOutcome]:
    while True:
        found = await here.service.collect("t", 0, 0)
        if len(found) >= number:
            return {outcome.attempt: outcome for _, outcome in found}
        await asyncio.sleep(0.02)


async def _until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110 - what is waited for has no event
        await asyncio.sleep(0.02)


def _kept() -> Counter[str]:
    """How many sessions, tables and seats are left of those that were made here."""
    gc.collect()
    return Counter(type(one).__name__ for one in gc.get_objects() if isinstance(one, Session | Table | Seat))
