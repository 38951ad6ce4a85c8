"""The rule of a tournament file on what the ledger has: the same decision whatever came when, and after a restart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest

from services.cli.ledgers import expected_of
from services.common.matches import DealScore, Ending, MatchOutcome, SeatFaults
from services.ledger.auditing import Seen, audit
from services.ledger.ledger import Ledger
from services.ledger.values import TournamentState
from services.tournament.servicer.messages import match_to_proto
from services.tournament.servicer.plans import Plan, make_plan
from services.tournament.servicer.stopping import Stopping, parse_decided_groups
from services.tournament.spec import format_spec, parse_spec

SPEC = """\
name: cup
profile: qingdao
bots: [ada, bob, cem, dan, eva, fay]
schedule: {kind: balanced, matches: 300}
deals: 4
seed: secret
stop: {first: 1, level: 95}
"""
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture
def plan() -> Plan:
    return make_plan(parse_spec(SPEC))


@pytest.fixture
def ledger(tmp_path: Path, plan: Plan) -> Iterator[Ledger]:
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        ledger.create_tournament("cup", format_spec(replace(plan.spec, seed=None)), b"secret")
        yield ledger


def outcome(plan: Plan, number: int) -> MatchOutcome:
    """Bob, the second, is much better than all others."""
    draw, deals = Random(number), []
    entrants = plan.schedule.match(number).entrants
    for deal in range(plan.spec.deals):
        points = [draw.randint(-3, 3) + (8 if entrant == 1 else -1) for entrant in entrants]
        deals.append(DealScore(deal, tuple(points), (0, 1, 2, 3, 4), 0, 1, None))
    no_faults = (SeatFaults(),) * 5
    return MatchOutcome(
        "cup", number, f"first-{number}", Ending.COMPLETED, (), "", tuple(deals), no_faults, 100, NOW, NOW
    )


def record(ledger: Ledger, plan: Plan, numbers: Sequence[int]) -> None:
    ledger.record([outcome(plan, number) for number in numbers])


def all_looks(ledger: Ledger, plan: Plan) -> str:
    """What a director that comes now is told."""
    stopping, done = Stopping(ledger, plan.spec, plan.schedule), ledger.done_numbers("cup")
    sentence = ""
    while not sentence and stopping.is_due(done.__contains__):
        sentence = stopping.take_look()
    return sentence


def test_the_decision_is_at_the_first_look_that_shows_it_whatever_else_is_there(ledger: Ledger, plan: Plan) -> None:
    looked, sentences = Stopping(ledger, plan.spec, plan.schedule), []
    numbers = list(range(plan.report.matches))
    for start in range(0, len(numbers), 10):
        record(ledger, plan, Random(start).sample(numbers[start : start + 10], 10))
        while looked.is_due(ledger.done_numbers("cup").__contains__):
            sentences.append(looked.take_look())
    *before, said = sentences
    assert not any(before)
    assert (
        said
        == "Ended early: bob is ahead of all others, 95 % sure, after the first 10 of 60 sets of deals (look 1 of 8)"
    )
    # Somebody who comes when all has been played says the same, of the same deals.
    assert all_looks(ledger, plan) == said


def test_a_look_waits_for_every_match_of_its_groups(ledger: Ledger, plan: Plan) -> None:
    first = [number for group in range(10) for number in plan.schedule.numbers(group)]
    others = [number for number in range(100) if number not in first]
    record(ledger, plan, [*first[:-1], *others])
    assert all_looks(ledger, plan) == ""
    record(ledger, plan, first[-1:])
    assert "bob is ahead" in all_looks(ledger, plan)


def test_while_somebody_is_excluded_nothing_is_decided(ledger: Ledger, plan: Plan) -> None:
    record(ledger, plan, range(plan.report.matches))
    ledger.exclude("cup", "fay", annulled=False, reason="")
    assert all_looks(ledger, plan) == ""


def test_without_a_rule_there_are_no_looks(ledger: Ledger, plan: Plan) -> None:
    record(ledger, plan, range(60))
    stopping = Stopping(ledger, replace(plan.spec, stop=None), plan.schedule)
    assert not stopping.is_due(lambda number: True)


def test_a_decision_in_the_ledger_is_found_there(ledger: Ledger, plan: Plan) -> None:
    record(ledger, plan, range(plan.report.matches))
    said = all_looks(ledger, plan)
    assert parse_decided_groups(said) == 10
    assert Stopping(ledger, plan.spec, plan.schedule, said).recorded == said
    assert Stopping(ledger, plan.spec, plan.schedule, "An operator has to look.").recorded == ""


def test_the_check_computes_the_decision_again_whoever_was_excluded_since(ledger: Ledger, plan: Plan) -> None:
    def missed(message: str) -> list[str]:
        ledger.transition("cup", list(TournamentState), TournamentState.FINISHED, message)
        return [one.what for one in audit(ledger, expected_of, Seen()) if one.where == "results"]

    record(ledger, plan, [number for group in range(10) for number in plan.schedule.numbers(group)])
    said = all_looks(ledger, plan)
    assert missed(said) == []
    so_far = "it is finished with 50 of 300 matches"
    assert (
        missed("An operator had to go.")
        == missed(said.replace("bob", "ada"))
        == [f"{so_far}; by the results its message should be: {said}"]
    )
    assert missed("") == [so_far]
    ledger.exclude("cup", "fay", annulled=True, reason="found late")
    assert missed(said) == []


def test_the_check_knows_a_decision_that_results_do_not_bear_out(ledger: Ledger, plan: Plan) -> None:
    record(ledger, plan, range(30))
    ledger.transition("cup", list(TournamentState), TournamentState.FINISHED, "Ended early: bob is ahead")
    (what,) = [one.what for one in audit(ledger, expected_of, Seen()) if one.where == "results"]
    assert what == "it is finished with 30 of 300 matches; by the results it does not end early"


def test_matches_beyond_the_decision_are_marked(ledger: Ledger, plan: Plan) -> None:
    record(ledger, plan, range(100))
    marked = {
        result.number for result in ledger.results("cup") if match_to_proto(result, plan, decided=10).after_decision
    }
    assert marked == set(range(100)) - {number for group in range(10) for number in plan.schedule.numbers(group)}
    assert not any(match_to_proto(result, plan).after_decision for result in ledger.results("cup"))
