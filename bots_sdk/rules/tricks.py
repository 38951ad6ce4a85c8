"""How the play changes what everybody knows: plays, passes, circles, the wind (docs/rules.md, part 5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bots_sdk.rules.cards import GUARD_JOKER, SEATS
from bots_sdk.rules.events import Passed, Played, RoleShown, SoloKind, TrickEnded, WindClaimed, Yielded
from bots_sdk.rules.hands import count_face
from bots_sdk.rules.options import GuardBy
from bots_sdk.rules.plays import Shape, shape_of, shape_with_special
from bots_sdk.rules.seats import NEXT_SEAT, ONLY

if TYPE_CHECKING:
    from bots_sdk.rules.public import PublicState


_MARKED_JOKER = GuardBy.MARKED_JOKER


def put_down(public: PublicState, event: Played, shape: Shape | None = None) -> None:
    """A play lies on the table; `shape` is its shape where it is known already, as with the one who has checked it."""
    seat, cards, special = event
    called = public.called
    if called is not None:
        if special:
            public.special_played = True
        if seat == public.emperor:
            public.called_by_emperor += count_face(cards, called)
    if shape is None:
        shape = shape_with_special(cards, called) if special and called is not None else shape_of(cards)
    public.table = shape
    public.table_cards = cards
    public.owner = seat
    public.history.append(event)
    public.second_circle = False
    public.yielded = public.claims = 0
    sizes = public.sizes
    sizes[seat] -= len(cards)
    if not sizes[seat]:
        public.out += (seat,)
    locked = public.locked
    after = NEXT_SEAT[seat]
    while after != seat and (not sizes[after] or locked >> after & 1):
        after = NEXT_SEAT[after]
    public.asked = ONLY[after] if after != seat else ()


def let_pass(public: PublicState, event: Passed) -> None:
    """A seat passes."""
    if public.options.pass_locks_trick:
        public.locked |= 1 << event.seat
    _ask_after(public, event.seat)


def let_yield(public: PublicState, event: Yielded) -> None:
    """A seat yields to those after it, and may be asked again."""
    public.yielded |= 1 << event.seat
    _ask_after(public, event.seat)


def claim_wind(public: PublicState, event: WindClaimed) -> None:
    """A seat passes and wants to lead next."""
    public.claims |= 1 << event.seat
    if public.options.pass_locks_trick:
        public.locked |= 1 << event.seat
    _ask_after(public, event.seat)


def _ask_after(public: PublicState, seat: int) -> None:
    """Ask the next seat of the circle, or begin the second; if nobody is left, the trick is over (rules 5.9)."""
    owner = public.owner
    if owner < 0:  # nobody can pass on nothing; the circles below would have no end
        raise ValueError("nothing is on the table")
    sizes = public.sizes
    if not public.second_circle:
        locked = public.locked
        seat = NEXT_SEAT[seat]
        while seat != owner:
            if sizes[seat] and not locked >> seat & 1:
                public.asked = ONLY[seat]
                return
            seat = NEXT_SEAT[seat]
        if not public.yielded:
            public.asked = ()
            return
        public.second_circle = True
    seat = NEXT_SEAT[seat]
    while seat != owner:
        if public.yielded >> seat & 1:
            public.asked = ONLY[seat]
            return
        seat = NEXT_SEAT[seat]
    public.asked = ()


def next_leader(public: PublicState) -> int:
    """Who leads when the play on the table stays unbeaten (rules 5.10)."""
    owner = public.owner
    if public.sizes[owner]:
        return owner
    order = [(owner + step) % SEATS for step in range(1, SEATS)]
    claimed = [seat for seat in order if public.claims >> seat & 1]
    return (claimed or [seat for seat in order if public.sizes[seat]])[0]


def _role_shown(public: PublicState, event: RoleShown) -> None:
    public.guard = event.guard
    if event.guard is None:
        public.solo = SoloKind.DARK


def _trick_ended(public: PublicState, event: TrickEnded) -> None:
    public.table = None
    public.table_cards = b""
    public.owner = -1
    public.leader = event.leader
    public.second_circle = False
    public.yielded = public.claims = public.locked = 0
    public.trick_start = len(public.history)
    public.asked = ONLY[event.leader]


def shows_guard(public: PublicState, event: Played) -> bool:
    """True if a play, already applied, shows who the guard is and that was not public before (rules 5.12).

    Everybody can work it out: a seat other than the emperor played the guard card; or the emperor played it, or the
    fourth card of the called face, and so is alone.
    """
    if public.guard is not None or public.solo is not None:
        return False
    if public.options.guard_by is _MARKED_JOKER:
        return GUARD_JOKER in event.cards
    called = public.called
    if called is None:
        return False
    if event.seat == public.emperor:
        return event.special or public.called_by_emperor == 4
    return count_face(event.cards, called) > 0


TRICKS: dict[type, Callable[[PublicState, Any], None]] = {
    Played: put_down,
    Passed: let_pass,
    Yielded: let_yield,
    WindClaimed: claim_wind,
    RoleShown: _role_shown,
    TrickEnded: _trick_ended,
}
