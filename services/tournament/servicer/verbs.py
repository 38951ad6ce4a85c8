"""Which verb is allowed in which state of a tournament: the one table. Pure.

draft ──> open ──> running <──> draining ──> paused ──> running
  └────────┴─ start ──^             any of them ──> cancelled, and what is played to its end is finished
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from services.common.errors import PlatformError, Reason
from services.ledger.values import TournamentState

_S = TournamentState
_UNSTARTED = frozenset({_S.DRAFT, _S.OPEN})
_GOING = frozenset({_S.RUNNING, _S.DRAINING, _S.PAUSED})


class Verb(StrEnum):
    """What is done with a tournament; the labels are those of the command line."""

    EDIT = "edit"
    OPEN = "open"
    ENTER = "enter"
    WITHDRAW = "withdraw"
    START = "start"
    PAUSE = "pause"
    RESUME = "resume"
    CANCEL = "cancel"
    EXCLUDE = "exclude"
    REQUEUE = "requeue"
    IN_FLIGHT = "in-flight"

    @property
    def done(self) -> str:
        """What it cannot be where the verb is refused, as in `it cannot be paused`."""
        return _DONE[self]


ALLOWED: Mapping[Verb, frozenset[TournamentState]] = {
    Verb.EDIT: frozenset({_S.DRAFT}),
    Verb.OPEN: _UNSTARTED,
    Verb.ENTER: frozenset({_S.OPEN}),
    Verb.WITHDRAW: frozenset({_S.OPEN}),
    Verb.START: _UNSTARTED | {_S.RUNNING},
    Verb.PAUSE: _GOING,
    Verb.RESUME: _GOING,
    Verb.CANCEL: _UNSTARTED | _GOING | {_S.CANCELLED},
    Verb.EXCLUDE: _GOING | {_S.FINISHED, _S.CANCELLED},
    Verb.REQUEUE: _GOING,
    Verb.IN_FLIGHT: _UNSTARTED | _GOING,
}

SO_ALREADY: Mapping[Verb, frozenset[TournamentState]] = {
    Verb.OPEN: frozenset({_S.OPEN}),
    Verb.START: frozenset({_S.RUNNING}),
    Verb.PAUSE: frozenset({_S.DRAINING, _S.PAUSED}),
    Verb.RESUME: frozenset({_S.RUNNING}),
    Verb.CANCEL: frozenset({_S.CANCELLED}),
}
"""Where a verb that is allowed changes nothing, as it is so already: who did not hear the answer may ask again."""

_DONE = {
    Verb.EDIT: "changed",
    Verb.OPEN: "opened",
    Verb.ENTER: "entered",
    Verb.WITHDRAW: "left",
    Verb.START: "started",
    Verb.PAUSE: "paused",
    Verb.RESUME: "resumed",
    Verb.CANCEL: "cancelled",
    Verb.EXCLUDE: "played without a bot",
    Verb.REQUEUE: "played again in parts",
    Verb.IN_FLIGHT: "played faster or slower",
}

_INSTEAD = {
    (Verb.WITHDRAW, True): "an operator can exclude a bot that is not to play on, and says what becomes of its results",
    (Verb.ENTER, True): "who plays was settled when it was started",
    (Verb.EXCLUDE, False): "a bot that has entered is withdrawn",
}
"""What is the case instead, by the verb and whether the tournament has begun."""


def allowed_in(state: TournamentState) -> tuple[Verb, ...]:
    """The verbs that change something about a tournament in a state, in the order of its life."""
    return tuple(verb for verb in Verb if state in ALLOWED[verb] - SO_ALREADY.get(verb, frozenset()))


def verify_allowed(name: str, state: TournamentState, verb: Verb) -> None:
    """Raises PlatformError STATE_CONFLICT, which says where the tournament stands and what it takes there."""
    if state in ALLOWED[verb]:
        return
    verbs = ", ".join(allowed_in(state))
    instead = _INSTEAD.get((verb, state.has_begun), "")
    raise PlatformError(
        Reason.STATE_CONFLICT,
        f"The tournament {name!r} is {state}, it cannot be {verb.done}{': ' if instead else ''}{instead}. "
        f"Allowed are: {verbs}.",
        tournament=name,
        state=state,
        verb=verb,
        allowed=verbs,
    )
