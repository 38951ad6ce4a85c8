"""Reading what a match service sends, event by event, faster than protobuf's own objects can be looked at.

A bot is told everything that happens at its tables, five or six events for each answer it gives, and most events have
been seen before but for their table and number: somebody passed, somebody played a single seven. So the bytes of a
message are walked by hand, and what follows table and number is looked up among the events already decoded. Whatever is
not written as every service so far writes it is left to protobuf.
"""

from __future__ import annotations

from collections.abc import Callable

from google.protobuf.message import DecodeError

from baohuang.cards.v1 import event_pb2
from baohuang.match.v1 import match_service_pb2 as pb
from bots_sdk.convert import event_from_proto
from bots_sdk.errors import ProtocolBroken
from bots_sdk.rules.events import Event

_RECORDS = pb.PlayResponse.DESCRIPTOR.fields_by_name["records"].number << 3 | 2
_EVENT = pb.ServerRecord.DESCRIPTOR.fields_by_name["event"].number << 3 | 2
_TABLE = event_pb2.Event.DESCRIPTOR.fields_by_name["table"].number << 3
_NUMBER = event_pb2.Event.DESCRIPTOR.fields_by_name["number"].number << 3
_LONGEST_KEPT = 10
_MOST_KEPT = 20_000

OnEvent = Callable[[int, int, Event], None]
OnRecord = Callable[[str, pb.ServerRecord], None]


class Reader:
    """Reads messages; keeps short events that it has decoded.

    Args:
        on_event: told of an event with its table and number.
        on_record: told of any other record, and of its kind.
    """

    def __init__(self, on_event: OnEvent, on_record: OnRecord) -> None:
        self._on_event = on_event
        self._on_record = on_record
        self._kept: dict[bytes, Event] = {}

    def read(self, data: bytes) -> None:
        """Read one message.

        Raises:
            ProtocolBroken: it is none.
            Malformed: an event in it cannot be.
        """
        at, end = 0, len(data)
        try:
            while at < end:
                if data[at] != _RECORDS:
                    for record in pb.PlayResponse.FromString(data[at:]).records:
                        self._tell(record)
                    return
                size = data[at + 1]
                at += 2
                if size > 0x7F:
                    size, at = _varint(data, at - 1)
                stop = at + size
                if stop > end:
                    raise IndexError
                if not (size and data[at] == _EVENT and self._read_event(data, at + 1, stop)):
                    self._tell(pb.ServerRecord.FromString(data[at:stop]))
                at = stop
        except (IndexError, DecodeError):
            raise ProtocolBroken("what the match service sent is no PlayResponse") from None

    def _read_event(self, data: bytes, at: int, stop: int) -> bool:
        """Read an event in the usual form: length, table, number, what happened; False if it has another."""
        size = data[at]
        at += 1
        if size > 0x7F:
            size, at = _varint(data, at - 1)
        if at + size != stop or data[at] != _TABLE:
            return False
        table = data[at + 1]
        at += 2
        if table > 0x7F:
            table, at = _varint(data, at - 1)
        if data[at] != _NUMBER:
            return False
        number = data[at + 1]
        at += 2
        if number > 0x7F:
            number, at = _varint(data, at - 1)
        body = data[at:stop]
        event = self._kept.get(body)
        if event is None:
            event = event_from_proto(event_pb2.Event.FromString(body))
            if len(body) <= _LONGEST_KEPT and len(self._kept) < _MOST_KEPT:
                self._kept[body] = event
        self._on_event(table, number, event)
        return True

    def _tell(self, record: pb.ServerRecord) -> None:
        kind = record.WhichOneof("record")
        if kind == "event":
            event = record.event
            self._on_event(event.table, event.number, event_from_proto(event))
        elif kind is not None:
            self._on_record(kind, record)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """The number at a place and the place behind it."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFF, at
        shift += 7
        if shift > 35:
            raise IndexError
