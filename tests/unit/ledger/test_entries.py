"""Who enters a tournament before it is started is in the ledger, and said twice it is done once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from services.common.clock import ManualClock
from services.common.errors import PlatformError, Reason
from services.ledger.ledger import Ledger
from services.ledger.values import Entry, Side, TournamentState

BOT, OPERATOR = Side.BOT, Side.OPERATOR


@pytest.fixture
def hall(ledger: Ledger) -> Ledger:
    """A ledger with an open tournament in which bob is entered from the start, for three entrants at most."""
    ledger.create_tournament("hall", "name: hall", b"s", state=TournamentState.OPEN, entrants=["bob"])
    return ledger


def names(ledger: Ledger, tournament: str = "hall") -> list[str]:
    return [entry.name for entry in ledger.entries(tournament) if entry.is_in]


def refusal(call: Callable[[], object]) -> PlatformError:
    with pytest.raises(PlatformError) as caught:
        call()
    return caught.value


def test_entries_are_kept_in_the_order_of_names(hall: Ledger, clock: ManualClock) -> None:
    start = clock.now()
    clock.advance(5)
    hall.enter("hall", "ada", BOT, 3)
    hall.enter("hall", "Zoe", OPERATOR, 3)
    assert hall.entries("hall") == (
        Entry("Zoe", clock.now(), OPERATOR),
        Entry("ada", clock.now(), BOT),
        Entry("bob", start, OPERATOR),
    )


def test_entered_or_withdrawn_twice_is_once(hall: Ledger, clock: ManualClock) -> None:
    hall.enter("hall", "ada", BOT, 3)
    before = hall.entries("hall")
    clock.advance(5)
    hall.enter("hall", "ada", BOT, 3)
    hall.enter("hall", "ada", OPERATOR, 3)
    assert hall.entries("hall") == before
    hall.withdraw("hall", "ada", BOT)
    left = hall.entries("hall")
    assert left[0] == Entry("ada", before[0].at, BOT, clock.now(), BOT)
    clock.advance(5)
    hall.withdraw("hall", "ada", BOT)
    assert hall.entries("hall") == left


def test_who_has_left_by_itself_comes_back_and_whom_an_operator_has_withdrawn_does_not(hall: Ledger) -> None:
    hall.enter("hall", "ada", BOT, 3)
    hall.withdraw("hall", "ada", BOT)
    hall.enter("hall", "ada", BOT, 3)
    assert names(hall) == ["ada", "bob"]
    hall.withdraw("hall", "ada", BOT)
    hall.withdraw("hall", "ada", OPERATOR)
    error = refusal(lambda: hall.enter("hall", "ada", BOT, 3))
    assert (error.reason, "An operator has withdrawn 'ada'" in error.message) == (Reason.STATE_CONFLICT, True)
    hall.withdraw("hall", "ada", BOT)  # does not make it its own doing
    assert refusal(lambda: hall.enter("hall", "ada", BOT, 3)).reason is Reason.STATE_CONFLICT
    hall.enter("hall", "ada", OPERATOR, 3)
    assert names(hall) == ["ada", "bob"]


def test_no_more_enter_than_it_takes_also_when_all_come_at_once(hall: Ledger) -> None:
    def come(number: int) -> str:
        try:
            hall.enter("hall", f"bot-{number}", BOT, 3)
        except PlatformError as error:
            return error.message
        return ""

    with ThreadPoolExecutor(8) as pool:
        said = sorted(pool.map(come, range(8)))
    assert said == ["", "", *["The tournament 'hall' is full: it takes 3 entrants."] * 6]
    assert len(names(hall)) == 3
    hall.enter("hall", names(hall)[0], BOT, 3)  # who is in is in
    hall.withdraw("hall", "bob", OPERATOR)
    hall.enter("hall", "late", BOT, 3)


def test_who_never_entered_cannot_be_withdrawn(hall: Ledger) -> None:
    assert refusal(lambda: hall.withdraw("hall", "ada", OPERATOR)).reason is Reason.BOT_UNKNOWN
    assert refusal(lambda: hall.withdraw("nowhere", "ada", OPERATOR)).reason is Reason.TOURNAMENT_UNKNOWN


@pytest.mark.parametrize("state", [state for state in TournamentState if state is not TournamentState.OPEN])
def test_only_open_ones_are_entered_and_left(ledger: Ledger, state: TournamentState) -> None:
    ledger.create_tournament("other", "", b"s", state=state, entrants=["bob"])
    for call in (
        lambda: ledger.enter("other", "ada", OPERATOR, 500),
        lambda: ledger.withdraw("other", "bob", OPERATOR),
    ):
        error = refusal(call)
        assert (error.reason, f"'other' is {state}" in error.message) == (Reason.STATE_CONFLICT, True)
    assert names(ledger, "other") == ["bob"]


def test_a_draft_is_replaced_as_a_whole_and_nothing_else_is(ledger: Ledger) -> None:
    ledger.create_tournament("new", "old", b"s", state=TournamentState.DRAFT, entrants=["ada", "bob"])
    ledger.replace_draft("new", "new", b"t", ["bob", "cy"])
    stored = ledger.tournament("new")
    assert (stored.spec_yaml, stored.secret, names(ledger, "new")) == ("new", b"t", ["bob", "cy"])
    ledger.transition("new", [TournamentState.DRAFT], TournamentState.OPEN)
    assert refusal(lambda: ledger.replace_draft("new", "newer", b"u", [])).reason is Reason.STATE_CONFLICT
    assert (ledger.tournament("new").spec_yaml, names(ledger, "new")) == ("new", ["bob", "cy"])


def test_a_start_settles_the_line_up_of_what_was_seen(hall: Ledger) -> None:
    seen = hall.tournament("hall")
    hall.enter("hall", "ada", BOT, 3)
    error = refusal(lambda: hall.start_tournament("hall", seen, ["bob"], "bots: [bob]"))
    assert (error.reason, "changed while it was being started" in error.message) == (Reason.STATE_CONFLICT, True)
    assert hall.tournament("hall") == seen
    hall.start_tournament("hall", seen, ["bob", "ada"], "bots: [ada, bob]")
    started = hall.tournament("hall")
    assert (started.state, started.spec_yaml, started.secret) == (TournamentState.RUNNING, "bots: [ada, bob]", b"s")
    assert refusal(lambda: hall.start_tournament("hall", seen, ["bob", "ada"], "")).reason is Reason.STATE_CONFLICT
