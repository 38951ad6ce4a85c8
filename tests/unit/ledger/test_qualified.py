"""Who plays the final of a tournament is settled once, and by nobody who has not heard of the last exclusion."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from services.common.errors import PlatformError, Reason
from services.common.qualifiers import Qualifier, Way
from services.ledger.ledger import Ledger
from services.ledger.values import TournamentState

PLACES = (
    Qualifier("ada", 1, 1, Way.PLACED),
    Qualifier("house:greedy#2", 2, 3, Way.REST),
    Qualifier("eve", 2, 2, Way.VACANT),
)
OTHERS = (replace(PLACES[0], name="bob"), *PLACES[1:])


def test_before_it_is_settled_nobody_has_qualified(ledger: Ledger) -> None:
    assert ledger.tournament("cup").qualified == ()


def test_the_first_word_stands(ledger: Ledger) -> None:
    assert ledger.qualify("cup", PLACES, ()) == PLACES
    assert ledger.qualify("cup", OTHERS, ()) == PLACES
    assert ledger.tournament("cup").qualified == PLACES
    assert [one.qualified for one in ledger.tournaments().items if one.name == "cup"] == [PLACES]


def test_it_stands_whatever_becomes_of_the_tournament(ledger: Ledger) -> None:
    ledger.qualify("cup", PLACES, ())
    ledger.exclude("cup", "ada", annulled=True, reason="")
    ledger.transition("cup", list(TournamentState), TournamentState.FINISHED)
    assert ledger.tournament("cup").qualified == PLACES
    assert ledger.qualify("cup", OTHERS, ()) == PLACES


def test_what_was_excluded_when_it_was_settled_is_kept_whatever_is_said_later(ledger: Ledger) -> None:
    ledger.exclude("cup", "ada", annulled=False, reason="")
    ledger.exclude("cup", "bob", annulled=True, reason="")
    ledger.qualify("cup", PLACES, ledger.rulings("cup").exclusions)
    ledger.exclude("cup", "ada", annulled=True, reason="found late")
    ledger.exclude("cup", "eve", annulled=True, reason="")
    assert ledger.qualify("cup", OTHERS, ledger.rulings("cup").exclusions) == PLACES
    kept = {one.name: (one.annulled, one.at_final) for one in ledger.rulings("cup").exclusions}
    assert kept == {"ada": (True, False), "bob": (True, True), "eve": (True, None)}


def test_whoever_has_not_heard_of_an_exclusion_settles_nothing(ledger: Ledger) -> None:
    ledger.exclude("cup", "ada", annulled=False, reason="")
    assert ledger.qualify("cup", PLACES, ()) == ()
    assert ledger.tournament("cup").qualified == ()
    kept = ledger.rulings("cup").exclusions
    ledger.exclude("cup", "ada", annulled=True, reason="")
    assert ledger.qualify("cup", OTHERS, kept) == ()
    assert ledger.qualify("cup", OTHERS, ledger.rulings("cup").exclusions) == OTHERS


def test_of_two_that_settle_it_at_once_one_does(ledger: Ledger) -> None:
    def settle(turn: int) -> tuple[Qualifier, ...]:
        return ledger.qualify("cup", PLACES if turn % 2 else OTHERS, ())

    with ThreadPoolExecutor(4) as threads:
        answers = set(threads.map(settle, range(12)))
    assert answers == {ledger.tournament("cup").qualified}


def test_of_an_unknown_tournament_nothing_is_settled(ledger: Ledger) -> None:
    with pytest.raises(PlatformError) as caught:
        ledger.qualify("cap", PLACES, ())
    assert caught.value.reason is Reason.TOURNAMENT_UNKNOWN
