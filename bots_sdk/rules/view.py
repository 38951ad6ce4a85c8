"""What one seat may know: the public state and its own hand. Everything a bot or a server needs is asked of a view."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bots_sdk.rules.answers import Answer
from bots_sdk.rules.cards import BIG_JOKER, EMPEROR_CARD, GUARD_JOKER, Card, format_cards
from bots_sdk.rules.defaults import default_answer
from bots_sdk.rules.events import (
    Called,
    DealEnded,
    DealStarted,
    DealVoided,
    Declared,
    Event,
    HandDealt,
    KickClosed,
    Paid,
    Played,
    SoloKind,
    StakesSet,
    ThronePassed,
    Took,
    Tribute,
    WindowClosed,
)
from bots_sdk.rules.hands import ONE, count_face, with_cards, without_cards
from bots_sdk.rules.legal import legal_answers, verify_answer
from bots_sdk.rules.options import GuardBy, Options
from bots_sdk.rules.phases import SEALED_PHASES, Phase
from bots_sdk.rules.plays import Holding, Shape
from bots_sdk.rules.public import PublicState
from bots_sdk.rules.seats import upper_seat
from bots_sdk.rules.shuffle import pack

_new_holding = tuple.__new__  # a third of the time of calling the class

_CALL = Phase.CALL
_MARKED_JOKER = GuardBy.MARKED_JOKER


class View:
    """One seat's knowledge, folded from the events it received.

    A bot makes one per match, `View(options, seat)`, and applies every event to it; a server takes one from
    `Deal.view(seat)`. Both give the same answers to every question. Treat it as read-only apart from `apply` and
    `note_answered`.

    >>> from bots_sdk.rules import HandDealt, View, format_answer, make_options, parse_hand
    >>> from bots_sdk.rules.events import DealStarted, WindowClosed
    >>> view = View(make_options("qingdao"), seat=2)
    >>> view.apply(DealStarted(number=0, dealer=0, holder=2, sizes=(1, 1, 5, 1, 1), tribute=None))
    >>> view.apply(HandDealt(parse_hand("9c 9c 9c 4d EJ")))
    >>> view.apply(WindowClosed(None, None))
    >>> view.asked, [format_answer(answer) for answer in view.legal()]
    (True, ['accept', 'pass'])

    Attributes:
        seat: whose view it is.
        public: what everybody knows.
        hand: the own cards, sorted. While the seat decides about the throne, the emperor card and the stickers are
            among them.
        answered: the seat has given its sealed answer and waits for the others.
    """

    __slots__ = ("answered", "dark", "hand", "public", "seat")

    def __init__(self, options: Options, seat: int, public: PublicState | None = None) -> None:
        self.seat = seat
        self.public = PublicState(options) if public is None else public
        self.hand = b""
        self.answered = False
        self.dark = False

    def copy(self, public: PublicState | None = None) -> View:
        """An independent copy; with `public` one that shares that public state instead of copying its own."""
        new = object.__new__(View)
        new.seat = self.seat
        new.public = self.public.copy() if public is None else public
        new.hand = self.hand
        new.answered = self.answered
        new.dark = self.dark
        return new

    # ------------------------------------------------------------------------------------------------------ answering

    @property
    def asked(self) -> bool:
        """This seat's answer is wanted now."""
        return self.seat in self.public.asked and not self.answered

    def legal(self) -> list[Answer]:
        """Every legal answer, in a stable order; empty if the seat is not asked (rules 8.1).

        Words come first. Of the plays there is one for each pattern, see `listing.leads` for their order: other cards
        of the same pattern (other suits) are just as legal.
        """
        return legal_answers(self)

    def verify(self, answer: Answer) -> Answer:
        """The answer in its normal form: cards sorted.

        Raises:
            IllegalAnswer: the rules do not allow it now; `refusal` and the message say why.
        """
        return verify_answer(self, answer)

    def default(self) -> Answer:
        """What the seat does when it does not answer (rules 8.3).

        Raises:
            IllegalAnswer: the seat is not asked.
        """
        return default_answer(self)

    # --------------------------------------------------------------------------------------------------------- events

    def apply(self, event: Event) -> None:
        """Take an event in: public ones, and the own `HandDealt`."""
        self.fold(event)
        self.public.apply(event)

    def fold(self, event: Event) -> None:
        """Take in what an event changes of the seat's own; to be called before the public state takes it in."""
        folder = _FOLDERS.get(type(event))
        if folder is not None:
            folder(self, event)

    def note_answered(self) -> None:
        """Remember that this seat has answered in a sealed phase: it is not asked twice."""
        if self.public.phase in SEALED_PHASES:
            self.answered = True

    def _deal_started(self, _: DealStarted) -> None:
        self.hand = b""
        self.answered = self.dark = False

    def _hand_dealt(self, event: HandDealt) -> None:
        self.hand = bytes(sorted(event.cards))

    def _paid(self, event: Paid) -> None:
        if event.seat == self.seat:
            self._lose(ONE[event.card])

    def _took(self, event: Took) -> None:
        if event.seat == self.seat:
            self.hand = with_cards(self.hand, ONE[event.card])

    def _window_closed(self, event: WindowClosed) -> None:
        self.answered = False
        if event.seat is not None and event.seat != self.public.holder:
            if self.seat == self.public.holder:
                self._lose(ONE[EMPEROR_CARD])
            elif self.seat == event.seat:
                self.hand = with_cards(self.hand, ONE[EMPEROR_CARD])

    def _throne_passed(self, event: ThronePassed) -> None:
        sticker = b"" if event.sticker is None else ONE[event.sticker]
        travelling = self.public.stickers + sticker + ONE[EMPEROR_CARD]
        if event.seat == self.seat:
            self._lose(travelling)
        elif upper_seat(event.seat) == self.seat:
            self.hand = with_cards(self.hand, travelling)

    def _called(self, event: Called) -> None:
        if event.seat == self.seat and not event.bright:
            if event.face is None:
                self.dark = GUARD_JOKER in self.hand
            else:
                self.dark = count_face(self.hand, event.face) == 4

    def _closed(self, _: object) -> None:
        self.answered = False

    def _played(self, event: Played) -> None:
        if event.seat == self.seat:
            self._lose(event.cards)

    def _lose(self, cards: bytes) -> None:
        left = without_cards(self.hand, cards)
        assert left is not None, "events and hand do not fit together"
        self.hand = left

    # ---------------------------------------------------------------------------------------------------------- roles

    @property
    def is_emperor(self) -> bool:
        """This seat is the emperor."""
        return self.public.emperor == self.seat

    @property
    def is_guard(self) -> bool:
        """This seat is the guard, known to the others or not."""
        public = self.public
        if public.guard is not None or public.emperor == self.seat:
            return public.guard == self.seat
        return self.guard_card >= 0

    @property
    def is_alone(self) -> bool:
        """This seat is an emperor who plays alone, known to the others or not."""
        return self.is_emperor and (self.dark or self.public.solo is not None)

    @property
    def guard(self) -> int | None:
        """The seat of the guard as far as this seat knows it: what is public, or because it is the guard itself."""
        return self.seat if self.is_guard else self.public.guard

    @property
    def guard_card(self) -> Card:
        """The card in this hand that is the guard card, or -1 (rules 4.12).

        For a solo emperor who called a face that is the special card, if there is one and he has not played it.
        """
        public = self.public
        if public.phase <= _CALL:
            return -1
        if public.options.guard_by is _MARKED_JOKER:
            return GUARD_JOKER if public.has_guard_card and GUARD_JOKER in self.hand else -1
        face = public.called
        if face is None or (self.is_emperor and not self._has_special):
            return -1
        if face in self.hand:
            return face
        return EMPEROR_CARD if face == BIG_JOKER and EMPEROR_CARD in self.hand else -1

    @property
    def _has_special(self) -> bool:
        public = self.public
        return public.options.special_card and self.is_alone and not public.special_played

    @property
    def holding(self) -> Holding:
        """The hand as the plays see it."""
        guard_card = self.guard_card
        return _new_holding(Holding, (self.hand, guard_card, guard_card >= 0 and self.public.options.special_card))

    def on_my_side(self, seat: int) -> bool | None:
        """Whether a seat is on this seat's side; None if this seat cannot know, or there are no sides yet."""
        public = self.public
        if public.emperor is None:
            return None
        if seat == self.seat:
            return True
        if self.is_emperor:
            return False if self.is_alone else None if public.guard is None else seat == public.guard
        if self.is_guard:
            return seat == public.emperor
        if seat == public.emperor:
            return False
        if public.solo is not None:
            return True
        return None if public.guard is None else seat != public.guard

    # ----------------------------------------------------------------------------------------- the table, for reading

    @property
    def options(self) -> Options:
        """The rules of the match."""
        return self.public.options

    @property
    def phase(self) -> Phase:
        """What is going on."""
        return self.public.phase

    @property
    def to_act(self) -> int:
        """The one seat that is asked, or -1 if none or several are."""
        return self.public.to_act

    @property
    def sizes(self) -> tuple[int, ...]:
        """The five hand sizes."""
        return tuple(self.public.sizes)

    @property
    def emperor(self) -> int | None:
        """The emperor's seat, once there is one."""
        return self.public.emperor

    @property
    def called(self) -> Card | None:
        """The called face, if one was named."""
        return self.public.called

    @property
    def solo(self) -> SoloKind | None:
        """How the emperor plays alone, if that is public or this seat is he."""
        return SoloKind.DARK if self.dark else self.public.solo

    @property
    def table(self) -> Shape | None:
        """The shape of the play to beat; None when a lead is wanted."""
        return self.public.table

    @property
    def table_cards(self) -> bytes:
        """The cards of the play to beat."""
        return self.public.table_cards

    @property
    def owner(self) -> int:
        """The seat whose play is on the table, or -1."""
        return self.public.owner

    @property
    def leader(self) -> int:
        """The seat that led this trick or is to lead it."""
        return self.public.leader

    @property
    def is_leading(self) -> bool:
        """A lead is wanted: there is nothing on the table."""
        return self.public.is_leading

    @property
    def plays(self) -> list[Played]:
        """The plays of the present trick, in order."""
        return self.public.trick

    @property
    def history(self) -> list[Played]:
        """All plays of the deal, in order."""
        return self.public.history

    @property
    def out(self) -> tuple[int, ...]:
        """The seats that have gone out, in order."""
        return self.public.out

    @property
    def stakes(self) -> tuple[int, ...]:
        """The multipliers by seat."""
        return self.public.stakes

    @property
    def ended(self) -> DealEnded | None:
        """How the deal ended, once it is over and not void."""
        return self.public.ended

    @property
    def tribute(self) -> Tribute | None:
        """What was owed for this deal."""
        return self.public.tribute

    @property
    def unseen(self) -> bytes:
        """The cards neither in this hand nor played yet, sorted: what the others hold (and the tribute pool)."""
        left = pack(self.options)
        for play in self.public.history:
            left = without_cards(left, play.cards) or b""
        return without_cards(left, self.hand) or b""

    def __repr__(self) -> str:
        """Seat, phase and hand, for the eye."""
        return f"<View seat {self.seat}, {self.phase.name}, {format_cards(self.hand)}>"


_FOLDERS: dict[type, Callable[[View, Any], None]] = {
    DealStarted: View._deal_started,
    HandDealt: View._hand_dealt,
    Paid: View._paid,
    Took: View._took,
    WindowClosed: View._window_closed,
    ThronePassed: View._throne_passed,
    Called: View._called,
    Declared: View._closed,
    KickClosed: View._closed,
    StakesSet: View._closed,
    Played: View._played,
    DealEnded: View._closed,
    DealVoided: View._closed,
}
