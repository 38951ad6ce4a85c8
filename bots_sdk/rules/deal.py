"""One deal in full, with all five hands: the authority. Only a server, a local arena or a searching bot holds one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bots_sdk.rules.answers import Answer, Word
from bots_sdk.rules.beans import settle
from bots_sdk.rules.cards import EMPEROR_CARD, GUARD_JOKER, SEATS
from bots_sdk.rules.dealt import verify_dealt
from bots_sdk.rules.errors import IllegalAnswer, Refusal
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
    Tribute,
    TrickEnded,
    WindClaimed,
    WindowClosed,
    Yielded,
)
from bots_sdk.rules.hands import count_face
from bots_sdk.rules.legal import Play, verify_answer, verify_play
from bots_sdk.rules.opening import PASSES_TO_VOID
from bots_sdk.rules.options import End, Grab, Options
from bots_sdk.rules.phases import SEALED_PHASES, Phase
from bots_sdk.rules.public import PublicState
from bots_sdk.rules.result import DealResult
from bots_sdk.rules.scoring import Standing, points_of
from bots_sdk.rules.seats import ALL_SEATS
from bots_sdk.rules.tribute import cards_of, tribute_of
from bots_sdk.rules.tricks import claim_wind, let_pass, let_yield, put_down, shows_guard
from bots_sdk.rules.view import View

_IN_PLAY = Phase.PLAY
_PLAY = Word.PLAY
_new_played = tuple.__new__

# One of each for all deals: they are most of what happens.
_PASSED = tuple(map(Passed, range(SEATS)))
_YIELDED = tuple(map(Yielded, range(SEATS)))
_WIND_CLAIMED = tuple(map(WindClaimed, range(SEATS)))
_TRICK_ENDED = tuple(map(TrickEnded, range(SEATS)))

REBEL_CALLS_WANTED = 2
REBEL_KICKS_WANTED = 2


class Deal:
    """A deal from the dealt hands to its result.

    >>> from bots_sdk.rules import make_options, parse_answer, parse_hand
    >>> hands = [parse_hand(hand) for hand in ("3d 9c 9c 9c EJ", "6d 9c", "5d 8d", "5h 8h", "5s SJ")]
    >>> deal, events = Deal.start(make_options("qingdao", {"grab": "none"}), 0, 0, hands, None)
    >>> for said in ("accept", "call 9c"):
    ...     events += deal.answer(0, parse_answer(said))
    >>> deal.asked, deal.view(1).is_guard, deal.view(2).guard
    ((1, 2, 3, 4), True, None)

    Attributes:
        public: what everybody knows.
        result: how the deal came out, once it is over.
    """

    __slots__ = ("_guard", "_sealed", "_views", "public", "result")

    def __init__(self, options: Options) -> None:
        self.public = PublicState(options)
        self._views = tuple(View(options, seat, self.public) for seat in range(SEATS))
        self._sealed: dict[int, Answer] = {}
        self._guard: int | None = None
        self.result: DealResult | None = None

    @classmethod
    def start(
        cls, options: Options, number: int, dealer: int, hands: Sequence[bytes], tribute: Tribute | None
    ) -> tuple[Deal, list[Event]]:
        """A deal with these hands, and its first public events.

        After the first event, `DealStarted`, each seat is to be told its own `HandDealt(deal.hand(seat))`.

        Args:
            options: the rules.
            number: the deal of the match, from 0.
            dealer: the seat dealt the first card.
            hands: card codes by seat.
            tribute: what the deal before has made owed, if anything.

        Raises:
            DealError: there are not five hands with one emperor card, or the deal could not be played.
        """
        verify_dealt(options, hands, tribute)
        deal = cls(options)
        holder = next(seat for seat, hand in enumerate(hands) if EMPEROR_CARD in hand)
        event = DealStarted(number, dealer, holder, tuple(len(hand) for hand in hands), tribute)
        deal._publish([], event)
        for view, hand in zip(deal._views, hands, strict=True):
            view.fold(HandDealt(bytes(sorted(hand))))
        return deal, [event]

    def copy(self) -> Deal:
        """An independent copy, cheap enough for search."""
        new = object.__new__(Deal)
        public = self.public.copy()
        new.public = public
        new._views = tuple([view.copy(public) for view in self._views])
        new._sealed = dict(self._sealed) if self._sealed else {}
        new._guard = self._guard
        new.result = self.result
        return new

    # ------------------------------------------------------------------------------------------------------ questions

    @property
    def options(self) -> Options:
        """The rules."""
        return self.public.options

    @property
    def phase(self) -> Phase:
        """What is going on."""
        return self.public.phase

    @property
    def is_over(self) -> bool:
        """The deal has a result (which may be that it is void)."""
        return self.result is not None

    @property
    def asked(self) -> tuple[int, ...]:
        """The seats whose answer is still awaited, in seat order."""
        if not self._sealed:
            return self.public.asked
        return tuple(seat for seat in self.public.asked if seat not in self._sealed)

    def hand(self, seat: int) -> bytes:
        """The hand of a seat, sorted."""
        return self._views[seat].hand

    @property
    def hidden_guard(self) -> int | None:
        """The guard, known or not; None while there is none and in a solo."""
        return self._guard

    def view(self, seat: int) -> View:
        """What a seat may know. It goes on with the deal; `copy()` it to keep it, and change nothing in it."""
        return self._views[seat]

    def legal(self, seat: int) -> list[Answer]:
        """See `View.legal`."""
        return self._views[seat].legal()

    def verify(self, seat: int, answer: Answer) -> Answer:
        """See `View.verify`."""
        return self._views[seat].verify(answer)

    def default(self, seat: int) -> Answer:
        """See `View.default`."""
        return self._views[seat].default()

    # -------------------------------------------------------------------------------------------------------- answers

    def answer(self, seat: int, answer: Answer) -> list[Event]:
        """Verify an answer and let it take effect.

        Returns:
            The new public events in order; none while a sealed phase waits for other seats.

        Raises:
            IllegalAnswer: the rules do not allow it; nothing has changed.
        """
        if seat not in ALL_SEATS:
            raise IllegalAnswer(Refusal.NOT_ASKED, f"there is no seat {seat}")
        phase = self.public.phase
        view = self._views[seat]
        events: list[Event] = []
        if phase is _IN_PLAY:
            if answer.word is _PLAY:
                self._play(seat, verify_play(view, answer), events)
            else:
                self._let_stand(seat, verify_answer(view, answer), events)
            return events
        answer = verify_answer(view, answer)
        if phase in SEALED_PHASES:
            self._sealed[seat] = answer
            view.answered = True
            if len(self._sealed) == len(self.public.asked):
                sealed, self._sealed = self._sealed, {}
                _CLOSERS[phase](self, sealed, events)
        else:
            _ANSWERED[answer.word](self, seat, answer, events)
        return events

    def _publish(self, events: list[Event], event: Event) -> None:
        for view in self._views:
            view.fold(event)
        self.public.apply(event)
        events.append(event)

    # ------------------------------------------------------------------------------------------ before the first lead

    def _pay(self, seat: int, answer: Answer, events: list[Event]) -> None:
        self._publish(events, Paid(seat, answer.cards[0]))

    def _take(self, seat: int, answer: Answer, events: list[Event]) -> None:
        self._publish(events, Took(seat, answer.cards[0]))

    def _close_window(self, sealed: dict[int, Answer], events: list[Event]) -> None:
        holder = self.public.holder
        # The holder first, then against the direction of play (rules 4.2).
        order = [(holder - step) % SEATS for step in range(SEATS)]
        claimants = [seat for seat in order if seat in sealed and sealed[seat].word is Word.SOLO]
        if not claimants:
            self._publish(events, WindowClosed(None, None))
            return
        seat = claimants[0]
        bright = seat == holder or self.options.grab is Grab.QUAD
        self._publish(events, WindowClosed(seat, SoloKind.BRIGHT if bright else SoloKind.GRAB))

    def _accept(self, seat: int, _: Answer, events: list[Event]) -> None:
        self._publish(events, ThroneAccepted(seat))

    def _pass(self, seat: int, answer: Answer, events: list[Event]) -> None:
        self._publish(events, ThronePassed(seat, answer.cards[0] if answer.cards else None))
        if self.public.passes == PASSES_TO_VOID:
            self._publish(events, DealVoided())
            self.result = DealResult.void(self.public)

    def _call(self, seat: int, answer: Answer, events: list[Event]) -> None:
        face = answer.cards[0] if answer.cards else None
        if answer.word is Word.CALL:
            self._guard = next(other for other in range(SEATS) if other != seat and self._holds_guard_card(other, face))
        self._publish(events, Called(seat, face, answer.word is Word.BRIGHT))

    def _holds_guard_card(self, seat: int, face: int | None) -> bool:
        hand = self.hand(seat)
        return GUARD_JOKER in hand if face is None else count_face(hand, face) > 0

    def _close_declare(self, sealed: dict[int, Answer], events: list[Event]) -> None:
        words = [answer.word for answer in sealed.values()]
        if Word.REVEAL in words:
            self._publish(events, Declared(Declaration.REVEAL, self._guard))
        elif words.count(Word.REBEL) >= REBEL_CALLS_WANTED:
            self._publish(events, Declared(Declaration.REBELLION, self._guard))
        else:
            self._publish(events, Declared(Declaration.NONE, None))

    def _close_kick(self, sealed: dict[int, Answer], events: list[Event]) -> None:
        kicks = sum(answer.word is Word.KICK for answer in sealed.values())
        wanted = REBEL_KICKS_WANTED if self.public.declaration is Declaration.REVEAL else 1
        self._publish(events, KickClosed(kicks >= wanted))

    def _close_stakes(self, sealed: dict[int, Answer], events: list[Event]) -> None:
        self._publish(events, StakesSet(tuple(sealed[seat].amount for seat in range(SEATS))))

    # ----------------------------------------------------------------------------------------------------------- play

    def _play(self, seat: int, play: Play, events: list[Event]) -> None:
        public = self.public
        cards, special, shape, rest = play
        # A guard's card is the special card without a word; the event says so to all.
        event: Played = _new_played(Played, (seat, cards, special))
        # The hot path: a play changes no hand but the one it came from, and what it is has been found out already.
        self._views[seat].hand = rest
        put_down(public, event, shape)
        events.append(event)
        if shows_guard(public, event):
            self._publish(events, RoleShown(None if seat == public.emperor else seat))
        if not public.sizes[seat] and self._has_ended():
            self._end(events)
        elif not public.asked:
            self._publish(events, _TRICK_ENDED[public.next_leader()])

    def _let_stand(self, seat: int, answer: Answer, events: list[Event]) -> None:
        public = self.public
        reduce, by_seat = _LET_STAND[answer.word]
        event = by_seat[seat]
        reduce(public, event)
        events.append(event)
        if not public.asked:
            ended = _TRICK_ENDED[public.next_leader()]
            public.apply(ended)
            events.append(ended)

    # ------------------------------------------------------------------------------------------------------------ end

    @property
    def _solo(self) -> SoloKind | None:
        emperor = self.public.emperor
        if emperor is not None and self._views[emperor].dark:
            return SoloKind.DARK
        return self.public.solo

    def _has_ended(self) -> bool:
        """Whether the deal is over now that a seat has gone out (rules 5.13)."""
        public = self.public
        out = public.out
        solo = self._solo
        if solo in (SoloKind.GRAB, SoloKind.BRIGHT) or len(out) >= SEATS - 1:
            return True
        if public.options.end is End.ONE_LEFT:
            return False
        # A dark solo ends by the ordinary rule, not as soon as anybody is out: his side is he himself.
        court = {public.emperor, self._guard} - {None}
        return court.issubset(out) or len(set(out) - court) == SEATS - len(court)

    def _end(self, events: list[Event]) -> None:
        public = self.public
        emperor = public.emperor
        assert emperor is not None
        left = [(emperor + step) % SEATS for step in range(SEATS)]
        left = sorted((seat for seat in left if public.sizes[seat]), key=public.sizes.__getitem__)
        standing = Standing((*public.out, *left), emperor, self._guard, self._solo, public.declaration, public.kicked)
        tribute = tribute_of(public.options, standing)
        points = points_of(public.options, standing)
        owed = tribute if public.options.tribute else None
        beans = None
        if public.options.beans:
            beans = settle(public.options, standing, public.options.room, public.stakes, cards_of(tribute))
        self.result = DealResult(
            number=public.number, dealer=public.dealer, voided=False, standing=standing, points=points,
            stakes=public.stakes, tribute=owed, beans=beans,
        )  # fmt: skip
        hands = tuple(view.hand for view in self._views)
        won = None if beans is None else beans.beans
        ended = DealEnded(standing.places, points, emperor, standing.guard, standing.solo, hands, owed, won)
        self._publish(events, ended)


_Closer = Callable[[Deal, dict[int, Answer], list[Event]], None]
_CLOSERS: dict[Phase, _Closer] = {
    Phase.WINDOW: Deal._close_window,
    Phase.DECLARE: Deal._close_declare,
    Phase.KICK: Deal._close_kick,
    Phase.STAKE: Deal._close_stakes,
}
_ANSWERED: dict[Word, Callable[[Deal, int, Answer, list[Event]], None]] = {
    Word.PAY: Deal._pay,
    Word.TAKE: Deal._take,
    Word.ACCEPT: Deal._accept,
    Word.PASS: Deal._pass,
    Word.CALL: Deal._call,
    Word.DARK: Deal._call,
    Word.BRIGHT: Deal._call,
}
"""What an answer before the first lead comes to."""
_LET_STAND: dict[Word, tuple[Callable[[PublicState, Any], None], tuple[Event, ...]]] = {
    Word.PASS: (let_pass, _PASSED),
    Word.YIELD: (let_yield, _YIELDED),
    Word.WIND: (claim_wind, _WIND_CLAIMED),
}
"""What an answer to a play comes to that is no play itself, with the event of each seat."""
