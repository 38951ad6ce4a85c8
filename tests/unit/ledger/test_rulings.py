"""What operators decide in the course of a tournament is in the ledger, and said twice it is done once."""

from __future__ import annotations

import pytest

from services.common.errors import PlatformError, Reason
from services.common.matches import SeatFaults
from services.ledger.auditing import Seen, audit_tournament
from services.ledger.expected import Expected
from services.ledger.ledger import Ledger
from services.ledger.schema import retractions
from services.ledger.tournament_ledger import TournamentLedger
from services.ledger.values import Rulings, TournamentState
from tests.unit.ledger.outcomes import make_outcome

SLOW = SeatFaults(timeouts=3, taken_over=True)


def test_a_new_tournament_has_no_rulings(ledger: Ledger) -> None:
    assert ledger.rulings("cup") == Rulings()


def test_an_exclusion_is_kept_and_the_last_word_counts(ledger: Ledger) -> None:
    ledger.exclude("cup", "bob", annulled=False, reason="asked to leave")
    ledger.exclude("cup", "ada", annulled=True, reason="two of a kind")
    first = ledger.rulings("cup")
    ledger.exclude("cup", "ada", annulled=True, reason="two of a kind")
    assert ledger.rulings("cup") == first
    assert [(one.name, one.annulled, one.reason) for one in first.exclusions] == [
        ("ada", True, "two of a kind"),
        ("bob", False, "asked to leave"),
    ]
    ledger.exclude("cup", "bob", annulled=True, reason="")
    assert [one.annulled for one in ledger.rulings("cup").exclusions] == [True, True]
    assert ledger.rulings("cup").excluded == {"ada", "bob"}


def test_what_an_operator_said_of_a_bot_stands_when_its_director_benches_it(ledger: Ledger) -> None:
    director = TournamentLedger(ledger, "cup")
    ledger.exclude("cup", "ada", annulled=False, reason="asked to leave")
    director.bench("ada", annulled=True, reason="late")
    director.bench("bob", annulled=True, reason="late")
    assert [(one.name, one.annulled, one.reason) for one in director.rulings().exclusions] == [
        ("ada", False, "asked to leave"),
        ("bob", True, "late"),
    ]


def test_in_flight_is_kept_and_can_be_left_to_the_specification_again(ledger: Ledger) -> None:
    ledger.set_in_flight("cup", 7)
    assert ledger.rulings("cup").in_flight == 7
    ledger.set_in_flight("cup", None)
    assert ledger.rulings("cup").in_flight is None


def test_rulings_on_an_unknown_tournament_are_refused(ledger: Ledger) -> None:
    for ruling in (
        lambda: ledger.rulings("cap"),
        lambda: ledger.exclude("cap", "ada", annulled=True, reason=""),
        lambda: ledger.set_in_flight("cap", 1),
        lambda: ledger.retract("cap", 0, [0, 1], ""),
    ):
        with pytest.raises(PlatformError) as caught:
            ruling()
        assert caught.value.reason is Reason.TOURNAMENT_UNKNOWN


def test_a_result_taken_back_leaves_the_sums_right_and_its_record_as_evidence(ledger: Ledger) -> None:
    ledger.record([make_outcome(1, faults={2: SLOW}, record=b"one"), make_outcome(2, record=b"two")])
    assert ledger.retracted_count("cup") == 0
    assert ledger.retract("cup", 1, [1, 3], "the wrong build")
    assert ledger.retracted_count("cup") == 1
    assert [result.number for result in ledger.results("cup")] == [2]
    assert ledger.match_record("cup", 1) is None
    assert ledger.totals("cup") == ledger.recount("cup")
    assert (ledger.totals("cup").matches, ledger.totals("cup").attempts_void) == (1, 1)
    with ledger.reading() as connection:
        (row,) = connection.execute(retractions.select()).all()
    assert (row.attempt, row.number, row.reason, row.record) == ("first-1", 1, "the wrong build", b"one")
    assert not ledger.retract("cup", 1, [1, 3], "again")
    ledger.record([make_outcome(1, faults={2: SLOW}, record=b"one")])  # the very attempt, sent again, is no result
    assert [result.number for result in ledger.results("cup")] == [2]
    ledger.record([make_outcome(1, attempt="second")])
    assert [result.attempt for result in ledger.results("cup")] == ["second", "first-2"]
    assert ledger.totals("cup") == ledger.recount("cup")


def test_a_result_whose_deals_are_known_is_not_taken_back(ledger: Ledger) -> None:
    ledger.record([make_outcome(1), make_outcome(3)])
    before = ledger.totals("cup")
    for sharing in ([1], [1, 3]):
        with pytest.raises(PlatformError, match="deals are known") as caught:
            ledger.retract("cup", 1, sharing, "")
        assert caught.value.reason is Reason.STATE_CONFLICT
    assert ledger.totals("cup") == before


def test_the_check_excuses_matches_of_excluded_bots_and_no_others(ledger: Ledger) -> None:
    ledger.record([make_outcome(number) for number in (0, 1)])
    ledger.transition("cup", list(TournamentState), TournamentState.FINISHED)
    expected = Expected(3, 2, lambda number: ["ada", "bob"] if number == 2 else ["bob"])

    def said() -> list[str]:
        found = audit_tournament(ledger, ledger.tournament("cup"), expected, Seen())
        return [finding.what for finding in found if finding.where == "results"]

    assert said() == ["it is finished with 2 of 3 matches"]
    ledger.exclude("cup", "cy", annulled=False, reason="")
    assert said() == ["it is finished with 2 of 3 matches"]
    ledger.exclude("cup", "ada", annulled=False, reason="")
    assert said() == []
