"""Which deals a seat has spoiled and what it did wrong in each, held against the causes in the record."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

import services.match.table
from baohuang.record.v1 import record_pb2
from bots_sdk.replay import Cause, decompress_record, record_from_bytes
from bots_sdk.rules.answers import Answer, Word
from bots_sdk.rules.options import Options
from bots_sdk.rules.profiles import make_options
from bots_sdk.rules.shuffle import deck_order, pack
from services.common.matches import Ending, FaultRules, IllegalPolicy, MatchOutcome, SeatFaults
from tests.unit.match.fakes import Play, decision


def recomputed(outcome: MatchOutcome) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """By deal: who spoiled it, and the faults of each seat, from nothing but what the record says of each decision."""
    record = record_from_bytes(decompress_record(outcome.record))
    deals: dict[int, list[record_pb2.Decision]] = {}
    for deal in record.deals:
        deals.setdefault(deal.number, []).extend(deal.decisions)
    houses = {seat for seat, player in enumerate(record.players) if player.bot_id.startswith("house:")}
    found, taken = [], set(houses)
    for decisions in deals.values():
        spoiled, faults = set(), [0] * 5
        for one in decisions:
            if Cause(one.cause) is not Cause.ANSWERED:
                spoiled.add(one.seat)
            faults[one.seat] += one.refused + (Cause(one.cause) is Cause.TIMED_OUT)
            if Cause(one.cause) is Cause.TIMED_OUT and one.seat not in taken and _is_last_of(record, one):
                taken.add(one.seat)
                faults[one.seat] += record.outcome.faults[one.seat].taken_over
        found.append((tuple(sorted(spoiled)), tuple(faults)))
    return found


def _is_last_of(record: record_pb2.MatchRecord, decision: record_pb2.Decision) -> bool:
    """Whether it is the last timeout of its seat: the one after which a house bot may have taken over."""
    late = [one for deal in record.deals for one in deal.decisions
            if one.seat == decision.seat and Cause(one.cause) is Cause.TIMED_OUT]  # fmt: skip
    return late[-1] is decision or late[-1] == decision


def verify(outcome: MatchOutcome) -> None:
    assert [(deal.spoiled, deal.faults) for deal in outcome.deals] == recomputed(outcome)
    for seat, faults in enumerate(outcome.faults):
        assert sum(deal.faults[seat] for deal in outcome.deals) == faults.total


def test_nobody_spoils_a_deal_of_honest_bots() -> None:
    outcome = Play(remote=(0, 1), deals=2).open().finish()
    assert [(deal.spoiled, deal.faults) for deal in outcome.deals] == [((), (0, 0, 0, 0, 0))] * 2
    assert outcome.message == ""


def test_a_default_after_a_timeout_spoils_the_deal_it_was_played_in_and_no_other() -> None:
    play = Play(deals=3, faults=FaultRules(takeover_after=0)).open()
    seat = play.asked()[0]
    for other in play.asked()[1:]:
        play.answer(other)
    play.host.advance(2.5)
    outcome = play.finish()
    assert [deal.spoiled for deal in outcome.deals] == [(seat,), (), ()]
    assert outcome.ending is Ending.COMPLETED_WITH_FAULTS
    assert outcome.message == f"Bot {seat}: 1 timeout"
    verify(outcome)


def test_an_illegal_answer_that_is_mended_is_a_fault_and_spoils_nothing() -> None:
    play = Play(deals=2).open()
    seat = play.asked()[0]
    request = play.wires[seat].request
    assert request is not None
    for _ in range(2):
        play.send(seat, decision(request, Answer(Word.KICK)))
    play.answer(seat)
    outcome = play.finish()
    assert [deal.spoiled for deal in outcome.deals] == [(), ()]
    assert outcome.deals[0].faults[seat] == 2
    assert outcome.message == f"Bot {seat}: 2 illegal answers"
    verify(outcome)


@pytest.mark.parametrize("rules", [FaultRules(illegal=IllegalPolicy.DEFAULT), FaultRules(illegal_limit=1)])
def test_an_illegal_answer_that_is_answered_by_default_spoils_the_deal(rules: FaultRules) -> None:
    play = Play(deals=2, faults=rules).open()
    seat = play.asked()[0]
    play.answer(seat, Answer(Word.KICK))
    outcome = play.finish()
    assert [deal.spoiled for deal in outcome.deals] == [(seat,), ()]
    verify(outcome)


def test_after_a_takeover_every_deal_is_spoiled_though_nothing_more_goes_wrong() -> None:
    play = Play(remote=(2, 3), deals=3, faults=FaultRules(takeover_after=2)).open()
    outcome = play.finish(idle=(3,))
    assert [deal.spoiled for deal in outcome.deals] == [(3,)] * 3
    assert [deal.faults[3] for deal in outcome.deals] == [3, 0, 0], "two timeouts, and the takeover"
    assert outcome.message == "Bot 3: 2 timeouts, taken over"
    verify(outcome)


def test_what_was_spoiled_in_a_void_shuffle_belongs_to_the_deal_that_follows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who did not answer may have made it void, and so have dealt everybody other cards."""
    options = make_options("qingdao", {"grab": "none"})

    def decks_of(options: Options, secret: bytes, suits: int) -> Callable[[int], bytes]:
        # From the sorted pack nobody can accept: void.
        return lambda number: pack(options) if number == 0 else deck_order(options, secret, number)

    monkeypatch.setattr(services.match.table, "decks_of", decks_of)
    play = Play(options=options, deals=2, faults=FaultRules(takeover_after=0)).open()
    (seat,) = play.asked()
    play.host.advance(2.5)
    outcome = play.finish()
    assert [deal.voided for deal in outcome.deals] == [1, 0]
    assert [deal.spoiled for deal in outcome.deals] == [(seat,), ()]
    assert [deal.faults[seat] for deal in outcome.deals] == [1, 0]
    verify(outcome)


@pytest.mark.parametrize("seed", range(12))
def test_flags_follow_from_the_causes_in_the_record(seed: int) -> None:
    rng = Random(seed)
    profile = rng.choice(["qingdao", "classic"])
    rules = FaultRules(illegal_limit=rng.choice([1, 2]), takeover_after=rng.choice([0, 2, 3]))
    play = Play(deals=3, faults=rules, secret=seed.to_bytes(32, "big"), profile=profile).open()
    while not play.host.outcomes:
        for seat in play.asked():
            if (request := play.wires[seat].request) is None:
                continue
            luck = rng.random()
            if luck < 0.04:
                play.send(seat, decision(request, Answer(Word.KICK)._replace(amount=7)))
            elif luck > 0.08:
                play.answer(seat)
        play.host.advance(rng.choice([0.0, 0.7]))
        play.host.run_house()
    verify(play.host.outcomes[0])
    assert any(faults != SeatFaults() for faults in play.host.outcomes[0].faults)
