"""What a director that begins reads of those before it: how the last attempts ended, and who failed in them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from services.common.matches import Ending, MatchOutcome, SeatFaults
from services.ledger.ledger import Ledger
from services.ledger.values import PastAttempt
from tests.unit.ledger.outcomes import START, make_outcome

GONE = SeatFaults(timeouts=5, taken_over=True)


def ended(outcome: MatchOutcome, minute: int) -> MatchOutcome:
    return replace(outcome, ended_at=START + timedelta(minutes=minute))


def past(outcome: MatchOutcome, *taken_over: int) -> PastAttempt:
    when = (outcome.started_at, outcome.ended_at)
    return PastAttempt(outcome.number, outcome.ending, outcome.blamed, taken_over, *when)


def test_the_last_attempts_are_read_in_the_order_of_ending(ledger: Ledger) -> None:
    absent = replace(make_outcome(5, attempt="absent", ending=Ending.NO_SHOW), blamed=(1, 3))
    taken_over = make_outcome(2, attempt="b", faults={0: GONE, 3: SeatFaults(timeouts=1), 4: GONE})
    outcomes = [ended(make_outcome(1, attempt="c"), 1), ended(absent, 2), ended(taken_over, 3)]
    ledger.record(list(reversed(outcomes)))
    ledger.create_tournament("mug", "", b"s")
    ledger.record([ended(make_outcome(9, tournament="mug", attempt="other"), 9)])
    expected = [past(outcomes[0]), past(outcomes[1]), past(outcomes[2], 0, 4)]
    assert ledger.past_attempts("cup", 10) == expected
    assert ledger.past_attempts("cup", 2) == expected[1:]


def test_of_those_that_ended_at_the_same_time_each_is_read_once(ledger: Ledger) -> None:
    outcomes = [ended(make_outcome(number, faults={number: GONE, 4: GONE}), 1) for number in range(3)]
    ledger.record(outcomes)
    assert ledger.past_attempts("cup", 10) == [past(one, one.number, 4) for one in outcomes]
    assert ledger.past_attempts("cup", 0) == []
