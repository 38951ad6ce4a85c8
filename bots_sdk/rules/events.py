"""What happens in a deal, as the seats learn it.

Every event but `HandDealt` is public and the same for all five seats; `HandDealt` is each seat's own. A seat's view is
nothing but the fold of these events, on the server as in a bot (`public.py`, `view.py`). Order and number of the events
are the same for every seat.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from bots_sdk.rules.cards import Card


class SoloKind(IntEnum):
    """How an emperor came to play alone."""

    GRAB = 1
    BRIGHT = 2
    DARK = 3


class Declaration(IntEnum):
    """What the declare phase came to."""

    NONE = 1
    REVEAL = 2
    REBELLION = 3


class Tribute(NamedTuple):
    """Who owes how many cards, and who picks how many, in order: pairs of seat and number of cards."""

    pay: tuple[tuple[int, int], ...]
    take: tuple[tuple[int, int], ...]


class DealStarted(NamedTuple):
    """Cards are dealt. `sizes` are the five hand sizes, `holder` the seat dealt the emperor card."""

    number: int
    dealer: int
    holder: int
    sizes: tuple[int, ...]
    tribute: Tribute | None


class HandDealt(NamedTuple):
    """The seat's own hand: card codes in ascending order. Each seat gets only its own."""

    cards: bytes


class Paid(NamedTuple):
    """A seat put one tribute card into the pool."""

    seat: int
    card: Card


class Took(NamedTuple):
    """A seat took one card from the pool."""

    seat: int
    card: Card


class WindowClosed(NamedTuple):
    """All have answered in the solo window; `seat` is the solo emperor, or None when all stayed."""

    seat: int | None
    kind: SoloKind | None


class ThronePassed(NamedTuple):
    """A seat passed the emperor card on, with the sticker it pasted, if any."""

    seat: int
    sticker: Card | None


class ThroneAccepted(NamedTuple):
    """A seat became emperor."""

    seat: int


class Called(NamedTuple):
    """The emperor named the guard card, openly alone (`bright`) or not. A dark solo looks like any call.

    `face` is None where no face is named (marked joker as guard, or a plain bright).
    """

    seat: int
    face: Card | None
    bright: bool


class Declared(NamedTuple):
    """The declare phase is over.

    After a reveal or a rebellion `guard` is the guard, or None if the emperor is alone.
    """

    outcome: Declaration
    guard: int | None


class KickClosed(NamedTuple):
    """The kick phase is over."""

    kicked: bool


class StakesSet(NamedTuple):
    """The multiplier of each seat."""

    stakes: tuple[int, ...]


class Played(NamedTuple):
    """A seat put down a play; `cards` are card codes in ascending order.

    `special` is true if a card of the called face in it is played as the special card.
    """

    seat: int
    cards: bytes
    special: bool


class Passed(NamedTuple):
    """A seat let the play stand."""

    seat: int


class Yielded(NamedTuple):
    """A seat put its answer off to the second circle."""

    seat: int


class WindClaimed(NamedTuple):
    """A seat passed and claimed the lead after a last play."""

    seat: int


class RoleShown(NamedTuple):
    """A play showed who the guard is; `guard` None: that the emperor is alone."""

    guard: int | None


class TrickEnded(NamedTuple):
    """Nobody beat the last play; `leader` leads next, with the wind if the owner is out."""

    leader: int


class DealVoided(NamedTuple):
    """Ten passes: the deal is void, the next shuffle follows."""


class DealEnded(NamedTuple):
    """The deal is over and everything is shown.

    `places` are the seats in the order of going out; `points` are by seat; `hands` are the cards left, by seat;
    `tribute` is what the next deal of the match owes, None without tribute; `beans` are won or lost by seat, None
    without beans.
    """

    places: tuple[int, ...]
    points: tuple[int, ...]
    emperor: int
    guard: int | None
    solo: SoloKind | None
    hands: tuple[bytes, ...]
    tribute: Tribute | None
    beans: tuple[int, ...] | None = None


Event = (
    DealStarted
    | HandDealt
    | Paid
    | Took
    | WindowClosed
    | ThronePassed
    | ThroneAccepted
    | Called
    | Declared
    | KickClosed
    | StakesSet
    | Played
    | Passed
    | Yielded
    | WindClaimed
    | RoleShown
    | TrickEnded
    | DealVoided
    | DealEnded
)
