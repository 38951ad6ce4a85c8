"""Writes the record of a match while it is played: two microseconds and some twenty bytes for each answer."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from importlib.metadata import version
from struct import Struct
from typing import TYPE_CHECKING, TypeAlias
from zlib import crc32

from google.protobuf.message import Message

from baohuang.cards.v1 import answer_pb2
from baohuang.match.v1 import match_service_pb2
from baohuang.record.v1 import record_pb2 as pb
from bots_sdk.convert import shared_options, write_tribute
from bots_sdk.convert.fields import MOST_CARDS
from bots_sdk.convert.varints import DELIMITED, delimited, field_number, number_tag, varint
from bots_sdk.replay.results import result_to_proto, write_totals
from bots_sdk.replay.versions import PLAIN_FORMAT, SUITED_FORMAT
from bots_sdk.rules.answers import Answer, Word
from bots_sdk.rules.cards import SEATS
from bots_sdk.rules.deal import Deal
from bots_sdk.rules.options import Options
from bots_sdk.rules.phases import Phase
from bots_sdk.rules.result import DealResult
from bots_sdk.rules.shuffle import commitment
from bots_sdk.rules.version import RULES_VERSION

if TYPE_CHECKING:
    WireEnding: TypeAlias = match_service_pb2.Ending.ValueType

PLATFORM = f"baohuang-arena/{version('baohuang-arena')}"
CHECK_BYTES = 2
CHECK_MASK = (1 << 8 * CHECK_BYTES) - 1
_MOST_US = (1 << 32) - 1


class Cause(IntEnum):
    """Where an answer came from; the numbers are those of `baohuang.record.v1.Cause`."""

    ANSWERED = 1
    TIMED_OUT = 2
    ILLEGAL = 3
    FAILED = 4
    TAKEN_OVER = 5


DEFAULT_CAUSES = frozenset({Cause.TIMED_OUT, Cause.ILLEGAL, Cause.FAILED})
"""Causes of which the answer is the default of the rules."""


@dataclass(frozen=True, slots=True)
class RecordHead:
    """What is known of a match before it is played.

    Attributes:
        match_id: as the bots are told it.
        players: five pairs of bot id and name, by seat.
        options: the rules.
        length: how many deals.
        secret: what the shuffles come from.
        nonce: what is hashed with it.
        clock: the clock of every seat; None without clocks.
        tournament: its name; empty outside of tournaments.
        number: the place of the match in the schedule.
        suits: which exchange of suits it is dealt with, see `shuffle.suit_table`.
    """

    match_id: str
    players: tuple[tuple[str, str], ...]
    options: Options
    length: int
    secret: bytes
    nonce: bytes
    clock: match_service_pb2.Clock | None = None
    tournament: str = ""
    number: int = 0
    suits: int = 0


@dataclass(frozen=True, slots=True)
class RecordEnd:
    """What is known only after a match.

    Attributes:
        ending: a value of `baohuang.match.v1.Ending`.
        blamed: seats.
        disconnects: how often the wire to each seat broke, by seat.
        taken_over: by seat, whether a house bot played on.
        started_at: with a time zone; None where there is no clock.
        ended_at: the same.
    """

    ending: WireEnding = match_service_pb2.ENDING_COMPLETED
    blamed: tuple[int, ...] = ()
    disconnects: tuple[int, ...] = (0,) * SEATS
    taken_over: tuple[bool, ...] = (False,) * SEATS
    started_at: datetime | None = None
    ended_at: datetime | None = None


_ANSWERED = Cause.ANSWERED
_TOGETHER = 12
_Waiting = tuple[int, Phase, Answer, Cause, int, int, int]
_check = Struct(">H").pack


class RecordBuilder:
    """Collects what happens in one match; `finish` gives the record.

    Answers are soon encoded and held as bytes: a service holds hundreds of matches at once.
    """

    __slots__ = ("_checks", "_crc", "_deals", "_decisions", "_faults", "_head", "_results", "_shuffles", "_waiting")

    def __init__(self, head: RecordHead) -> None:
        self._head = head
        self._deals = bytearray()
        self._results: list[DealResult] = []
        self._shuffles = 0
        self._faults = tuple(pb.Faults() for _ in range(SEATS))
        self._decisions = bytearray()
        self._checks = bytearray()
        self._crc = 0
        self._waiting: list[_Waiting] = []

    def answered(  # noqa: PLR0913 - one for each field of a decision
        self,
        seat: int,
        phase: Phase,
        answer: Answer,
        cause: Cause = _ANSWERED,
        charged_us: int = 0,
        elapsed_us: int = 0,
        refused: int = 0,
    ) -> None:
        """Note an answer that has taken effect.

        Args:
            seat: who answered.
            phase: what was asked; before the answer, that is.
            answer: in its normal form.
            cause: where it came from.
            charged_us: microseconds that count.
            elapsed_us: microseconds measured.
            refused: illegal answers to this request before.
        """
        self._waiting.append((seat, phase, answer, cause, charged_us, elapsed_us, refused))
        if len(self._waiting) >= _TOGETHER:
            self._encode()

    def _encode(self) -> None:
        """Encode what has gathered: many in one go cost half of what they cost one by one."""
        decisions, checks, crc = self._decisions, self._checks, self._crc
        for seat, phase, (word, cards, amount, special), cause, charged_us, elapsed_us, refused in self._waiting:
            if cards or amount or special:
                said = _WORDS[word]
                if cards:
                    said += _CARDS[len(cards)] + cards
                if amount or special:
                    said += answer_pb2.Answer(amount=amount, special=special).SerializeToString()
                body = _ASKED[seat][phase] + _ANSWERS[len(said)] + said + _CAUSES[cause]
            else:
                body = _ASKED[seat][phase] + _BARE[word][cause]
            if refused:
                body += _REFUSED + varint(refused)
            if charged_us:
                body += _CHARGED + varint(charged_us if charged_us < _MOST_US else _MOST_US)
            if elapsed_us:
                body += _ELAPSED + varint(elapsed_us if elapsed_us < _MOST_US else _MOST_US)
            decisions += _DECISIONS[len(body)] + body
            crc = crc32(body, crc)
            checks += _check(crc & CHECK_MASK)
            if refused or cause is not _ANSWERED:
                self._blame(seat, cause, refused)
        self._crc = crc
        self._waiting.clear()

    def _blame(self, seat: int, cause: Cause, refused: int) -> None:
        faults = self._faults[seat]
        faults.illegal_answers += refused
        faults.timeouts += cause is Cause.TIMED_OUT
        faults.failures += cause is Cause.FAILED

    def end_deal(self, deal: Deal) -> None:
        """Note that a deal is over; a void one too.

        Raises:
            ValueError: it is not over.
        """
        result = deal.result
        if result is None:
            raise ValueError("the deal is not over")
        self._encode()
        public = deal.public
        head = pb.Deal(shuffle=self._shuffles, number=public.number, dealer=public.dealer)
        if public.tribute is not None:
            write_tribute(public.tribute, head.tribute)
        tail = pb.Deal(checks=bytes(self._checks), result=result_to_proto(result))
        self._deals += delimited(_DEALS, head.SerializeToString() + self._decisions + tail.SerializeToString())
        self._results.append(result)
        self._shuffles += 1
        self._decisions = bytearray()
        self._checks = bytearray()
        self._crc = 0

    def local_end(self) -> RecordEnd:
        """How a match has ended in which there are no clocks and no wires: its faults are those of the answers."""
        blamed = tuple(seat for seat, faults in enumerate(self._faults) if faults.ListFields())
        with_faults = match_service_pb2.ENDING_COMPLETED_WITH_FAULTS
        return RecordEnd(with_faults if blamed else match_service_pb2.ENDING_COMPLETED, blamed)

    def finish(self, end: RecordEnd) -> bytes:
        """The record, as `record_to_bytes` gives it."""
        head = self._head
        outcome = pb.Outcome(ending=end.ending, blamed=end.blamed)
        write_totals(head.options, self._results, outcome)
        for faults, disconnects, taken_over in zip(self._faults, end.disconnects, end.taken_over, strict=True):
            faults.disconnects = disconnects
            faults.taken_over = taken_over
            outcome.faults.append(faults)
        if end.started_at is not None:
            outcome.started_at.FromDatetime(end.started_at)
        if end.ended_at is not None:
            outcome.ended_at.FromDatetime(end.ended_at)
        front = _head_to_proto(head).SerializeToString() + self._deals
        front += pb.MatchRecord(outcome=outcome).SerializeToString()
        # Fields stand in the order of their numbers: the digest before what was added later.
        back = pb.MatchRecord(suits=head.suits).SerializeToString()
        digest = hashlib.sha256(front + back).digest()
        return front + pb.MatchRecord(digest=digest).SerializeToString() + back


def _head_to_proto(head: RecordHead) -> pb.MatchRecord:
    return pb.MatchRecord(
        format=SUITED_FORMAT if head.suits else PLAIN_FORMAT,
        rules_version=RULES_VERSION,
        platform=PLATFORM,
        tournament=head.tournament,
        number=head.number,
        match_id=head.match_id,
        players=[pb.Player(bot_id=bot_id, name=name) for bot_id, name in head.players],
        options=shared_options(head.options),
        length=head.length,
        clock=head.clock,
        commitment=commitment(head.nonce, head.secret, head.suits),
        nonce=head.nonce,
        secret=head.secret,
    )


# ---- one of each for every answer, put together by hand; a test holds them against protobuf's own encoding

_DEALS = field_number(pb.MatchRecord, "deals")
_REFUSED = number_tag(pb.Decision, "refused")
_CHARGED = number_tag(pb.Decision, "charged_us")
_ELAPSED = number_tag(pb.Decision, "elapsed_us")


def _numbers(kind: type[Message], name: str, count: int) -> tuple[bytes, ...]:
    """A field with each of the numbers from 0 on; 0 is left out, as protobuf does."""
    tag = number_tag(kind, name)
    return (b"", *(tag + varint(number) for number in range(1, count)))


def _heads(kind: type[Message], name: str, longest: int) -> tuple[bytes, ...]:
    """Tag and length of a field with bytes or a message, by length."""
    tag = varint(field_number(kind, name) << 3 | DELIMITED)
    return tuple(tag + varint(size) for size in range(longest + 1))


_ASKED = tuple(
    tuple(seat + phase for phase in _numbers(pb.Decision, "phase", len(Phase) + 1))
    for seat in _numbers(pb.Decision, "seat", SEATS)
)
_CAUSES = _numbers(pb.Decision, "cause", len(Cause) + 1)
_WORDS = _numbers(answer_pb2.Answer, "word", len(Word) + 1)
_BARE = tuple(
    tuple(delimited(field_number(pb.Decision, "answer"), word) + cause for cause in _CAUSES) for word in _WORDS
)
_CARDS = _heads(answer_pb2.Answer, "cards", MOST_CARDS)
_ANSWERS = _heads(pb.Decision, "answer", MOST_CARDS + 20)
_DECISIONS = _heads(pb.Deal, "decisions", MOST_CARDS + 60)
