"""Answers from and to protobuf, in full and in the short forms of a decision; the phase that asks for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias, cast

from baohuang.cards.v1 import answer_pb2
from baohuang.match.v1 import match_service_pb2
from bots_sdk.convert.fields import cards_from_wire
from bots_sdk.errors import Malformed
from bots_sdk.rules.answers import Answer, Word
from bots_sdk.rules.phases import Phase

if TYPE_CHECKING:
    WireWord: TypeAlias = answer_pb2.Word.ValueType
    WirePhase: TypeAlias = match_service_pb2.Phase.ValueType

_WORDS: dict[int, Word] = {int(word): word for word in Word}
_BARE: dict[int, Answer] = {int(word): Answer(word) for word in Word}
_PLAY = Word.PLAY
_new_answer = tuple.__new__
_PHASES: dict[int, Phase] = {int(phase): phase for phase in Phase if phase < Phase.ENDED}


def phase_to_proto(phase: Phase) -> WirePhase:
    """The number on the wire of a phase in which a seat is asked."""
    return cast("WirePhase", int(phase))


def phase_from_proto(phase: int, field: str = "phase") -> Phase:
    """The phase of a number on the wire.

    Raises:
        Malformed: no such phase, or one in which nobody is asked.
    """
    known = _PHASES.get(phase)
    if known is None:
        raise Malformed(field, f"{phase} is no phase in which a seat is asked; there are 1 to {len(_PHASES)}")
    return known


def word_from_proto(word: int, field: str = "word") -> Word:
    """The word of a number on the wire.

    Raises:
        Malformed: no such word.
    """
    known = _WORDS.get(word)
    if known is None:
        raise Malformed(field, f"{word} is no word; docs/rules.md lists them")
    return known


def answer_to_proto(answer: Answer) -> answer_pb2.Answer:
    """The answer in full."""
    return answer_pb2.Answer(
        word=cast("WireWord", int(answer.word)), cards=answer.cards, amount=answer.amount, special=answer.special
    )


def answer_from_proto(message: answer_pb2.Answer, field: str = "answer") -> Answer:
    """The answer in full; cards are put in ascending order.

    Raises:
        Malformed: an unknown word, or a byte that is no card.
    """
    word = word_from_proto(message.word, f"{field}.word")
    return Answer(word, cards_from_wire(message.cards, f"{field}.cards"), message.amount, message.special)


def write_decision(answer: Answer, decision: match_service_pb2.Decision) -> None:
    """Put the answer into a decision, in the shortest form."""
    word, cards, amount, special = answer
    if amount or special or (cards and word is not _PLAY):
        full = decision.answer
        full.word = cast("WireWord", int(word))
        full.cards = cards
        full.amount = amount
        full.special = special
    elif cards:
        decision.cards = cards
    else:
        decision.word = cast("WireWord", int(word))


def decision_from_proto(
    decision: match_service_pb2.Decision, legal: Callable[[int], Sequence[Answer]] | None = None, seat: int = 0
) -> Answer:
    """The answer that a decision gives, whichever form it has.

    Args:
        decision: as it came in.
        legal: gives what was listed for a seat with the request, for an answer by index; None if nothing was.
        seat: whose decision it is.

    Raises:
        Malformed: no answer in it, an unknown word, a byte that is no card, an index out of range or without a list.
    """
    choice = decision.WhichOneof("choice")
    if choice == "cards":
        return _new_answer(Answer, (_PLAY, cards_from_wire(decision.cards, "decision.cards"), 0, False))
    if choice == "word":
        bare = _BARE.get(decision.word)
        if bare is None:
            raise Malformed("decision.word", f"{decision.word} is no word; docs/rules.md lists them")
        return bare
    if choice == "index":
        return _indexed(decision.index, None if legal is None else legal(seat))
    if choice == "answer":
        return answer_from_proto(decision.answer, "decision.answer")
    raise Malformed("decision.choice", "the decision has no answer: give cards, a word, an index or an answer in full")


def _indexed(index: int, legal: Sequence[Answer] | None) -> Answer:
    if legal is None:
        raise Malformed("decision.index", "no answers were listed; set list_legal in hello to answer by index")
    if index >= len(legal):
        raise Malformed("decision.index", f"{index} is out of range; {len(legal)} answers were listed, counted from 0")
    return legal[index]
