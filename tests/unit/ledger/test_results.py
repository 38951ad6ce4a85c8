"""One result per scheduled match, whatever is recorded again; and everything comes back as it was recorded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.common.errors import PlatformError, Reason
from services.common.matches import DealScore, Ending, MatchOutcome, SeatFaults
from services.common.metrics import LedgerMetrics
from services.ledger.ledger import Ledger
from services.ledger.ranges import Ranges
from services.ledger.values import Totals
from tests.databases.postgres import Cluster, make_ledger
from tests.unit.ledger.conftest import BACKENDS
from tests.unit.ledger.outcomes import make_outcome

SLOW = SeatFaults(timeouts=3, taken_over=True)
WILD = SeatFaults(illegal_answers=2, disconnects=1)


def test_a_result_comes_back_as_it_was_recorded(ledger: Ledger) -> None:
    outcome = make_outcome(
        4, ending=Ending.COMPLETED_WITH_FAULTS, faults={0: WILD, 3: SLOW}, blamed=(0, 3), message="two were late"
    )
    ledger.record([outcome])
    (result,) = ledger.results("cup")
    for name in ("number", "attempt", "ending", "blamed", "deals", "faults", "decisions", "started_at", "ended_at"):
        assert getattr(result, name) == getattr(outcome, name), name
    assert result.match_service == "match-1"
    assert result.points == (4 + 1 + 4 + 2, -8, -3, 6, -6)


def test_a_deal_without_an_emperor_comes_back_as_it_was_recorded(ledger: Ledger) -> None:
    void = DealScore(0, (0,) * 5, (), None, None, None, voided=99, beans=(0,) * 5)
    ledger.record([replace(make_outcome(1), deals=(void,))])
    assert next(ledger.results("cup")).deals == (void,)


def test_results_come_in_the_order_of_the_schedule_however_they_were_recorded(ledger: Ledger) -> None:
    ledger.record([make_outcome(9), make_outcome(2)])
    ledger.record([make_outcome(5)])
    assert [result.number for result in ledger.results("cup")] == [2, 5, 9]
    assert [result.number for result in ledger.results("cup", after=2)] == [5, 9]
    assert [result.number for result in ledger.results_page("cup", after=2, limit=1)] == [5]


def test_many_results_are_read_in_parts_without_loss(ledger: Ledger) -> None:
    outcomes = [make_outcome(number, deals=1, faults={number % 5: WILD}) for number in range(1203)]
    ledger.record(outcomes)
    results = list(ledger.results("cup"))
    assert [(result.number, result.deals, result.faults) for result in results] == [
        (outcome.number, outcome.deals, outcome.faults) for outcome in outcomes
    ]
    assert ledger.done_numbers("cup") == Ranges(range(1203))


def test_some_results_are_read_as_they_are_among_all(ledger: Ledger) -> None:
    ledger.create_tournament("other", "name: other", b"t" * 32)
    ledger.record([make_outcome(number, faults={number % 5: WILD}) for number in range(20)])
    ledger.record([make_outcome(3, attempt="other-3", tournament="other")])
    everything = {result.number: result for result in ledger.results("cup")}
    assert ledger.results_of("cup", [17, 3, 4, 20]) == [everything[3], everything[4], everything[17]]
    assert ledger.results_of("cup", []) == []


def test_numbers_with_results_are_counted_and_read_by_parts(ledger: Ledger) -> None:
    ledger.create_tournament("other", "name: other", b"t" * 32)
    ledger.record([make_outcome(number, deals=1) for number in (0, 1, 9, 10, 11, 12, 39, 40)])
    ledger.record([make_outcome(3, attempt="other-3", tournament="other")])
    assert ledger.done_counts("cup", range(50), 10) == {0: 3, 1: 3, 3: 1, 4: 1}
    assert ledger.done_counts("cup", range(1, 40), 10) == {0: 2, 1: 3, 3: 1}
    assert ledger.done_counts("cup", range(13, 39), 10) == {}
    assert list(ledger.done_numbers("cup", range(1, 11))) == [1, 9, 10]


def test_what_is_recorded_while_reading_does_no_harm(ledger: Ledger) -> None:
    ledger.record([make_outcome(number, deals=1) for number in range(600)])
    reader = ledger.results("cup")
    assert next(reader).number == 0
    ledger.record([make_outcome(number, deals=1) for number in range(600, 700)])
    assert [result.number for result in reader] == list(range(1, 700))


def test_the_same_outcome_again_changes_nothing(ledger: Ledger) -> None:
    outcome = make_outcome(1, faults={2: SLOW})
    assert ledger.record([outcome]).new == (outcome,)
    again = ledger.record([outcome, outcome])
    assert (again.new, again.void, again.duplicates, again.attempts) == ((), (), (outcome, outcome), 0)
    assert ledger.totals("cup") == Totals(matches=1, deals=2, decisions=101, timeouts=3, takeovers=1, attempts=1)


def test_the_first_attempt_that_counts_stays_the_result(ledger: Ledger) -> None:
    first, second = make_outcome(1, attempt="a", deals=2), make_outcome(1, attempt="b", deals=3)
    ledger.record([first])
    recorded = ledger.record([second])
    assert (recorded.new, recorded.duplicates, recorded.attempts) == ((), (second,), 1)
    (result,) = ledger.results("cup")
    assert (result.attempt, len(result.deals)) == ("a", 2)
    assert [attempt.attempt for attempt in ledger.attempts("cup", 1)] == ["a", "b"]


def test_within_one_batch_too_the_first_wins(ledger: Ledger) -> None:
    first, second = make_outcome(1, attempt="a"), make_outcome(1, attempt="b")
    recorded = ledger.record([first, second])
    assert (recorded.new, recorded.duplicates) == ((first,), (second,))


def test_an_attempt_that_does_not_count_is_kept_and_the_match_stays_open(ledger: Ledger) -> None:
    void = make_outcome(1, attempt="a", ending=Ending.VOID, message="the match service was lost")
    no_show = make_outcome(1, attempt="b", ending=Ending.NO_SHOW, blamed=(4,), faults={4: WILD})
    recorded = ledger.record([void, no_show])
    assert (recorded.new, recorded.void) == ((), (void, no_show))
    assert list(ledger.results("cup")) == []
    assert 1 not in ledger.done_numbers("cup")
    kept = ledger.attempts("cup", 1)
    assert [(attempt.ending, attempt.blamed, attempt.message) for attempt in kept] == [
        (Ending.VOID, (), "the match service was lost"),
        (Ending.NO_SHOW, (4,), ""),
    ]
    ledger.record([make_outcome(1, attempt="c")])
    totals = ledger.totals("cup")
    assert (totals.matches, totals.attempts, totals.attempts_void) == (1, 3, 2)
    assert totals.illegal_answers == 0  # faults of an attempt that does not count are not in results


def test_tournaments_do_not_mix(ledger: Ledger) -> None:
    ledger.create_tournament("other", "", b"o" * 32)
    recorded = ledger.record([make_outcome(1), make_outcome(1, tournament="other", attempt="x"), make_outcome(2)])
    assert len(recorded.new) == 3
    assert list(ledger.done_numbers("cup")) == [1, 2]
    assert list(ledger.done_numbers("other")) == [1]
    assert ledger.totals("other").matches == 1


def test_an_unknown_tournament_writes_nothing_of_the_batch(ledger: Ledger) -> None:
    with pytest.raises(PlatformError, match="no tournament named 'nowhere'") as caught:
        ledger.record([make_outcome(1), make_outcome(2, tournament="nowhere")])
    assert caught.value.reason is Reason.TOURNAMENT_UNKNOWN
    assert len(ledger.done_numbers("cup")) == 0


@pytest.mark.parametrize("read", ["results", "done_numbers", "totals", "recount", "tournament"])
def test_asking_for_an_unknown_tournament_is_refused(ledger: Ledger, read: str) -> None:
    with pytest.raises(PlatformError) as caught:
        list(getattr(ledger, read)("nowhere"))
    assert caught.value.reason is Reason.TOURNAMENT_UNKNOWN


def test_no_outcomes_are_nothing(ledger: Ledger) -> None:
    assert ledger.record([]).attempts == 0


def test_what_was_recorded_is_there_after_opening_again(place: str) -> None:
    with Ledger.open(place) as ledger:
        ledger.create_tournament("cup", "", b"s")
        ledger.record([make_outcome(3)])
    with Ledger.open(place) as ledger:
        assert [result.deals for result in ledger.results("cup")] == [make_outcome(3).deals]


def test_writes_are_counted(ledger: Ledger, metrics: LedgerMetrics) -> None:
    before = metrics.writes, metrics.rows
    ledger.record([make_outcome(1), make_outcome(2)])
    ledger.record([make_outcome(1)])
    assert (metrics.writes - before[0], metrics.rows - before[1], metrics.failures) == (2, 2, 0)


OUTCOMES = st.lists(
    st.builds(
        make_outcome,
        st.integers(0, 5),
        attempt=st.sampled_from([f"attempt-{number}" for number in range(12)]),
        tournament=st.sampled_from(["cup", "other"]),
        ending=st.sampled_from(Ending),
        deals=st.integers(1, 2),
        faults=st.dictionaries(
            st.integers(0, 4), st.builds(SeatFaults, *[st.integers(0, 2)] * 3, taken_over=st.booleans())
        ),
    ),
    max_size=30,
)


@pytest.fixture(scope="module", params=BACKENDS)
def shared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    """One ledger for all examples: opening one for each would take most of the time."""
    if request.param == "sqlite":
        with Ledger.open(tmp_path_factory.mktemp("ledger") / "arena.db") as ledger:
            yield ledger
        return
    cluster: Cluster = request.getfixturevalue("cluster")
    with Ledger.open(cluster.url(make_ledger(cluster, "shared"))) as ledger:
        yield ledger


@settings(max_examples=40)
@given(OUTCOMES, st.integers(1, 10))
def test_whatever_comes_in_whatever_batches_the_first_wins_and_the_totals_hold(
    shared: Ledger, outcomes: list[MatchOutcome], size: int
) -> None:
    example = uuid4().hex  # each example has tournaments of its own
    for name in ("cup", "other"):
        shared.create_tournament(name + example, "", b"s")
    outcomes = [replace(o, tournament=o.tournament + example, attempt=o.attempt + example) for o in outcomes]
    expected: dict[str, dict[int, MatchOutcome]] = {"cup" + example: {}, "other" + example: {}}
    seen: set[str] = set()
    for outcome in outcomes:
        if outcome.attempt not in seen and outcome.ending.counts:
            expected[outcome.tournament].setdefault(outcome.number, outcome)
        seen.add(outcome.attempt)
    for start in range(0, len(outcomes), size):
        shared.record(outcomes[start : start + size])
    for name, winners in expected.items():
        assert [(result.number, result.attempt, result.deals, result.faults) for result in shared.results(name)] == [
            (number, winner.attempt, winner.deals, winner.faults) for number, winner in sorted(winners.items())
        ]
        assert shared.totals(name) == shared.recount(name)


# -------------------------------------------------------------------------------------------------------- match records


def test_the_record_of_a_match_is_kept_with_its_result(ledger: Ledger) -> None:
    ledger.record([make_outcome(1, record=b"one"), make_outcome(2)])
    assert ledger.match_record("cup", 1) == b"one"
    assert ledger.match_record("cup", 2) is None
    assert ledger.match_record("cup", 3) is None
    with pytest.raises(PlatformError) as caught:
        ledger.match_record("nowhere", 1)
    assert caught.value.reason is Reason.TOURNAMENT_UNKNOWN


def test_only_the_attempt_that_counted_leaves_a_record(ledger: Ledger) -> None:
    ledger.record([make_outcome(1, attempt="void", ending=Ending.VOID, record=b"void")])
    assert ledger.match_record("cup", 1) is None
    ledger.record([make_outcome(1, record=b"first")])
    ledger.record([make_outcome(1, attempt="again", record=b"again"), make_outcome(1, record=b"same attempt")])
    assert ledger.match_record("cup", 1) == b"first"


def test_records_of_tournaments_are_apart(ledger: Ledger) -> None:
    ledger.create_tournament("league", "", b"s")
    ledger.record([make_outcome(1, record=b"cup")])
    ledger.record([make_outcome(1, tournament="league", attempt="other", record=b"league")])
    assert ledger.match_record("cup", 1) == b"cup"
    assert ledger.match_record("league", 1) == b"league"
