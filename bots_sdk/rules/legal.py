"""Which answers a seat may give, and why others are refused: a function of its view alone (docs/rules.md, part 8)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from bots_sdk.rules.answers import ACCEPT, KICK, PASS, REBEL, REVEAL, SILENT, SOLO, STAY, WIND, YIELD, Answer, Word
from bots_sdk.rules.cards import EMPEROR_CARD, SMALL_JOKER, format_cards
from bots_sdk.rules.errors import IllegalAnswer, Refusal
from bots_sdk.rules.hands import ONE, count_face, face_counts, highest_payable, without_cards
from bots_sdk.rules.listing import follows, leads
from bots_sdk.rules.notation import format_answer
from bots_sdk.rules.opening import PASSES_OF_LAP
from bots_sdk.rules.options import FIRST_STRENGTH, Force, Grab, GuardBy, Sticker, Wind
from bots_sdk.rules.phases import Phase
from bots_sdk.rules.plays import Shape, beats, shape_of, shape_with_special, size_of

if TYPE_CHECKING:
    from bots_sdk.rules.view import View


# To look a member up costs as much as two calls of C, and every answer is checked.
_IN_PLAY = Phase.PLAY
_PLAY = Word.PLAY
_CLAIM = Wind.CLAIM
_new_answer = tuple.__new__
_new_play = tuple.__new__


def legal_answers(view: View) -> list[Answer]:
    """See `View.legal`."""
    return _LISTS[view.public.phase](view) if view.asked else []


class Play(NamedTuple):
    """A play that the rules allow, and what comes of it.

    Attributes:
        cards: sorted.
        special: the special card is among them.
        shape: what is to be beaten now.
        rest: what is left of the hand.
    """

    cards: bytes
    special: bool
    shape: Shape
    rest: bytes


def verify_answer(view: View, answer: Answer) -> Answer:
    """See `View.verify`."""
    public = view.public
    if view.answered or view.seat not in public.asked:
        _refuse_unasked(view)
    if public.phase is _IN_PLAY:
        if answer.word is not _PLAY:
            return _verify_word(view, answer)
        play = verify_play(view, answer)
        return _new_answer(Answer, (_PLAY, play.cards, 0, play.special and view.is_emperor))
    legal = legal_answers(view)
    if answer not in legal:
        _refuse(view, answer, legal)
    return legal[legal.index(answer)]


def verify_play(view: View, answer: Answer) -> Play:
    """What an answer with the word `play` puts down, in the play phase.

    Raises:
        IllegalAnswer: the rules do not allow it now.
    """
    public = view.public
    if view.seat not in public.asked:
        _refuse_unasked(view)
    cards = answer.cards
    if len(cards) != 1:
        cards = bytes(sorted(cards))
    if not cards:
        raise IllegalAnswer(Refusal.NO_PLAY, "a play has at least one card")
    rest = without_cards(view.hand, cards)
    if rest is None:
        raise IllegalAnswer(Refusal.NOT_HELD, "the seat does not hold all these cards")
    options = public.options
    special = options.special_card and plays_special(view, answer)
    if answer.amount:
        raise IllegalAnswer(Refusal.WRONG_AMOUNT, "a play has no amount")
    if answer.special and not special:
        raise IllegalAnswer(Refusal.WRONG_CARD, "there is no special card in this play")
    shape = shape_with_special(cards, public.called) if special and public.called is not None else shape_of(cards)
    if shape is None:
        raise IllegalAnswer(Refusal.NO_PLAY, f"{format_cards(cards)}: a play has cards of one rank, jokers, or both")
    if rest and options.hold_back and shape.rank == FIRST_STRENGTH[options.hold_back]:
        rank = options.hold_back
        raise IllegalAnswer(Refusal.HELD_BACK, f"the {rank} is held back: it may only be played with the whole hand")
    if public.table is not None and not beats(options, public.table, shape):
        _refuse_follow(view, public.table, shape)
    return _new_play(Play, (cards, special, shape, rest))


def _refuse_unasked(view: View) -> NoReturn:
    raise IllegalAnswer(Refusal.NOT_ASKED, f"seat {view.seat} is not asked now")


# ---------------------------------------------------------------------------------------------- before the first lead


def _pay(view: View) -> list[Answer]:
    return [Answer(Word.PAY, ONE[card]) for card in highest_payable(view.hand)]


def _take(view: View) -> list[Answer]:
    return [Answer(Word.TAKE, ONE[card]) for card in dict.fromkeys(view.public.pool)]


def _window(view: View) -> list[Answer]:
    options = view.public.options
    if options.grab is Grab.QUAD:
        counts = face_counts(view.hand, options.call_jokers)
        return [STAY, SOLO] if any(count == 4 for _, count in counts) else [STAY]
    return [STAY, SOLO]


def _throne(view: View) -> list[Answer]:
    can, must = _throne_rights(view)
    if must:
        return [ACCEPT]
    return [ACCEPT, *_passes(view)] if can else _passes(view)


def _throne_rights(view: View) -> tuple[bool, bool]:
    """Whether the seat can accept, and whether it must (rules 4.3, 4.5)."""
    options = view.public.options
    second_lap = view.public.passes >= PASSES_OF_LAP
    if options.guard_by is GuardBy.MARKED_JOKER:
        return True, second_lap
    counts = [count for _, count in face_counts(view.hand, options.call_jokers)]
    most = max(counts, default=0)
    if options.force is Force.EXACT_TRIPLE:
        forced = 3 in counts
    else:
        forced = most >= 3 and (options.force is Force.TRIPLE or most < 4)
    return most >= 3, second_lap and forced


def _passes(view: View) -> list[Answer]:
    options = view.public.options
    if options.sticker is Sticker.NONE or view.public.passes + 1 < options.sticker_from:
        return [PASS]
    # What travels with the emperor card is not the seat's own to paste (rules 4.4).
    own = without_cards(view.hand, view.public.stickers + ONE[EMPEROR_CARD]) or b""
    if options.sticker is not Sticker.HIGHEST:
        own = own[: len(own) - sum(card >= SMALL_JOKER for card in own)]
    return [Answer(Word.PASS, ONE[card]) for card in highest_payable(own)] or [PASS]


def _call(view: View) -> list[Answer]:
    options = view.public.options
    bright = [] if options.bright_needs_quad else [Answer(Word.BRIGHT)]
    if options.guard_by is GuardBy.MARKED_JOKER:
        return [Answer(Word.DARK if holds_guard_joker(view) else Word.CALL), *bright]
    answers = []
    for face, count in face_counts(view.hand, options.call_jokers):
        if count == 3:
            answers.append(Answer(Word.CALL, ONE[face]))
        elif count == 4:
            answers.append(Answer(Word.DARK, ONE[face]))
            if options.bright_needs_quad:
                answers.append(Answer(Word.BRIGHT, ONE[face]))
    return answers + bright


def holds_guard_joker(view: View) -> bool:
    """The seat holds the marked small joker."""
    return 54 in view.hand


def _declare(view: View) -> list[Answer]:
    options = view.public.options
    if view.guard_card >= 0:
        return [SILENT, REVEAL] if options.reveal else [SILENT]
    return [SILENT, REBEL] if options.rebellion else [SILENT]


def _kick(_: View) -> list[Answer]:
    return [SILENT, KICK]


def _stake(view: View) -> list[Answer]:
    return [Answer(Word.STAKE, b"", stake) for stake in view.public.options.stakes]


def _nothing(_: View) -> list[Answer]:
    return []


_WRONG_THING = {
    Word.PAY: Refusal.WRONG_CARD,
    Word.TAKE: Refusal.WRONG_CARD,
    Word.PASS: Refusal.WRONG_CARD,
    Word.CALL: Refusal.WRONG_FACE,
    Word.DARK: Refusal.WRONG_FACE,
    Word.BRIGHT: Refusal.WRONG_FACE,
    Word.STAKE: Refusal.WRONG_AMOUNT,
}


def _refuse(view: View, answer: Answer, legal: list[Answer]) -> NoReturn:
    """Say why an answer before the first lead is refused."""
    allowed = ", ".join(format_answer(one) for one in legal)
    if answer.word in {one.word for one in legal}:
        refusal = _WRONG_THING.get(answer.word, Refusal.WRONG_CARD)
    elif view.public.phase is Phase.THRONE and answer.word is Word.PASS:
        refusal = Refusal.MUST_ACCEPT
    else:
        refusal = Refusal.WRONG_WORD
    raise IllegalAnswer(refusal, f"{view.public.phase.name.lower()}: allowed now are {allowed}")


# --------------------------------------------------------------------------------------------------------------- play


_PASS_ONLY = (PASS,)
_WORDS = {
    # give_way, and the wind can be claimed
    (False, False): _PASS_ONLY,
    (True, False): (PASS, YIELD),
    (False, True): (PASS, WIND),
    (True, True): (PASS, YIELD, WIND),
}


def _words(view: View) -> tuple[Answer, ...]:
    """The answers to a play that are no plays (rules 5.9, 5.10)."""
    public = view.public
    if public.table is None:
        return ()
    if public.second_circle:
        return _PASS_ONLY
    options = public.options
    return _WORDS[options.give_way, options.wind is _CLAIM and not public.sizes[public.owner]]


def _list_plays(view: View) -> list[Answer]:
    table = view.public.table
    options = view.public.options
    holding = view.holding
    plays, special = leads(options, holding) if table is None else follows(options, holding, table)
    answers = list(_words(view))
    if plays:  # all in C: this makes up to some hundred answers
        answers += map(_new_answer, repeat(Answer), zip(repeat(Word.PLAY), plays, repeat(0), repeat(False)))
    if special:
        # Only a solo emperor has a choice to state; for a guard its card is the special card and nothing else.
        stated = view.is_emperor
        answers += map(_new_answer, repeat(Answer), zip(repeat(Word.PLAY), special, repeat(0), repeat(stated)))
    return answers


def _verify_word(view: View, answer: Answer) -> Answer:
    if answer == PASS and view.public.table is not None:
        return PASS  # three answers of four, and always among the words
    words = _words(view)
    for legal in words:
        if legal == answer:
            return legal
    word = answer.word
    if not words and word in (Word.PASS, Word.YIELD, Word.WIND):
        raise IllegalAnswer(Refusal.MUST_LEAD, "there is nothing on the table: the seat must lead")
    if any(one.word is word for one in words):
        raise IllegalAnswer(Refusal.WRONG_CARD, f"{word.name.lower()} takes nothing with it")
    allowed = ", ".join(["play", *(format_answer(one) for one in words)])
    raise IllegalAnswer(Refusal.WRONG_WORD, f"play: allowed now are {allowed}")


def _refuse_follow(view: View, table: Shape, shape: Shape) -> NoReturn:
    on_table = format_cards(view.public.table_cards)
    if size_of(shape) != size_of(table):
        raise IllegalAnswer(
            Refusal.WRONG_COUNT, f"{on_table} is on the table: {size_of(table)} cards are wanted, not {size_of(shape)}"
        )
    raise IllegalAnswer(
        Refusal.TOO_WEAK, f"{on_table} is on the table: every card must be stronger than its counterpart"
    )


def plays_special(view: View, answer: Answer) -> bool:
    """Whether a play (of cards held) has the special card in it (rules 5.8)."""
    holding = view.holding
    face = view.public.called
    if not holding.special or face is None:
        return False
    copies = count_face(answer.cards, face)
    if view.is_emperor:
        # He says which way; only when he puts down all he has of the face there is but one way.
        return copies > 0 and (answer.special or copies == count_face(view.hand, face))
    return copies > 0


_LISTS: dict[Phase, Callable[[View], list[Answer]]] = {
    Phase.PAY: _pay,
    Phase.TAKE: _take,
    Phase.WINDOW: _window,
    Phase.THRONE: _throne,
    Phase.CALL: _call,
    Phase.DECLARE: _declare,
    Phase.KICK: _kick,
    Phase.STAKE: _stake,
    Phase.PLAY: _list_plays,
    Phase.ENDED: _nothing,
    Phase.VOIDED: _nothing,
}
