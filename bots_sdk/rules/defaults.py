"""What a seat does when it does not answer (docs/rules.md, 8.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bots_sdk.rules.answers import ACCEPT, PASS, SILENT, STAY, Answer, Word
from bots_sdk.rules.cards import SPECIAL, STRENGTH_OF, Card
from bots_sdk.rules.errors import IllegalAnswer, Refusal
from bots_sdk.rules.hands import ONE, count_face
from bots_sdk.rules.legal import legal_answers
from bots_sdk.rules.options import FIRST_STRENGTH
from bots_sdk.rules.phases import Phase

if TYPE_CHECKING:
    from bots_sdk.rules.view import View


def default_answer(view: View) -> Answer:
    """See `View.default`."""
    if not view.asked:
        raise IllegalAnswer(Refusal.NOT_ASKED, f"seat {view.seat} is not asked now")
    phase = view.public.phase
    if phase is Phase.PLAY:
        return PASS if view.public.table is not None else _default_lead(view)
    if phase is Phase.WINDOW:
        return STAY
    if phase in (Phase.DECLARE, Phase.KICK):
        return SILENT
    legal = legal_answers(view)
    if phase is Phase.THRONE and legal != [ACCEPT]:
        return next(answer for answer in legal if answer.word is Word.PASS)
    if phase is Phase.CALL:
        return min(legal, key=_call_order)
    if phase is Phase.TAKE:
        # The highest; among equals the lowest suit.
        return min(legal, key=lambda answer: (-STRENGTH_OF[answer.cards[0]], answer.cards))
    return legal[0]


def _call_order(answer: Answer) -> tuple[int, bytes]:
    return answer.word, answer.cards


def _default_lead(view: View) -> Answer:
    """The lowest single card that may be led, the guard card only if no other of its strength is there; else all."""
    hand = view.hand
    hold_back = view.public.options.hold_back
    held_back = FIRST_STRENGTH[hold_back] if hold_back and len(hand) > 1 else -1
    holding = view.holding
    only_special = _only_special_face(view)

    def order(card: Card) -> tuple[int, bool, Card]:
        strength = SPECIAL if card in only_special else STRENGTH_OF[card]
        return strength, card == holding.guard_card and not holding.special, card

    singles = [card for card in dict.fromkeys(hand) if STRENGTH_OF[card] != held_back or card in only_special]
    if not singles:
        return Answer(Word.PLAY, hand)
    card = min(singles, key=order)
    return Answer(Word.PLAY, ONE[card], 0, view.is_emperor and card in only_special)


def _only_special_face(view: View) -> tuple[Card, ...]:
    """The cards that can be played as the special card only."""
    holding = view.holding
    face = view.public.called
    if not holding.special or face is None:
        return ()
    return (holding.guard_card,) if not view.is_emperor or count_face(view.hand, face) == 1 else ()
