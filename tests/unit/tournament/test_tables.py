"""Tables of stored tournaments: read once, then only what is new, and always as if read from the start."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from services.ledger.ledger import Ledger
from services.ledger.values import TournamentState
from services.tournament.servicer.plans import Plan, make_plan
from services.tournament.servicer.tables import Tables, fold_of, played_match
from services.tournament.spec import format_spec, parse_spec
from services.tournament.standings import Order, Standing
from tests.unit.tournament.watched import WatchedLedger, make_outcome

SPEC = """\
name: cup
profile: qingdao
bots: [ada, bob, cem, dan, eva, fay, gus]
schedule: {kind: full}
deals: 2
seed: secret
"""


@pytest.fixture
def plan() -> Plan:
    return make_plan(parse_spec(SPEC))


@pytest.fixture
def ledger(tmp_path: Path, plan: Plan) -> Iterator[Ledger]:
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        ledger.create_tournament("cup", format_spec(replace(plan.spec, seed=None)), b"secret")
        yield ledger


def anew(ledger: Ledger, plan: Plan) -> list[Standing]:
    """The table from nothing but the ledger."""
    fold = fold_of(plan)
    for result in ledger.results("cup"):
        fold.add(played_match(plan, result))
    return fold.standings()


def test_only_new_results_are_read_and_the_table_is_that_of_all(ledger: Ledger, plan: Plan) -> None:
    """Given results in any order, when the table is read in between, then it is always right."""
    watched = WatchedLedger(ledger)
    tables = Tables(watched)  # type: ignore[arg-type]  # all of a ledger that it uses
    numbers = Random(1).sample(range(20), 20) + list(range(20, plan.report.matches))
    for start in range(0, len(numbers), 5):
        ledger.record([make_outcome(number) for number in numbers[start : start + 5]])
        shown = tables.of(plan, Order.POINTS)
        assert shown == anew(ledger, plan)
        assert tables.of(plan, Order.POINTS) == shown
    assert watched.read == len(numbers)


def test_a_result_that_was_taken_back_is_forgotten(ledger: Ledger, plan: Plan) -> None:
    tables = Tables(ledger)
    ledger.record([make_outcome(number) for number in range(8)])
    before = tables.of(plan, Order.POINTS)
    assert ledger.retract("cup", 7, range(5, 10), "")
    ledger.record([make_outcome(7, "second")])
    assert tables.of(plan, Order.POINTS) == anew(ledger, plan) != before


def test_tables_of_a_tournament_at_rest_have_ratings_of_everything(
    ledger: Ledger, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given ratings that are waiting for more results, when the tournament stops, then they wait no longer."""
    monkeypatch.setattr("services.tournament.standings.fold.FRESH", 1)
    tables = Tables(ledger)
    ledger.record([make_outcome(number) for number in range(10)])
    tables.of(plan, Order.POINTS)
    ledger.record([make_outcome(10)])
    assert tables.of(plan, Order.POINTS) != anew(ledger, plan)
    ledger.transition("cup", [TournamentState.RUNNING], TournamentState.CANCELLED)
    assert tables.of(plan, Order.POINTS) == anew(ledger, plan)
