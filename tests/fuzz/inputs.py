"""Strange inputs, from a generator of random numbers: bytes and texts spoilt a little, messages with random fields."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, TypeVar

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

M = TypeVar("M", bound=Message)

NASTY_NUMBERS = (
    0,
    1,
    2,
    4,
    5,
    7,
    8,
    127,
    128,
    255,
    256,
    65_535,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**53,
    2**63 - 1,
    2**64 - 1,
)
NASTY_TEXTS = (
    "",
    " ",
    "\x00",
    "\x1b[2J",
    "\u202e",
    "\ud7ff\ue000",
    "\U0010ffff",
    "保皇",
    "é" * 40,
    "9" * 5000,
    "-1",
    "1e999",
    "NaN",
    "'; DROP TABLE bots; --",
    "../../etc/passwd",
    "<script>alert(1)</script>",
    "%s%n{0}{self}",
    "true",
    "null",
    "a" * 3000,
)
NASTY_BYTES = (b"", b"\x00", b"\xff" * 10, b"\x80" * 11, bytes(range(256)), b"x\x9c", b"[" * 3000, b"{" * 3000)


def spoilt(data: bytes, rng: Random, others: Sequence[bytes] = ()) -> bytes:
    """The bytes with some of them changed, moved, doubled or left out, or with a piece of another one in them."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 3, 8))):
        at = rng.randrange(len(out) + 1)
        to = min(len(out), at + rng.choice((1, 1, 2, 4, 16, 64)))
        match rng.randrange(7):
            case 0:
                out[at:to] = rng.randbytes(to - at)
            case 1 if at < len(out):
                out[at] ^= 1 << rng.randrange(8)
            case 2:
                del out[at:to]
            case 3:
                out[at:at] = out[at:to] * rng.choice((1, 2, 20))
            case 4:
                out[at:to] = rng.choice(NASTY_BYTES)
            case 5 if others:
                other = rng.choice(others)
                start = rng.randrange(len(other) + 1)
                out[at:to] = other[start : start + rng.randrange(64)]
            case _:
                del out[at:]
    return bytes(out)


def spoilt_text(text: str, rng: Random) -> str:
    """The text with some pieces changed, moved, doubled, left out or replaced by what is seldom thought of."""
    out = text
    for _ in range(rng.choice((1, 1, 2, 3))):
        at = rng.randrange(len(out) + 1)
        to = min(len(out), at + rng.choice((1, 1, 2, 5, 20)))
        piece = out[at:to]
        other = rng.randrange(len(out) + 1)
        put = rng.choice(
            (
                "",
                piece * 2,
                piece.swapcase(),
                out[other : other + 12],
                rng.choice(NASTY_TEXTS),
                chr(rng.randrange(32, 0xD800)),
                rng.choice("0123456789:,;.-#!&*[]{}()<>\"'\\/|%@`~ \t\n\r"),
            )
        )
        out = out[:at] + put + out[to:]
    return out


def random_message(kind: type[M], rng: Random, depth: int = 4) -> M:
    """A message some of whose fields are set, to ordinary and to strange values."""
    message = kind()
    fill(message, rng, depth)
    return message


def fill(message: Message, rng: Random, depth: int = 4) -> None:
    """Sets some of the fields."""
    for field in message.DESCRIPTOR.fields:
        if rng.random() < 0.4:
            continue
        if field.message_type is not None and depth == 0:
            continue
        if _is_repeated(field):
            for _ in range(rng.choice((0, 1, 2, 5, 6))):
                if field.message_type is not None:
                    fill(getattr(message, field.name).add(), rng, depth - 1)
                else:
                    getattr(message, field.name).append(_value(field, rng))
        elif field.message_type is not None:
            part = getattr(message, field.name)
            part.SetInParent()
            fill(part, rng, depth - 1)
        else:
            setattr(message, field.name, _value(field, rng))


def _is_repeated(field: Any) -> bool:
    # `is_repeated` came with protobuf 6.31 and `label` leaves with a later one.
    return bool(field.is_repeated) if hasattr(field, "is_repeated") else field.label == field.LABEL_REPEATED


_RANGES = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1),
    FieldDescriptor.CPPTYPE_ENUM: (-(2**31), 2**31 - 1),
}


def _value(field: Any, rng: Random) -> Any:
    kind = field.cpp_type
    if kind in _RANGES:
        low, high = _RANGES[kind]
        small = rng.choice((rng.randrange(8), rng.randrange(64), rng.choice(NASTY_NUMBERS)))
        return max(low, min(high, small if low == 0 or rng.random() < 0.8 else -small))
    if kind == FieldDescriptor.CPPTYPE_BOOL:
        return rng.random() < 0.5
    if kind in (FieldDescriptor.CPPTYPE_DOUBLE, FieldDescriptor.CPPTYPE_FLOAT):
        return rng.choice((0.0, -1.5, 1e300, float("inf"), float("nan")))
    if field.type == FieldDescriptor.TYPE_BYTES:
        return rng.choice((bytes(rng.randrange(56) for _ in range(rng.randrange(12))), rng.choice(NASTY_BYTES)))
    return rng.choice(
        (rng.choice(NASTY_TEXTS), "".join(chr(rng.randrange(33, 0x250)) for _ in range(rng.randrange(9))))
    )
