"""What everybody knows of a deal: one state, changed by public events only, the same on the server and in every bot.

Nothing hidden can get in here: the reducer sees no hand but its own arguments, the public events.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bots_sdk.rules.cards import BIG_JOKER, EMPEROR_CARD, FACE_OF, GUARD_JOKER, SEATS, Card
from bots_sdk.rules.events import (
    Called,
    DealEnded,
    DealStarted,
    DealVoided,
    Declaration,
    Declared,
    Event,
    HandDealt,
    KickClosed,
    Paid,
    Passed,
    Played,
    RoleShown,
    SoloKind,
    StakesSet,
    ThroneAccepted,
    ThronePassed,
    Took,
    TrickEnded,
    WindClaimed,
    WindowClosed,
    Yielded,
)
from bots_sdk.rules.hands import sorted_cards
from bots_sdk.rules.options import Grab, GuardBy, Options
from bots_sdk.rules.phases import Phase
from bots_sdk.rules.plays import Shape, shape_of, shape_with_special

ALL_SEATS = tuple(range(SEATS))
_ALONE: tuple[tuple[int, ...], ...] = tuple((seat,) for seat in range(SEATS))
_NEXT = (1, 2, 3, 4, 0)
PASSES_OF_LAP = SEATS
PASSES_TO_VOID = 2 * SEATS


class PublicState:
    """What all five seats know of the deal they are in. Read it; only `apply` changes it.

    Attributes:
        options: the rules of the match.
        number: the deal of the match, from 0.
        dealer: the seat that was dealt the first card.
        holder: the seat that was dealt the emperor card.
        phase: what is going on.
        asked: the seats whose answer is wanted now, in seat order; in a sealed phase all of them until it closes.
        sizes: the five hand sizes.
        tribute: what was owed for this deal, if anything.
        pool: the tribute cards nobody has taken yet, sorted.
        passes: how often the emperor card was passed on.
        stickers: the cards that travel with the emperor card, sorted. In the end the emperor keeps them.
        emperor: the seat of the emperor, once there is one.
        called: the called face; None before the call and where none was named.
        solo: how the emperor plays alone, if that is public (a dark solo once it has shown).
        guard: the guard, if that is public.
        declaration: what the declare phase came to.
        kicked: there was a kick.
        stakes: the multipliers by seat.
        table: the shape of the play to beat; None when a lead is wanted.
        table_cards: its cards.
        owner: the seat that put it down, -1 before the first lead.
        leader: the seat that led the trick, or leads it.
        second_circle: the seats that yielded are being asked again.
        yielded: bit mask of the seats that have yielded to this play.
        claims: bit mask of the seats that claim the wind.
        locked: bit mask of the seats that have passed in this trick, with `pass_locks_trick`.
        history: every play of the deal in order.
        trick_start: where in `history` the present trick begins.
        out: the seats that have gone out, in order.
        special_played: the special card has been played.
        ended: the result, once the deal is over.
    """

    __slots__ = (
        "asked",
        "called",
        "called_by_emperor",
        "claims",
        "dealer",
        "declaration",
        "due",
        "emperor",
        "ended",
        "guard",
        "history",
        "holder",
        "kicked",
        "leader",
        "locked",
        "number",
        "options",
        "out",
        "owner",
        "passes",
        "phase",
        "pool",
        "second_circle",
        "sizes",
        "solo",
        "special_played",
        "stakes",
        "stickers",
        "table",
        "table_cards",
        "tribute",
        "trick_start",
        "yielded",
    )

    asked: tuple[int, ...]
    due: tuple[int, ...]

    def __init__(self, options: Options) -> None:
        self.options = options
        self.begin(DealStarted(0, 0, 0, (0,) * SEATS, None))
        self.phase = Phase.VOIDED
        self.asked = ()

    def begin(self, event: DealStarted) -> None:
        """Forget the deal before and begin this one."""
        self.number = event.number
        self.dealer = event.dealer
        self.holder = event.holder
        self.sizes = list(event.sizes)
        self.tribute = event.tribute
        self.pool = b""
        self.passes = 0
        self.stickers = b""
        self.emperor: int | None = None
        self.called: Card | None = None
        self.called_by_emperor = 0
        self.solo: SoloKind | None = None
        self.guard: int | None = None
        self.declaration = Declaration.NONE
        self.kicked = False
        self.stakes: tuple[int, ...] = (self.options.stakes[0],) * SEATS
        self.table: Shape | None = None
        self.table_cards = b""
        self.owner = -1
        self.leader = -1
        self.second_circle = False
        self.yielded = 0
        self.claims = 0
        self.locked = 0
        self.history: list[Played] = []
        self.trick_start = 0
        self.out: tuple[int, ...] = ()
        self.special_played = False
        self.ended: DealEnded | None = None
        self.due = ()
        self.phase = Phase.PAY
        self.asked = ()
        pay = event.tribute.pay if event.tribute else ()
        self._begin_tribute(Phase.PAY, pay)

    def copy(self) -> PublicState:
        """An independent copy."""
        new = object.__new__(PublicState)
        for name in _COPIED:
            setattr(new, name, getattr(self, name))
        new.sizes = self.sizes[:]
        new.history = self.history[:]
        return new

    def apply(self, event: Event) -> None:
        """Take a public event in. `HandDealt` is nobody else's business and is ignored."""
        _REDUCERS[type(event)](self, event)

    @property
    def to_act(self) -> int:
        """The one seat that is asked, or -1 if none or several are."""
        return self.asked[0] if len(self.asked) == 1 else -1

    @property
    def is_over(self) -> bool:
        """The deal has ended or is void."""
        return self.phase >= Phase.ENDED

    @property
    def is_leading(self) -> bool:
        """A lead is wanted: there is nothing on the table."""
        return self.phase is Phase.PLAY and self.table is None

    @property
    def trick(self) -> list[Played]:
        """The plays of the present trick, in order."""
        return self.history[self.trick_start :]

    @property
    def is_alone_public(self) -> bool:
        """Everybody knows that the emperor plays alone."""
        return self.solo is not None

    @property
    def has_guard_card(self) -> bool:
        """There is a guard card in this deal: it was called, and not openly alone (rules 4.12)."""
        return self.phase > Phase.CALL and self.solo is not SoloKind.GRAB and self.solo is not SoloKind.BRIGHT

    # ------------------------------------------------------------------------------------------ before the first lead

    def _begin_tribute(self, phase: Phase, shares: tuple[tuple[int, int], ...]) -> None:
        self.due = tuple(seat for seat, cards in shares for _ in range(cards))
        self.phase = phase
        if self.due:
            self.asked = _ALONE[self.due[0]]
        elif phase is Phase.PAY:
            self._begin_window()

    def _paid(self, event: Paid) -> None:
        self.sizes[event.seat] -= 1
        self.pool = sorted_cards((*self.pool, event.card))
        self.due = self.due[1:]
        if self.due:
            self.asked = _ALONE[self.due[0]]
        elif self.tribute is not None:
            self._begin_tribute(Phase.TAKE, self.tribute.take)

    def _took(self, event: Took) -> None:
        self.sizes[event.seat] += 1
        self.pool = self.pool.replace(bytes((event.card,)), b"", 1)
        self.due = self.due[1:]
        if self.due:
            self.asked = _ALONE[self.due[0]]
        else:
            self._begin_window()

    def _begin_window(self) -> None:
        if self.options.grab is Grab.NONE:
            self._begin_throne()
            return
        self.phase = Phase.WINDOW
        self.asked = tuple(seat for seat in ALL_SEATS if self.options.holder_preempts or seat != self.holder)

    def _window_closed(self, event: WindowClosed) -> None:
        if event.seat is None:
            self._begin_throne()
            return
        self.sizes[self.holder] -= 1
        self.sizes[event.seat] += 1
        self.emperor = event.seat
        self.solo = event.kind
        self._begin_stakes()

    def _begin_throne(self) -> None:
        self.phase = Phase.THRONE
        self.asked = _ALONE[self.holder]

    def _throne_passed(self, event: ThronePassed) -> None:
        upper = upper_seat(event.seat)
        travelling = 1 + len(self.stickers)
        if event.sticker is not None:
            self.stickers = sorted_cards((*self.stickers, event.sticker))
            travelling += 1
        self.sizes[event.seat] -= travelling
        self.sizes[upper] += travelling
        self.passes += 1
        self.asked = _ALONE[upper] if self.passes < PASSES_TO_VOID else ()

    def _throne_accepted(self, event: ThroneAccepted) -> None:
        self.emperor = event.seat
        self.phase = Phase.CALL
        self.asked = _ALONE[event.seat]

    def _called(self, event: Called) -> None:
        self.called = event.face
        if event.bright:
            self.solo = SoloKind.BRIGHT
            self._begin_stakes()
        elif self.options.reveal or self.options.rebellion:
            self.phase = Phase.DECLARE
            self.asked = tuple(seat for seat in ALL_SEATS if seat != self.emperor)
        else:
            self._begin_stakes()

    def _declared(self, event: Declared) -> None:
        self.declaration = event.outcome
        if event.outcome is Declaration.NONE:
            self._begin_stakes()
            return
        self.guard = event.guard
        if event.guard is None:
            self.solo = SoloKind.DARK
        if not self.options.kick:
            self._begin_stakes()
            return
        court = (self.emperor, event.guard)
        reveal = event.outcome is Declaration.REVEAL
        self.phase = Phase.KICK
        self.asked = tuple(seat for seat in ALL_SEATS if (seat in court) is not reveal)

    def _kick_closed(self, event: KickClosed) -> None:
        self.kicked = event.kicked
        self._begin_stakes()

    def _begin_stakes(self) -> None:
        if len(self.options.stakes) > 1:
            self.phase = Phase.STAKE
            self.asked = ALL_SEATS
        else:
            self._begin_play()

    def _stakes_set(self, event: StakesSet) -> None:
        self.stakes = event.stakes
        self._begin_play()

    def _begin_play(self) -> None:
        assert self.emperor is not None
        self.phase = Phase.PLAY
        self.leader = self.emperor
        self.asked = _ALONE[self.emperor]

    # --------------------------------------------------------------------------------------------------------- tricks

    def _played(self, event: Played) -> None:
        seat, cards, special = event
        if special and self.called is not None:
            self.table = shape_with_special(cards, self.called)
            self.special_played = True
        else:
            self.table = shape_of(cards)
        if self.called is not None and seat == self.emperor:
            self.called_by_emperor += count_face(cards, self.called)
        self.table_cards = cards
        self.owner = seat
        self.history.append(event)
        self.second_circle = False
        self.yielded = self.claims = 0
        sizes = self.sizes
        sizes[seat] -= len(cards)
        if not sizes[seat]:
            self.out += (seat,)
        locked = self.locked
        after = _NEXT[seat]
        while after != seat and (not sizes[after] or locked >> after & 1):
            after = _NEXT[after]
        self.asked = _ALONE[after] if after != seat else ()

    def _passed(self, event: Passed) -> None:
        if self.options.pass_locks_trick:
            self.locked |= 1 << event.seat
        self._ask_after(event.seat)

    def _yielded(self, event: Yielded) -> None:
        self.yielded |= 1 << event.seat
        self._ask_after(event.seat)

    def _wind_claimed(self, event: WindClaimed) -> None:
        self.claims |= 1 << event.seat
        if self.options.pass_locks_trick:
            self.locked |= 1 << event.seat
        self._ask_after(event.seat)

    def _ask_after(self, seat: int) -> None:
        """Ask the next seat of the circle, or begin the second; if nobody is left, the trick is over (rules 5.9)."""
        owner = self.owner
        sizes = self.sizes
        if not self.second_circle:
            locked = self.locked
            seat = _NEXT[seat]
            while seat != owner:
                if sizes[seat] and not locked >> seat & 1:
                    self.asked = _ALONE[seat]
                    return
                seat = _NEXT[seat]
            if not self.yielded:
                self.asked = ()
                return
            self.second_circle = True
        seat = _NEXT[seat]
        while seat != owner:
            if self.yielded >> seat & 1:
                self.asked = _ALONE[seat]
                return
            seat = _NEXT[seat]
        self.asked = ()

    def next_leader(self) -> int:
        """Who leads when the play on the table stays unbeaten (rules 5.10)."""
        owner = self.owner
        if self.sizes[owner]:
            return owner
        order = [(owner + step) % SEATS for step in range(1, SEATS)]
        claimed = [seat for seat in order if self.claims >> seat & 1]
        return (claimed or [seat for seat in order if self.sizes[seat]])[0]

    def _role_shown(self, event: RoleShown) -> None:
        self.guard = event.guard
        if event.guard is None:
            self.solo = SoloKind.DARK

    def _trick_ended(self, event: TrickEnded) -> None:
        self.table = None
        self.table_cards = b""
        self.owner = -1
        self.leader = event.leader
        self.second_circle = False
        self.yielded = self.claims = self.locked = 0
        self.trick_start = len(self.history)
        self.asked = _ALONE[event.leader]

    # ------------------------------------------------------------------------------------------------------------ end

    def _voided(self, _: DealVoided) -> None:
        self.phase = Phase.VOIDED
        self.asked = ()

    def _ended(self, event: DealEnded) -> None:
        self.phase = Phase.ENDED
        self.asked = ()
        self.ended = event
        self.guard = event.guard
        self.solo = event.solo

    def _ignore(self, _: HandDealt) -> None:
        """A hand is no public matter."""


