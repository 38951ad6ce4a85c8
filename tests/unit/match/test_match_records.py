"""The record a table leaves: it holds together, and says what each seat did and what became of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from baohuang.match.v1 import match_service_pb2
from baohuang.record.v1 import record_pb2
from bots_sdk.replay import Cause, decompress_record, record_from_bytes, verify_record
from bots_sdk.rules.answers import Answer, Word
from bots_sdk.rules.profiles import make_options
from bots_sdk.rules.public import PublicState
from bots_sdk.rules.result import DealResult
from bots_sdk.rules.shuffle import commitment
from services.common.matches import ClockRules, DealScore, Ending, FaultRules, IllegalPolicy, MatchOutcome
from services.match.records import deal_score
from tests.unit.match.fakes import Play


def record_of(play: Play, outcome: MatchOutcome) -> record_pb2.MatchRecord:
    """The record, verified, with what the outcome says too."""
    record = record_from_bytes(decompress_record(outcome.record))
    verified = verify_record(record, commitment(play.order.nonce, play.order.secret, play.order.suits))
    assert verified.decisions == outcome.decisions
    assert [tuple(deal.result.points) for deal in record.deals if not deal.result.voided] == [
        deal.points for deal in outcome.deals
    ]
    assert tuple(record.outcome.blamed) == outcome.blamed
    for told, faults in zip(record.outcome.faults, outcome.faults, strict=True):
        assert (told.timeouts, told.illegal_answers, told.disconnects, told.taken_over) == (
            faults.timeouts, faults.illegal_answers, faults.disconnects, faults.taken_over,
        )  # fmt: skip
    return record


def causes(record: record_pb2.MatchRecord, seat: int) -> list[Cause]:
    return [Cause(one.cause) for deal in record.deals for one in deal.decisions if one.seat == seat]


@pytest.mark.parametrize("suits", [0, 3])
def test_a_match_of_honest_bots(suits: int) -> None:
    play = Play(deals=2, profile="bean-qingdao", suits=suits).open()
    outcome = play.finish()
    record = record_of(play, outcome)
    assert (record.format, record.suits) == (2 if suits else 1, suits)
    assert record.match_id == "a-1"
    assert record.tournament == "t"
    assert record.number == 7
    assert [player.name for player in record.players] == [f"Bot {seat}" for seat in range(5)]
    assert record.clock.limit_ms == 2000
    assert record.outcome.ending == match_service_pb2.ENDING_COMPLETED
    assert record.outcome.ended_at.ToMicroseconds() == round(outcome.ended_at.timestamp() * 1e6)
    assert record.outcome.ended_at.ToMicroseconds() >= record.outcome.started_at.ToMicroseconds() > 0
    assert {cause for seat in range(5) for cause in causes(record, seat)} == {Cause.ANSWERED}


def test_beans_are_in_the_outcome_as_in_the_record() -> None:
    options = make_options("bean-qingdao", {"beans": True, "room": 50, "stakes": [1, 2, 5]})
    play = Play(deals=3, options=options).open()
    outcome = play.finish()
    record = record_of(play, outcome)
    told = [tuple(deal.result.beans.beans) for deal in record.deals if not deal.result.voided]
    assert [deal.beans for deal in outcome.deals] == told
    assert any(map(any, told))
    without = Play(profile="bean-qingdao").open().finish()
    assert [deal.beans for deal in without.deals] == [None]


def test_a_deal_that_was_void_for_good_counts_with_nothing() -> None:
    options = make_options("bean", {"beans": True})
    score = deal_score(replace(Play().order, options=options), 4, DealResult.void(PublicState(options)), 99)
    assert score == DealScore(4, (0,) * 5, (), None, None, None, 99, (0,) * 5)


def test_times_are_those_that_were_charged() -> None:
    play = Play().open()
    seat = play.asked()[0]
    play.host.advance(0.5)
    play.answer(seat)
    record = record_of(play, play.finish())
    first = record.deals[0].decisions[0]
    assert first.seat == seat
    assert abs(first.elapsed_us - 500_000) <= 1
    assert abs(first.charged_us - 300_000) <= 1  # less the grace


def test_a_seat_that_times_out_and_is_taken_over() -> None:
    play = Play(faults=FaultRules(takeover_after=3), clock=ClockRules(limit=timedelta(seconds=1))).open()
    record = record_of(play, play.finish(idle=(2,)))
    assert causes(record, 2)[:3] == [Cause.TIMED_OUT] * 3
    assert set(causes(record, 2)[3:]) == {Cause.TAKEN_OVER}
    assert record.outcome.faults[2].taken_over
    assert record.outcome.ending == match_service_pb2.ENDING_COMPLETED_WITH_FAULTS


def test_illegal_answers_that_are_borne_and_that_are_not() -> None:
    rules = FaultRules(illegal=IllegalPolicy.RETRY, illegal_limit=2)
    play = Play(faults=rules).open()
    first, second = play.asked()[:2]
    play.answer(first, Answer(Word.WIND))
    play.answer(first)
    for _ in range(2):
        play.answer(second, Answer(Word.WIND))
    record = record_of(play, play.finish())
    told = {one.seat: one for one in record.deals[0].decisions[:2]}
    assert (told[first].cause, told[first].refused) == (record_pb2.CAUSE_ANSWERED, 1)
    assert (told[second].cause, told[second].refused) == (record_pb2.CAUSE_ILLEGAL, 2)


def test_an_illegal_answer_and_then_none() -> None:
    play = Play().open()
    seat = play.asked()[0]
    play.answer(seat, Answer(Word.WIND))
    play.host.advance(3.0)
    record = record_of(play, play.finish())
    first = next(one for one in record.deals[0].decisions if one.seat == seat)
    assert (first.cause, first.refused) == (record_pb2.CAUSE_TIMED_OUT, 1)


def test_house_bots_answer_without_time() -> None:
    play = Play(remote=(0,)).open()
    record = record_of(play, play.finish())
    assert set(causes(record, 3)) == {Cause.ANSWERED}
    assert record.players[3].bot_id == "house:random"
    assert all(one.elapsed_us == 0 for one in record.deals[0].decisions if one.seat == 3)


def test_an_attempt_that_does_not_count_leaves_no_record() -> None:
    play = Play().open()
    play.answer(play.asked()[0])
    play.table.end_early(Ending.VOID, (), "a fault of the platform")
    assert play.host.outcomes[0].record == b""
