"""Records as ready-made bytes.

Every record is encoded as a `PlayResponse` that holds only it: protobuf merges concatenated messages, so what a session
sends is the plain concatenation of its records. A public event is encoded once for all five seats.

`Request` and `Charged`, one of each for every decision, and plays are put together by hand: that costs a third of
building the message. `tests/unit/match` holds them against protobuf's own encoding.
"""

from __future__ import annotations

from functools import lru_cache

from google.protobuf.message import Message

from baohuang.cards.v1 import event_pb2
from baohuang.match.v1 import match_service_pb2 as pb
from bots_sdk.convert import event_to_proto
from bots_sdk.convert.varints import DELIMITED, delimited, field_number, number_tag, varint
from bots_sdk.rules.cards import SEATS
from bots_sdk.rules.events import Event, Played
from bots_sdk.rules.phases import Phase

# ---- frames: the two tags and lengths before the body of a record

_RECORDS = field_number(pb.PlayResponse, "records")
_RECORD_OF = {
    field.message_type.full_name: field.number
    for field in pb.ServerRecord.DESCRIPTOR.fields
    if field.message_type is not None
}
_SHORT = 120
"""Bodies shorter than this have their frames ready."""


def _frame(field: int, size: int) -> bytes:
    inner = varint(field << 3 | DELIMITED) + varint(size)
    return varint(_RECORDS << 3 | DELIMITED) + varint(len(inner) + size) + inner


def _frames(kind: type[Message]) -> tuple[bytes, ...]:
    field = _RECORD_OF[kind.DESCRIPTOR.full_name]
    return tuple(_frame(field, size) for size in range(_SHORT))


_EVENT = _RECORD_OF[event_pb2.Event.DESCRIPTOR.full_name]
EVENT_FRAMES = _frames(event_pb2.Event)
"""What comes before the body of an event, by its length."""
_REQUEST_FRAMES = _frames(pb.Request)
_CHARGED_FRAMES = _frames(pb.Charged)


def encode_record(message: Message) -> bytes:
    """One record: `message` is of one of the types in `ServerRecord`."""
    body = message.SerializeToString()
    return _frame(_RECORD_OF[message.DESCRIPTOR.full_name], len(body)) + body


# ---- events

_EVENT_TABLE = number_tag(event_pb2.Event, "table")
_EVENT_NUMBER = number_tag(event_pb2.Event, "number")
_EVENTS_OF_RESUMED = field_number(pb.Resumed, "events")
_PLAYED = varint(field_number(event_pb2.Event, "played") << 3 | DELIMITED)
_SEATS = (b"", *(number_tag(event_pb2.Played, "seat") + varint(seat) for seat in range(1, SEATS)))
_CARDS = varint(field_number(event_pb2.Played, "cards") << 3 | DELIMITED)
_SPECIAL = (b"", number_tag(event_pb2.Played, "special") + b"\x01")


def event_beginning(table: int) -> bytes:
    """What the body of every event of a table begins with; its number comes next."""
    return _EVENT_TABLE + varint(table) + _EVENT_NUMBER


def encode_event(event: Event) -> bytes:
    """What the body of an event ends with: what has happened."""
    if type(event) is Played:  # a fifth of the events, and seldom the same
        seat, cards, special = event
        body = _SEATS[seat] + _CARDS + varint(len(cards)) + cards + _SPECIAL[special]
        return _PLAYED + varint(len(body)) + body
    return event_to_proto(event, 0, 0).SerializeToString()


# Typed: a `Passed(3)` equals a `Yielded(3)`, both being tuples.
encode_public = lru_cache(maxsize=4096, typed=True)(encode_event)
"""The same for what all may know. A hand is encoded anew each time: none comes twice, none is to outlive its match."""


def event_frame(size: int) -> bytes:
    """What comes before the body of an event, for the few that are longer than `EVENT_FRAMES` goes."""
    return _frame(_EVENT, size)


def retold_event(body: bytes) -> bytes:
    """The body of an event as a part of the body of `Resumed`."""
    return delimited(_EVENTS_OF_RESUMED, body)


def encode_resumed(resumed: pb.Resumed, events: bytes) -> bytes:
    """A `resumed` record with events that are encoded already, as `retold_event` gives them, one after the other."""
    body = resumed.SerializeToString() + events
    return _frame(_RECORD_OF[pb.Resumed.DESCRIPTOR.full_name], len(body)) + body


# ---- one of each for every decision

_REQUEST_TABLE = number_tag(pb.Request, "table")
_REQUEST_REQUEST = number_tag(pb.Request, "request")
_REQUEST_PHASES = tuple(number_tag(pb.Request, "phase") + varint(phase) for phase in range(len(Phase) + 1))
_REQUEST_LIMIT = number_tag(pb.Request, "limit_ms")
_REQUEST_BANK = number_tag(pb.Request, "bank_ms")
_REQUEST_EVENT = number_tag(pb.Request, "event")
_CHARGED_TABLE = number_tag(pb.Charged, "table")
_CHARGED_REQUEST = number_tag(pb.Charged, "request")
_CHARGED_CHARGED = number_tag(pb.Charged, "charged_us")
_CHARGED_BANK = number_tag(pb.Charged, "bank_ms")
_CHARGED_TIMED_OUT = number_tag(pb.Charged, "timed_out") + b"\x01"
_CHARGED_ELAPSED = number_tag(pb.Charged, "elapsed_us")
_MOST_US = (1 << 32) - 1


@lru_cache(maxsize=1024)
def _limits(phase: int, limit_ms: int) -> bytes:
    """Those two fields of a request, of which a tournament knows but a few."""
    return _REQUEST_PHASES[phase] + (_REQUEST_LIMIT + varint(limit_ms) if limit_ms else b"")


class TurnEncoder:
    """Encodes what one table sends for every decision: a request, and what it cost."""

    __slots__ = ("_charged", "_request")

    def __init__(self, table: int) -> None:
        self._request = _REQUEST_TABLE + varint(table) + _REQUEST_REQUEST
        self._charged = _CHARGED_TABLE + varint(table) + _CHARGED_REQUEST

    def request(self, request: int, phase: int, limit_ms: int, bank_ms: int, event: int) -> bytes:
        """A `request` record without a list of legal answers; no argument but the times is 0."""
        body = self._request + varint(request) + _limits(phase, limit_ms)
        if bank_ms:
            body += _REQUEST_BANK + varint(bank_ms)
        body += _REQUEST_EVENT + varint(event)
        return _REQUEST_FRAMES[len(body)] + body

    def charged(self, request: int, elapsed_us: int, charged_us: int, bank_ms: int, timed_out: bool = False) -> bytes:
        """A `charged` record; times are shown as at most 71 minutes, what the field holds."""
        body = self._charged + varint(request)
        if charged_us:
            body += _CHARGED_CHARGED + varint(charged_us if charged_us < _MOST_US else _MOST_US)
        if bank_ms:
            body += _CHARGED_BANK + varint(bank_ms)
        if timed_out:
            body += _CHARGED_TIMED_OUT
        if elapsed_us:
            body += _CHARGED_ELAPSED + varint(elapsed_us if elapsed_us < _MOST_US else _MOST_US)
        return _CHARGED_FRAMES[len(body)] + body