def upper_seat(seat: int) -> int:
    """The seat before, to which the emperor card is passed (上家)."""
    return (seat - 1) % SEATS


def count_face(cards: bytes, face: Card) -> int:
    """How many cards of a face, marked ones included."""
    if face == BIG_JOKER:
        return cards.count(BIG_JOKER) + cards.count(EMPEROR_CARD)
    return cards.count(face) + (cards.count(GUARD_JOKER) if face == FACE_OF[GUARD_JOKER] else 0)


def shows_guard(public: PublicState, event: Played) -> bool:
    """True if a play, already applied, shows who the guard is and that was not public before (rules 5.12).

    Everybody can work it out: a seat other than the emperor played the guard card; or the emperor played it, or the
    fourth card of the called face, and so is alone.
    """
    if public.guard is not None or public.solo is not None:
        return False
    if public.options.guard_by is GuardBy.MARKED_JOKER:
        return GUARD_JOKER in event.cards
    called = public.called
    if called is None:
        return False
    if event.seat == public.emperor:
        return event.special or public.called_by_emperor == 4
    return count_face(event.cards, called) > 0


_COPIED = tuple(name for name in PublicState.__slots__ if name not in ("sizes", "history"))

_REDUCERS: dict[type, Callable[[PublicState, Any], None]] = {
    DealStarted: PublicState.begin,
    HandDealt: PublicState._ignore,
    Paid: PublicState._paid,
    Took: PublicState._took,
    WindowClosed: PublicState._window_closed,
    ThronePassed: PublicState._throne_passed,
    ThroneAccepted: PublicState._throne_accepted,
    Called: PublicState._called,
    Declared: PublicState._declared,
    KickClosed: PublicState._kick_closed,
    StakesSet: PublicState._stakes_set,
    Played: PublicState._played,
    Passed: PublicState._passed,
    Yielded: PublicState._yielded,
    WindClaimed: PublicState._wind_claimed,
    RoleShown: PublicState._role_shown,
    TrickEnded: PublicState._trick_ended,
    DealVoided: PublicState._voided,
    DealEnded: PublicState._ended,
}
