"""What everybody knows of a deal: one state, changed by public events only, the same on the server and in every bot.

Nothing hidden can get in here: the reducer sees no hand but its own arguments, the public events.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bots_sdk.rules.cards import SEATS, Card
from bots_sdk.rules.events import (
    DealEnded,
    DealStarted,
    DealVoided,
    Declaration,
    Event,
    Played,
    SoloKind,
)
from bots_sdk.rules.opening import OPENING, begin_tribute
from bots_sdk.rules.options import Options
from bots_sdk.rules.phases import Phase
from bots_sdk.rules.plays import Shape
from bots_sdk.rules.tricks import TRICKS, next_leader


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
        begin_tribute(self, Phase.PAY, event.tribute.pay if event.tribute else ())

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
        reduce = _REDUCERS.get(type(event))
        if reduce is not None:
            reduce(self, event)

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

    def next_leader(self) -> int:
        """Who leads when the play on the table stays unbeaten (rules 5.10)."""
        return next_leader(self)


_COPIED = tuple(name for name in PublicState.__slots__ if name not in ("sizes", "history"))


def _voided(public: PublicState, _: DealVoided) -> None:
    public.phase = Phase.VOIDED
    public.asked = ()


def _ended(public: PublicState, event: DealEnded) -> None:
    public.phase = Phase.ENDED
    public.asked = ()
    public.ended = event
    public.guard = event.guard
    public.solo = event.solo


_REDUCERS: dict[type, Callable[[PublicState, Any], None]] = {
    DealStarted: PublicState.begin,
    **OPENING,
    **TRICKS,
    DealVoided: _voided,
    DealEnded: _ended,
}
