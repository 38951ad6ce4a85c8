"""Numbers as protobuf writes them, for the few messages that are put together by hand because there are so many."""

from __future__ import annotations

from google.protobuf.message import Message

DELIMITED = 2
"""The wire type of bytes, texts and messages."""


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


_BITS = 14
_READY = 1 << _BITS
_TWICE = 1 << 2 * _BITS
_LOWEST = _READY - 1
_VARINTS = tuple(map(_varint, range(_READY)))
_BEGINNINGS = tuple(bytes((low & 0x7F | 0x80, low >> 7 | 0x80)) for low in range(_READY))
"""The lowest fourteen bits of a longer number."""


def varint(value: int) -> bytes:
    """A number as protobuf writes it; not negative. Times in microseconds need more than the table holds."""
    if value < _READY:
        return _VARINTS[value]
    if value < _TWICE:
        return _BEGINNINGS[value & _LOWEST] + _VARINTS[value >> _BITS]
    return _BEGINNINGS[value & _LOWEST] + varint(value >> _BITS)


def field_number(kind: type[Message], name: str) -> int:
    """The number of a field."""
    return kind.DESCRIPTOR.fields_by_name[name].number


def number_tag(kind: type[Message], name: str) -> bytes:
    """The tag of a field that holds a number."""
    return varint(field_number(kind, name) << 3)


def delimited(field: int, body: bytes) -> bytes:
    """A field that holds bytes, a text or a message, by its number."""
    return varint(field << 3 | DELIMITED) + varint(len(body)) + body
