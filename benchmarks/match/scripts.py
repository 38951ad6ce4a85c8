"""Scripts: matches played once at random before anything is measured, so that bots need not think.

A script holds what a seat answers to each request of its match, ready for the wire, and what the match service said in
between, record by record. Whoever plays a match with the secret of the script gets the same requests with the same
numbers, in whatever order answers of a sealed phase come in.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import partial

from baohuang.match.v1 import match_service_pb2 as pb
from benchmarks.match import offline
from benchmarks.match.load import PROFILE, order_of, secret_of
from bots_sdk.convert import write_decision
from bots_sdk.convert.varints import DELIMITED, delimited, field_number, number_tag, varint
from bots_sdk.house import make_house_bot
from bots_sdk.rules.match import Match
from bots_sdk.rules.profiles import make_options
from bots_sdk.rules.shuffle import deck_order
from services.common.clock import ManualClock
from services.common.metrics import MatchMetrics
from services.match.floor import Floor

NAMES = ("b00000", "b00001", "b00002", "b00003", "b00004")
TABLE = 1
THINKING = 0.01
"""What a decision takes when a script is recorded: with it `Charged` is as long as under load."""

_NUMBERS = {field.name: field.number for field in pb.ServerRecord.DESCRIPTOR.fields}
SEATED, EVENT, REQUEST, CHARGED, ENDED = (
    _NUMBERS[name] for name in ("seated", "event", "request", "charged", "match_ended")
)
_RECORDS = varint(field_number(pb.PlayResponse, "records") << 3 | DELIMITED)
_TABLE_TAG = number_tag(pb.Request, "table")


@dataclass(frozen=True, slots=True)
class Record:
    """One record of the service: its field in `ServerRecord`, and what follows the number of the table in it."""

    field: int
    rest: bytes


@dataclass(frozen=True, slots=True)
class Stage:
    """The requests that were open together, by seat, and what each seat is told once all are answered: what it was
    charged, what has happened, and the requests of the next stage.
    """

    requests: tuple[tuple[int, int], ...]
    told: tuple[tuple[Record, ...], ...]


@dataclass(frozen=True, slots=True)
class Script:
    """One match. `answers[n]` answers request n: a `Decision` without the table, from the number of the request on.

    `seated` and `opening` are what each seat is told before and after everybody is ready; `first` are the requests that
    begin a stage, which is to say those that the answer before them has brought about.
    """

    answers: tuple[bytes, ...]
    seated: tuple[Record, ...]
    opening: tuple[tuple[Record, ...], ...]
    stages: tuple[Stage, ...]
    points: tuple[int, ...]

    @property
    def first(self) -> frozenset[int]:
        return frozenset(stage.requests[0][1] for stage in self.stages)


def record_scripts(count: int, *, greedy: bool = False) -> list[Script]:
    """The first `count` scripts, always the same; played at random, or by house bots that want to win."""
    return [_Recorder(number, greedy=greedy).record() for number in range(count)]


def split_records(message: bytes) -> list[Record]:
    """The records of a `PlayResponse`, all of which must be about a table."""
    records = []
    for record in pb.PlayResponse.FromString(message).records:
        kind = record.WhichOneof("record")
        if kind is None:
            raise ValueError("a record that this benchmark does not know")
        part = getattr(record, kind)
        body = part.SerializeToString()
        head = _TABLE_TAG + varint(part.table)
        if not body.startswith(head):
            raise ValueError(f"a record of the kind {kind} does not begin with its table")
        records.append(Record(_NUMBERS[kind], body[len(head) :]))
    return records


def frame(record: Record, width: int) -> bytes:
    """What stands before the number of the table, which takes `width` bytes."""
    size = len(_TABLE_TAG) + width + len(record.rest)
    inner = varint(record.field << 3 | DELIMITED) + varint(size)
    return _RECORDS + varint(len(inner) + size) + inner + _TABLE_TAG


def pieces_of(records: tuple[Record, ...], width: int) -> tuple[bytes, ...]:
    """Records as they go over the wire, cut wherever the number of the table stands: `table.join(pieces)`."""
    pieces = [b""]
    for record in records:
        pieces[-1] += frame(record, width)
        pieces.append(record.rest)
    return tuple(pieces)


class _Recorder:
    """Plays one match on a floor of its own, and writes down all that is said."""

    def __init__(self, number: int, *, greedy: bool) -> None:
        self._number = number
        self._bots = [make_house_bot("greedy", f"{number}/{seat}") for seat in range(5)] if greedy else []
        self._draw = random.Random(number).random
        self._clock = ManualClock()
        self._floor = Floor("record", self._clock, MatchMetrics(), offline.NoLater())
        self._sessions = [offline.enter(self._floor, name, 1, 0.0) for name in NAMES]
        options = make_options(PROFILE, {})
        self._match = Match(options, 1, partial(deck_order, options, secret_of(number)))
        self._answers = [b""]

    def record(self) -> Script:
        floor, clock = self._floor, self._clock
        floor.submit([order_of(NAMES, 0, self._number)], clock.monotonic())
        seated = self._hear()
        for session in self._sessions:
            floor.ready(session, TABLE, clock.monotonic())
        self._match.start()
        opening = told = self._hear()
        stages = []
        while requests := self._open(told):
            for position, (seat, request) in enumerate(requests):
                self._decide(seat, request)
                told = self._hear()
                if any(told) is not (position == len(requests) - 1):
                    raise ValueError("an answer must be told once all of its stage are there, and not before")
            if any(told[seat][0].field != CHARGED for seat, _ in requests):
                raise ValueError("what an answer was charged must be told first")
            stages.append(Stage(tuple(requests), tuple(told)))
        (_, outcome), *_ = floor.inboxes.unconfirmed("bench", 0)
        if not self._match.over or outcome.deals[0].points != self._match.points:
            raise ValueError("the floor has not played the match that the engine has played")
        return Script(
            answers=tuple(self._answers),
            seated=tuple(records[0] for records in seated),
            opening=tuple(opening),
            stages=tuple(stages),
            points=outcome.deals[0].points,
        )

    def _hear(self) -> list[tuple[Record, ...]]:
        now = self._clock.monotonic()
        return [tuple(split_records(offline.drain(session, now))) for session in self._sessions]

    def _open(self, told: list[tuple[Record, ...]]) -> list[tuple[int, int]]:
        """The requests that were just made, by seat, in the order of their numbers."""
        found = []
        for seat, records in enumerate(told):
            for record in records:
                if record.field == REQUEST:
                    found.append((seat, pb.Request.FromString(record.rest).request))
        return sorted(found, key=lambda asked: asked[1])

    def _decide(self, seat: int, request: int) -> None:
        match = self._match
        if self._bots:
            answer = self._bots[seat].answer(match.deal.view(seat))
        else:
            legal = match.deal.legal(seat)
            answer = legal[int(self._draw() * len(legal))]
        match.answer(seat, answer)
        if match.deal.result is not None and not match.over:
            match.next_deal()
        decision = pb.Decision(request=request)
        write_decision(answer, decision)
        if request != len(self._answers):
            raise ValueError("requests must be numbered without gaps")
        self._answers.append(decision.SerializeToString())
        self._clock.advance(THINKING)
        body = answer_body(varint(TABLE), self._answers[request])
        self._floor.decide(self._sessions[seat], offline.decision_of(body), self._clock.monotonic())


# ---- what a bot sends

_CLIENT_RECORDS = field_number(pb.PlayRequest, "records")
_DECISION = field_number(pb.ClientRecord, "decision")
_READY = field_number(pb.ClientRecord, "ready")


def answer_body(table: bytes, answer: bytes) -> bytes:
    """The `Decision` that gives an answer of a script at a table, whose number is encoded already."""
    return _TABLE_TAG + table + answer


def answer_frame(answer: bytes, width: int) -> bytes:
    """What stands before the number of the table in a message that gives an answer."""
    size = len(_TABLE_TAG) + width + len(answer)
    inner = varint(_DECISION << 3 | DELIMITED) + varint(size)
    return varint(_CLIENT_RECORDS << 3 | DELIMITED) + varint(len(inner) + size) + inner + _TABLE_TAG


def ready_record(table: bytes) -> bytes:
    """The record that says that a bot is ready at a table."""
    return delimited(_CLIENT_RECORDS, delimited(_READY, _TABLE_TAG + table))
