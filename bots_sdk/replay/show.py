"""Prints a record: who held what, what was said before the first lead, trick by trick, what it came to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from baohuang.record.v1 import record_pb2 as pb
from bots_sdk.replay.builder import Cause
from bots_sdk.replay.errors import RecordError
from bots_sdk.replay.playing import Played, Replay, ReplayedDeal
from bots_sdk.replay.versions import printable
from bots_sdk.rules.answers import Answer, Word
from bots_sdk.rules.beans import Beans
from bots_sdk.rules.cards import SEATS
from bots_sdk.rules.deal import Deal
from bots_sdk.rules.deal_notation import format_rules
from bots_sdk.rules.events import (
    Declaration,
    Declared,
    KickClosed,
    RoleShown,
    SoloKind,
    Tribute,
    TrickEnded,
    WindowClosed,
)
from bots_sdk.rules.events import (
    Played as CardsPlayed,
)
from bots_sdk.rules.notation import SPECIAL_MARK, format_answer, format_hand
from bots_sdk.rules.phases import Phase
from bots_sdk.rules.result import DealResult

WIDTH = 110
_MARGIN = 12
_TOLD = "→"
"""Stands before what all learn by an answer."""
_NOTES = {
    Cause.TIMED_OUT: "timed out",
    Cause.ILLEGAL: "illegal answers",
    Cause.FAILED: "the bot failed",
    Cause.TAKEN_OVER: "house bot",
}


def format_replay(record: pb.MatchRecord, deal: int | None = None) -> Iterator[str]:
    """The record as lines of text.

    Args:
        record: the record; its answers are checked on the way, nothing else is.
        deal: the one deal to show, by its number from 0 on; void dealings of it are shown too.

    Raises:
        RecordNotSupported: another version made it.
        RecordError: it does not hold together, or does not have the deal.
    """
    replay = Replay(record)
    if deal is not None and not 0 <= deal < record.length:
        raise RecordError(f"deal {deal}", f"the match has the deals 0 to {record.length - 1}")
    yield from _head(replay)
    for dealt in replay.deals():
        shown = deal is None or dealt.deal.public.number == deal
        if shown:
            yield ""
            yield from _start(dealt, replay.names)
        for line in _course(dealt):
            if shown:
                yield line
        if shown:
            yield from _result(dealt.deal.result)
    yield ""
    points = replay.match.points
    yield _line("points", [f"{seat} {name} {points[seat]:+d}" for seat, name in enumerate(replay.names)])


def _head(replay: Replay) -> Iterator[str]:
    record = replay.record
    where = f" of {printable(record.tournament)}, number {record.number}" if record.tournament else ""
    rules = format_rules(replay.options)
    suits = f", suits {record.suits}" if record.suits else ""
    yield f"Match {printable(record.match_id)}{where}: {_counted(record.length, 'deal')}{suits}, rules {rules}"


def _start(dealt: ReplayedDeal, names: Sequence[str]) -> Iterator[str]:
    public = dealt.deal.public
    yield (
        f"Deal {public.number}, shuffle {dealt.shuffle}: "
        f"seat {public.dealer} was dealt the first card, seat {public.holder} holds the emperor card"
    )
    width = max(map(len, names))
    for seat, name in enumerate(names):
        hand = dealt.deal.hand(seat)
        yield f"  {seat} {name:<{width}}  {format_hand(hand)}  ({len(hand)})"
    if public.tribute is not None:
        yield from _tribute("owed", public.tribute)


def _course(dealt: ReplayedDeal) -> Iterator[str]:
    """A line for each phase and each trick."""
    label, parts, trick = "", list[str](), 0
    for played in dealt.answers():
        now = "trick" if played.phase is Phase.PLAY else played.phase.name.lower()
        if now != label:
            if parts:
                yield _line(label, parts)
            label, parts = now, []
        parts.append(_said(played, dealt.deal))
        parts += _told(played)
        if any(isinstance(event, TrickEnded) for event in played.events):
            trick += 1
            yield _line(f"trick {trick}", parts)
            parts = []
    if parts:
        yield _line(f"trick {trick + 1}" if label == "trick" else label, parts)


def _said(played: Played, deal: Deal) -> str:
    text = f"{played.seat} {_short(played.answer)}"
    notes = []
    if (note := _NOTES.get(played.cause)) is not None:
        notes.append(note)
    if played.answer.word is Word.PLAY and not deal.public.sizes[played.seat]:
        notes.append("out")
    return f"{text} ({', '.join(notes)})" if notes else text


def _short(answer: Answer) -> str:
    if answer.word is not Word.PLAY:
        return format_answer(answer)
    return f"{SPECIAL_MARK} {format_hand(answer.cards)}" if answer.special else format_hand(answer.cards)


def _told(played: Played) -> Iterator[str]:
    """What all learn by it, and the answer alone does not say."""
    for event in played.events:
        match event:
            case WindowClosed(seat, kind) if seat is not None and kind is not None:
                yield f"{_TOLD} seat {seat} is emperor alone ({_solo(kind)})"
            case Declared(outcome, guard) if outcome is not Declaration.NONE:
                yield f"{_TOLD} {outcome.name.lower()}: {_guard(guard)}"
            case KickClosed(kicked):
                yield f"{_TOLD} kick" if kicked else f"{_TOLD} no kick"
            case RoleShown(guard):
                yield f"{_TOLD} {_guard(guard)}"
            case CardsPlayed(_, _, special) if special and not played.answer.special:
                yield f"{_TOLD} with the special card"
            case _:
                pass


def _result(result: DealResult | None) -> Iterator[str]:
    if result is None:
        return
    standing = result.standing
    if standing is None:
        yield _line("result", ["void: nobody became emperor"])
        return
    alone = f"alone ({_solo(standing.solo)})" if standing.solo else f"guard {standing.guard}"
    order = " ".join(map(str, standing.places))
    yield _line("result", [f"out in the order {order}", f"emperor {standing.emperor}", alone])
    yield _line("", [f"points {_by_seat(result.points)}", *_settled(result.beans, result.stakes)])
    if result.tribute is not None:
        yield from _tribute("next deal", result.tribute)


def _settled(beans: Beans | None, stakes: Sequence[int]) -> Iterator[str]:
    if set(stakes) != {1}:
        yield f"stakes {' '.join(map(str, stakes))}"
    if beans is not None:
        yield f"beans {_by_seat(beans.beans)}"


def _tribute(label: str, tribute: Tribute) -> Iterator[str]:
    parts = [f"{seat} pays {cards}" for seat, cards in tribute.pay]
    parts += [f"{seat} takes {cards}" for seat, cards in tribute.take]
    yield _line(label, parts or ["no tribute"])


def _line(label: str, parts: Sequence[str]) -> str:
    """The parts behind a label, in as many lines as it takes."""
    lines, line = list[str](), f"  {label:<{_MARGIN - 2}}"
    for number, part in enumerate(parts):
        between = " " if part.startswith(_TOLD) else " · "
        if number and len(line) + len(between) + len(part) > WIDTH:
            lines.append(line)
            line = " " * _MARGIN
        elif number:
            line += between
        line += part
    return "\n".join([*lines, line])


def _by_seat(numbers: Sequence[int]) -> str:
    assert len(numbers) == SEATS
    return " ".join(f"{number:+d}" if number else "0" for number in numbers)


def _solo(kind: SoloKind) -> str:
    return kind.name.lower()


def _guard(guard: int | None) -> str:
    return "the emperor is alone" if guard is None else f"seat {guard} is the guard"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
