"""Tournaments in the ledger: unique names, states that change only as allowed, lists."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from services.common.clock import ManualClock
from services.common.errors import PlatformError, Reason
from services.ledger.ledger import Ledger
from services.ledger.tournament_ledger import TournamentLedger
from services.ledger.values import TournamentState
from tests.unit.ledger.outcomes import make_outcome

DRAFT, OPEN = TournamentState.DRAFT, TournamentState.OPEN
RUNNING, PAUSED = TournamentState.RUNNING, TournamentState.PAUSED
FINISHED, CANCELLED = TournamentState.FINISHED, TournamentState.CANCELLED


def test_a_tournament_comes_back_as_it_was_stored(ledger: Ledger, clock: ManualClock) -> None:
    clock.advance(5)
    made = ledger.create_tournament("保皇杯", "name: 保皇杯\n", bytes(range(32)), message="waiting")
    assert made == ledger.tournament("保皇杯")
    assert (made.state, made.secret, made.created_at) == (RUNNING, bytes(range(32)), clock.now())


def test_its_secret_is_not_shown_by_chance(ledger: Ledger) -> None:
    assert "secret" not in repr(ledger.tournament("cup"))


def test_a_name_is_given_once(ledger: Ledger) -> None:
    with pytest.raises(PlatformError, match="'cup'") as caught:
        ledger.create_tournament("cup", "another", b"t" * 32)
    assert caught.value.reason is Reason.TOURNAMENT_EXISTS
    assert ledger.tournament("cup").spec_yaml == "name: cup"


def test_a_state_changes_from_where_it_may(ledger: Ledger, clock: ManualClock) -> None:
    clock.advance(60)
    changed = ledger.transition("cup", {RUNNING, OPEN}, PAUSED, "tea")
    assert changed == ledger.tournament("cup")
    assert (changed.state, changed.message, changed.updated_at) == (PAUSED, "tea", clock.now())
    assert changed.created_at < changed.updated_at


def test_from_elsewhere_it_is_refused_by_name(ledger: Ledger) -> None:
    with pytest.raises(PlatformError) as caught:
        ledger.transition("cup", {CANCELLED, PAUSED}, FINISHED)
    assert caught.value.reason is Reason.STATE_CONFLICT
    assert caught.value.message == "The tournament 'cup' is running; to become finished it must be cancelled or paused."
    assert caught.value.metadata["state"] == "running"
    assert ledger.tournament("cup").state is RUNNING


def test_an_unknown_tournament_has_no_state_to_change(ledger: Ledger) -> None:
    with pytest.raises(PlatformError) as caught:
        ledger.transition("nowhere", {OPEN}, RUNNING)
    assert caught.value.reason is Reason.TOURNAMENT_UNKNOWN


def test_of_many_that_try_at_once_one_succeeds(ledger: Ledger) -> None:
    def try_it(_: int) -> Reason | None:
        try:
            ledger.transition("cup", {RUNNING}, PAUSED)
        except PlatformError as error:
            return error.reason
        return None

    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(try_it, range(16)))
    assert sorted(outcomes, key=bool) == [None, *[Reason.STATE_CONFLICT] * 15]


def test_lists_go_from_the_newest_in_pages(ledger: Ledger) -> None:
    for name in ("a", "b", "c"):
        ledger.create_tournament(name, "", b"s")
    first = ledger.tournaments(limit=3)
    assert [tournament.name for tournament in first.items] == ["c", "b", "a"]
    rest = ledger.tournaments(after=first.after, limit=3)
    assert ([tournament.name for tournament in rest.items], rest.after) == (["cup"], "")


def test_a_full_last_page_is_known_to_be_the_last(ledger: Ledger) -> None:
    assert ledger.tournaments(limit=1).after == ""


def test_those_in_some_states_are_found(ledger: Ledger) -> None:
    ledger.create_tournament("a", "", b"s", state=OPEN)
    ledger.create_tournament("b", "", b"s", state=CANCELLED)
    assert [tournament.name for tournament in ledger.tournaments_in({OPEN, RUNNING})] == ["cup", "a"]


def test_those_in_some_states_are_left_out_of_lists_and_pages_are_full_all_the_same(ledger: Ledger) -> None:
    for name, state in (("a", RUNNING), ("b", DRAFT), ("c", DRAFT), ("d", OPEN)):
        ledger.create_tournament(name, "", b"s", state=state)
    first = ledger.tournaments(limit=2, hidden=[DRAFT])
    assert [tournament.name for tournament in first.items] == ["d", "a"]
    assert [tournament.name for tournament in ledger.tournaments(after=first.after, hidden=[DRAFT]).items] == ["cup"]


def test_the_name_of_one_that_is_left_out_finds_no_page_like_that_of_one_that_is_not_there(ledger: Ledger) -> None:
    """Otherwise whoever guesses the name of a draft learns that it is right."""
    ledger.create_tournament("secret", "", b"s", state=DRAFT)
    said = []
    for name in ("secret", "nothing"):
        with pytest.raises(PlatformError) as caught:
            ledger.tournaments(after=name, hidden=[DRAFT])
        said.append((caught.value.reason, caught.value.message.replace(name, "...")))
    assert said[0] == said[1]
    assert [one.name for one in ledger.tournaments(after="secret").items] == ["cup"]


def test_a_director_sees_its_own_tournament(ledger: Ledger) -> None:
    mine = TournamentLedger(ledger, "cup")
    mine.record([make_outcome(3)])
    mine.set_state(FINISHED, "done")
    mine.set_state(FINISHED, "done, really")
    assert list(mine.done()) == [3]
    assert ledger.tournament("cup").message == "done, really"
    with pytest.raises(PlatformError) as caught:
        mine.set_state(RUNNING, "")
    assert caught.value.reason is Reason.STATE_CONFLICT


@pytest.mark.parametrize("state", [DRAFT, OPEN])
def test_a_director_leaves_alone_what_was_not_started(ledger: Ledger, state: TournamentState) -> None:
    ledger.create_tournament("early", "", b"s", state=state)
    with pytest.raises(PlatformError) as caught:
        TournamentLedger(ledger, "early").set_state(RUNNING, "")
    assert caught.value.reason is Reason.STATE_CONFLICT
