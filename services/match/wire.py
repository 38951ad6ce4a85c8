"""Records as ready-made bytes.

Every record is encoded as a `PlayResponse` that holds only it: protobuf merges concatenated messages, so what a session
sends is the plain concatenation of its records. A public event is encoded once for all five seats.
"""

from __future__ import annotations

from google.protobuf.message import Message

from baohuang.match.v1 import match_service_pb2 as pb

_RECORDS = pb.PlayResponse.DESCRIPTOR.fields_by_name["records"].number
_FIELD_OF = {
    field.message_type.full_name: field.number
    for field in pb.ServerRecord.DESCRIPTOR.fields
    if field.message_type is not None
}
_EVENTS_OF_RESUMED = pb.Resumed.DESCRIPTOR.fields_by_name["events"].number


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _delimited(field: int, body: bytes) -> bytes:
    size = len(body)
    if size < 0x80 and field < 16:
        return bytes((field << 3 | 2, size)) + body
    return _varint(field << 3 | 2) + _varint(size) + body


def encode_record(message: Message) -> bytes:
    """One record: `message` is of one of the types in `ServerRecord`."""
    return frame_record(type(message), message.SerializeToString())


def frame_record(kind: type[Message], body: bytes) -> bytes:
    """One record from its encoded body."""
    return _delimited(_RECORDS, _delimited(_FIELD_OF[kind.DESCRIPTOR.full_name], body))


def encode_resumed(resumed: pb.Resumed, events: list[bytes]) -> bytes:
    """A `resumed` record with events that are encoded already."""
    body = resumed.SerializeToString() + b"".join(_delimited(_EVENTS_OF_RESUMED, event) for event in events)
    return frame_record(pb.Resumed, body)
