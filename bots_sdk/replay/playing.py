"""Plays a record again, answer by answer; what the rules do not allow is named."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from baohuang.record.v1 import record_pb2 as pb
from bots_sdk.convert import answer_from_proto, options_from_proto
from bots_sdk.errors import Malformed
from bots_sdk.replay.builder import Cause
from bots_sdk.replay.errors import RecordError
from bots_sdk.replay.versions import SUITED_FORMAT, printable, verify_versions
from bots_sdk.rules.answers import Answer
from bots_sdk.rules.cards import SEATS
from bots_sdk.rules.deal import Deal
from bots_sdk.rules.errors import IllegalAnswer, Refusal
from bots_sdk.rules.events import Event
from bots_sdk.rules.match import Match
from bots_sdk.rules.notation import format_answer
from bots_sdk.rules.options import Options
from bots_sdk.rules.phases import Phase
from bots_sdk.rules.shuffle import MOST_SUITS, decks_of

_CAUSES: dict[int, Cause] = {int(cause): cause for cause in Cause}


@dataclass(frozen=True, slots=True)
class Played:
    """One answer of a record, after it has taken effect.

    Attributes:
        step: its path in the record.
        decision: as recorded.
        seat: who answered.
        phase: what was asked.
        answer: in its normal form.
        cause: where the answer came from.
        default: the answer was the default of the rules there.
        events: what came of it.
    """

    step: str
    decision: pb.Decision
    seat: int
    phase: Phase
    answer: Answer
    cause: Cause
    default: bool
    events: list[Event]


class Replay:
    """A record being played again. `match` goes on with it; ask for one deal after the other.

    Raises:
        RecordNotSupported: another version made the record.
        RecordError: there are not five players, no deals, no such suits, or the options cannot be played.
    """

    def __init__(self, record: pb.MatchRecord) -> None:
        verify_versions(record)
        self.record = record
        self.names = tuple(printable(player.name) for player in record.players)
        if len(self.names) != SEATS:
            raise RecordError("players", f"a match has {SEATS} players, not {len(self.names)}")
        if not record.length:
            raise RecordError("length", "a match has at least one deal")
        _verify_suits(record)
        self.options = _options_of(record)
        self.match = Match(self.options, record.length, decks_of(self.options, record.secret, record.suits))

    def deals(self) -> Iterator[ReplayedDeal]:
        """The deals of the record in order; each must be played to its end before the next is asked for.

        Raises:
            RecordError: there are more or fewer deals than the match has.
        """
        match = self.match
        for index, recorded in enumerate(self.record.deals):
            if match.over:
                raise RecordError(f"deals[{index}]", f"the match was over after {match.deals} deals; this is one more")
            events = match.next_deal() if index else match.start()
            yield ReplayedDeal(f"deals[{index}]", recorded, match, events)
        if not match.over:
            raise RecordError(
                f"deals[{len(self.record.deals)}]",
                f"the record ends here; {len(match.results)} of {match.deals} deals are complete",
            )


class ReplayedDeal:
    """One deal of a record, dealt and ready to be played.

    Attributes:
        step: its path in the record.
        recorded: the record's part about it.
        deal: the deal itself, going on with `answers`.
        shuffle: the number of the shuffle it was dealt from.
        started: the first events.
    """

    def __init__(self, step: str, recorded: pb.Deal, match: Match, started: list[Event]) -> None:
        self.step = step
        self.recorded = recorded
        self.deal: Deal = match.deal
        self.shuffle = match.shuffle
        self.started = started
        self._match = match

    def answers(self) -> Iterator[Played]:
        """Every answer in order, each when it has taken effect.

        Raises:
            RecordError: an answer that the rules do not allow, or the answers stop before the deal is over.
        """
        for index, decision in enumerate(self.recorded.decisions):
            yield self._play(f"{self.step}.decisions[{index}]", decision)
        if self.deal.result is None:
            raise RecordError(
                f"{self.step}.decisions[{len(self.recorded.decisions)}]",
                f"the answers end here, and the deal is not over: asked are {_seats(self.deal.asked)}",
            )

    def _play(self, step: str, decision: pb.Decision) -> Played:
        deal, seat, phase = self.deal, decision.seat, self.deal.phase
        try:
            answer = answer_from_proto(decision.answer, "answer")
        except Malformed as wrong:
            raise RecordError(f"{step}.{wrong.field}", str(wrong).partition(": ")[2]) from wrong
        try:
            if seat not in deal.asked:
                raise IllegalAnswer(Refusal.NOT_ASKED, f"not asked; asked are {_seats(deal.asked)}")
            answer = deal.verify(seat, answer)
            default = answer == deal.default(seat)
            events = self._match.answer(seat, answer)
        except IllegalAnswer as refused:
            said = f"seat {seat}, {_shortened(format_answer(answer))!r} ({phase.name.lower()})"
            raise RecordError(step, f"{said}: {refused}") from refused
        if (cause := _CAUSES.get(decision.cause)) is None:
            raise RecordError(f"{step}.cause", f"{decision.cause} is no cause; there are 1 to {len(Cause)}")
        return Played(step, decision, seat, phase, answer, cause, default, events)


def _verify_suits(record: pb.MatchRecord) -> None:
    if record.format != SUITED_FORMAT:
        if record.suits:
            raise RecordError("suits", f"a record of format {record.format} has none, and this has {record.suits}")
    elif not 1 <= record.suits <= MOST_SUITS:
        raise RecordError("suits", f"in format {SUITED_FORMAT} they are 1 to {MOST_SUITS}, not {record.suits}")


def _options_of(record: pb.MatchRecord) -> Options:
    try:
        return options_from_proto(record.options)
    except Malformed as wrong:
        raise RecordError(wrong.field, str(wrong).partition(": ")[2]) from wrong


def _seats(seats: tuple[int, ...]) -> str:
    return f"seats {', '.join(map(str, seats))}" if seats else "no seats, the deal is over"


def _shortened(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:80]}…"
