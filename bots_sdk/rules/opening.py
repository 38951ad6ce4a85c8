"""How the phases before the first lead change what everybody knows (docs/rules.md, part 4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bots_sdk.rules.cards import SEATS
from bots_sdk.rules.events import (
    Called,
    Declaration,
    Declared,
    KickClosed,
    Paid,
    SoloKind,
    StakesSet,
    ThroneAccepted,
    ThronePassed,
    Took,
    WindowClosed,
)
from bots_sdk.rules.hands import ONE, sorted_cards
from bots_sdk.rules.options import Grab
from bots_sdk.rules.phases import Phase
from bots_sdk.rules.seats import ALL_SEATS, ONLY, upper_seat

if TYPE_CHECKING:
    from bots_sdk.rules.public import PublicState

PASSES_OF_LAP = SEATS
PASSES_TO_VOID = 2 * SEATS


def begin_tribute(public: PublicState, phase: Phase, shares: tuple[tuple[int, int], ...]) -> None:
    """Ask for tribute, or go on if none is owed."""
    public.due = tuple(seat for seat, cards in shares for _ in range(cards))
    public.phase = phase
    if public.due:
        public.asked = ONLY[public.due[0]]
    elif phase is Phase.PAY:
        _begin_window(public)


def _paid(public: PublicState, event: Paid) -> None:
    public.sizes[event.seat] -= 1
    public.pool = sorted_cards((*public.pool, event.card))
    public.due = public.due[1:]
    if public.due:
        public.asked = ONLY[public.due[0]]
    elif public.tribute is not None:
        begin_tribute(public, Phase.TAKE, public.tribute.take)


def _took(public: PublicState, event: Took) -> None:
    public.sizes[event.seat] += 1
    public.pool = public.pool.replace(ONE[event.card], b"", 1)
    public.due = public.due[1:]
    if public.due:
        public.asked = ONLY[public.due[0]]
    else:
        _begin_window(public)


def _begin_window(public: PublicState) -> None:
    if public.options.grab is Grab.NONE:
        _begin_throne(public)
        return
    public.phase = Phase.WINDOW
    public.asked = tuple(seat for seat in ALL_SEATS if public.options.holder_preempts or seat != public.holder)


def _window_closed(public: PublicState, event: WindowClosed) -> None:
    if event.seat is None:
        _begin_throne(public)
        return
    public.sizes[public.holder] -= 1
    public.sizes[event.seat] += 1
    public.emperor = event.seat
    public.solo = event.kind
    _begin_stakes(public)


def _begin_throne(public: PublicState) -> None:
    public.phase = Phase.THRONE
    public.asked = ONLY[public.holder]


def _throne_passed(public: PublicState, event: ThronePassed) -> None:
    upper = upper_seat(event.seat)
    travelling = 1 + len(public.stickers)
    if event.sticker is not None:
        public.stickers = sorted_cards((*public.stickers, event.sticker))
        travelling += 1
    public.sizes[event.seat] -= travelling
    public.sizes[upper] += travelling
    public.passes += 1
    public.asked = ONLY[upper] if public.passes < PASSES_TO_VOID else ()


def _throne_accepted(public: PublicState, event: ThroneAccepted) -> None:
    public.emperor = event.seat
    public.phase = Phase.CALL
    public.asked = ONLY[event.seat]


def _called(public: PublicState, event: Called) -> None:
    public.called = event.face
    if event.bright:
        public.solo = SoloKind.BRIGHT
        _begin_stakes(public)
    elif public.options.reveal or public.options.rebellion:
        public.phase = Phase.DECLARE
        public.asked = tuple(seat for seat in ALL_SEATS if seat != public.emperor)
    else:
        _begin_stakes(public)


def _declared(public: PublicState, event: Declared) -> None:
    public.declaration = event.outcome
    if event.outcome is Declaration.NONE:
        _begin_stakes(public)
        return
    public.guard = event.guard
    if event.guard is None:
        public.solo = SoloKind.DARK
    if not public.options.kick:
        _begin_stakes(public)
        return
    court = (public.emperor, event.guard)
    reveal = event.outcome is Declaration.REVEAL
    public.phase = Phase.KICK
    public.asked = tuple(seat for seat in ALL_SEATS if (seat in court) is not reveal)


def _kick_closed(public: PublicState, event: KickClosed) -> None:
    public.kicked = event.kicked
    _begin_stakes(public)


def _begin_stakes(public: PublicState) -> None:
    if len(public.options.stakes) > 1:
        public.phase = Phase.STAKE
        public.asked = ALL_SEATS
    else:
        _begin_play(public)


def _stakes_set(public: PublicState, event: StakesSet) -> None:
    public.stakes = event.stakes
    _begin_play(public)


def _begin_play(public: PublicState) -> None:
    assert public.emperor is not None
    public.phase = Phase.PLAY
    public.leader = public.emperor
    # In a written deal with few cards a seat may have passed on or paid its last (rules 10.5).
    from_emperor = ((public.emperor + step) % SEATS for step in ALL_SEATS)
    public.out = tuple(seat for seat in from_emperor if not public.sizes[seat])
    public.asked = ONLY[public.emperor]


OPENING: dict[type, Callable[[PublicState, Any], None]] = {
    Paid: _paid,
    Took: _took,
    WindowClosed: _window_closed,
    ThronePassed: _throne_passed,
    ThroneAccepted: _throne_accepted,
    Called: _called,
    Declared: _declared,
    KickClosed: _kick_closed,
    StakesSet: _stakes_set,
}
