"""The table of verbs and states, written down here a second time, on purpose."""

from __future__ import annotations

import pytest

from services.common.errors import PlatformError, Reason
from services.ledger.values import TournamentState
from services.tournament.servicer.verbs import ALLOWED, SO_ALREADY, Verb, allowed_in, verify_allowed

EXPECTED = """
            draft  open  running  draining  paused  finished  cancelled
edit        yes    -     -        -         -       -         -
open        yes    same  -        -         -       -         -
enter       -      yes   -        -         -       -         -
withdraw    -      yes   -        -         -       -         -
start       yes    yes   same     -         -       -         -
pause       -      -     yes      same      same    -         -
resume      -      -     same     yes       yes     -         -
cancel      yes    yes   yes      yes       yes     -         same
exclude     -      -     yes      yes       yes     yes       yes
requeue     -      -     yes      yes       yes     -         -
in-flight   yes    yes   yes      yes       yes     -         -
"""


def rows() -> list[tuple[Verb, TournamentState, str]]:
    head, *lines = EXPECTED.strip().splitlines()
    states = [TournamentState(word) for word in head.split()]
    return [
        (Verb(verb), state, answer)
        for verb, *answers in map(str.split, lines)
        for state, answer in zip(states, answers, strict=True)
    ]


def test_the_table_is_whole() -> None:
    assert {(verb, state) for verb, state, _ in rows()} == {(verb, state) for verb in Verb for state in TournamentState}
    assert set(ALLOWED) == set(Verb)


@pytest.mark.parametrize(("verb", "state", "answer"), rows())
def test_each_verb_in_each_state(verb: Verb, state: TournamentState, answer: str) -> None:
    assert (state in SO_ALREADY.get(verb, ())) == (answer == "same")
    if answer != "-":
        verify_allowed("cup", state, verb)
        return
    with pytest.raises(PlatformError) as caught:
        verify_allowed("cup", state, verb)
    error = caught.value
    assert error.reason is Reason.STATE_CONFLICT
    assert error.message.startswith(f"The tournament 'cup' is {state}, it cannot be {verb.done}")
    allowed = [other for other, at, answer in rows() if at is state and answer == "yes"]
    assert allowed
    assert error.message.endswith(f"Allowed are: {', '.join(allowed)}.")
    assert error.metadata == {"tournament": "cup", "state": state, "verb": verb, "allowed": ", ".join(allowed)}
    assert list(allowed_in(state)) == allowed


def test_who_comes_too_late_or_too_early_is_told_what_there_is_instead() -> None:
    for verb, state, said in (
        (Verb.WITHDRAW, TournamentState.RUNNING, "an operator can exclude a bot that is not to play on"),
        (Verb.ENTER, TournamentState.PAUSED, "who plays was settled when it was started"),
        (Verb.EXCLUDE, TournamentState.OPEN, "a bot that has entered is withdrawn"),
    ):
        with pytest.raises(PlatformError, match=said):
            verify_allowed("cup", state, verb)
