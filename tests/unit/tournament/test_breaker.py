"""Who is benched when: the rule alone, and a director that goes by it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from services.common.matches import Ending, MatchOrder, MatchOutcome, SeatFaults
from services.ledger.values import TournamentState
from services.tournament.director.breaker import Benched, Breaker, BreakerRule

from .director_fakes import NOW, FakeFixtures, FakeLedger, FakeService, outcome_of
from .test_director import QUICK, direct
from .test_director_rulings import with_bot

FIXTURES = FakeFixtures(1)
GONE = SeatFaults(timeouts=5, taken_over=True)


def played(what: str, start: int = 0, end: int = 0) -> tuple[MatchOrder, MatchOutcome]:
    """A match of the bots 0 to 4 as bot 0 played it."""
    order = FIXTURES.order(0, "a")
    outcome = {
        "well": outcome_of(order),
        "absent": outcome_of(order, Ending.NO_SHOW, blamed=(0,)),
        "taken over": replace(
            outcome_of(order, Ending.COMPLETED_WITH_FAULTS, blamed=(0,)), faults=(GONE, *outcome_of(order).faults[1:])
        ),
        "void": outcome_of(order, Ending.VOID),
        "another absent": outcome_of(order, Ending.NO_SHOW, blamed=(1,)),
    }[what]
    start_at, end_at = NOW + timedelta(seconds=start), NOW + timedelta(seconds=end)
    return order, replace(outcome, started_at=start_at, ended_at=end_at)


def benched(breaker: Breaker, matches: Iterable[tuple[MatchOrder, MatchOutcome]]) -> list[Benched]:
    return [one for order, outcome in matches for one in breaker.count(order, outcome)]


def test_so_many_failures_in_a_row_bench_a_bot_and_say_why() -> None:
    breaker = Breaker(BreakerRule(3))
    assert benched(breaker, [played("absent"), played("taken over")]) == []
    assert benched(breaker, [played("absent")]) == [
        Benched(
            "bot-0",
            "Benched by the breaker: it failed 3 times in a row, the last time in match 0, which could not begin.",
        )
    ]


def test_a_match_played_to_its_end_ends_the_row_and_a_void_does_not() -> None:
    breaker = Breaker(BreakerRule(2))
    assert benched(breaker, map(played, ["absent", "well", "absent", "void", "another absent"])) == []
    assert [one.name for one in benched(breaker, [played("absent")])] == ["bot-0"]


def test_what_failed_at_the_same_time_is_one_failure() -> None:
    breaker = Breaker(BreakerRule(2))
    together = [played("taken over", start=index, end=40 + index) for index in range(30)]
    assert benched(breaker, together) == []
    assert [one.name for one in benched(breaker, [played("taken over", start=90, end=99)])] == ["bot-0"]


def test_without_a_rule_nobody_is_benched() -> None:
    assert benched(Breaker(None), [played("absent")] * 100) == []


@given(st.lists(st.sampled_from(["well", "absent", "taken over", "void", "another absent"])), st.integers(1, 4))
def test_a_bot_is_benched_exactly_when_its_row_is_long_enough(matches: list[str], after: int) -> None:
    row, expected = 0, 0
    for what in matches:
        failed = what in ("absent", "taken over")
        row = row + 1 if failed else (0 if what == "well" else row)
        expected += failed and row == after
    found = benched(Breaker(BreakerRule(after)), map(played, matches))
    assert sum(one.name == "bot-0" for one in found) == expected


async def test_a_tournament_goes_on_without_a_bot_that_never_comes_to_its_matches() -> None:
    fixtures, ledger = FakeFixtures(60, bots=12), FakeLedger()

    def decide(order: MatchOrder) -> MatchOutcome:
        blamed = tuple(seat for seat, entrant in enumerate(order.seats) if entrant.name == "bot-0")
        return outcome_of(order, Ending.NO_SHOW, blamed) if blamed else outcome_of(order)

    limits = replace(QUICK, breaker=BreakerRule(3, annulled=True), no_show_limit=50)
    assert await direct([FakeService(decide=decide)], ledger, fixtures, limits).run() is TournamentState.FINISHED
    (exclusion,) = ledger.decided.exclusions
    assert (exclusion.name, exclusion.annulled) == ("bot-0", True)
    assert "failed 3 times in a row" in exclusion.reason
    assert set(ledger.results) == set(range(60)) - with_bot(fixtures, "bot-0")
