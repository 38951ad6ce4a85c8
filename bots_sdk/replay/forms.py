"""The forms of a record: protobuf, compressed protobuf, JSON."""

from __future__ import annotations

import hashlib
import zlib

from google.protobuf.message import DecodeError

from baohuang.record.v1 import record_pb2 as pb
from bots_sdk.replay.errors import RecordUnreadable
from bots_sdk.replay.versions import verify_versions

MOST_BYTES = 16 << 20
"""A record is not larger: the longest match of 1,000 deals has some 10 MB. Bytes that would unpack to more are none.

A message of two bytes takes a hundred in memory, and some hundred thousand of them pack into a kilobyte.
"""
_LEVEL = 5


def digest_of(record: pb.MatchRecord) -> bytes:
    """SHA-256 of the record without its digest: what the field `digest` should be."""
    bare = pb.MatchRecord()
    bare.CopyFrom(record)
    bare.ClearField("digest")
    return hashlib.sha256(record_to_bytes(bare)).digest()


def record_to_bytes(record: pb.MatchRecord) -> bytes:
    """The record in protobuf's usual form: fields in the order of their numbers, nothing that is not set."""
    return record.SerializeToString(deterministic=True)


def record_from_bytes(data: bytes) -> pb.MatchRecord:
    """The record of `record_to_bytes`.

    Raises:
        RecordUnreadable: it is none, or not in the usual form, so that bytes were changed that mean nothing.
        RecordNotSupported: another version made it.
    """
    if len(data) > MOST_BYTES:
        raise RecordUnreadable("it is too large for a match record")
    record = pb.MatchRecord()
    try:
        record.ParseFromString(data)
    except DecodeError as error:
        raise RecordUnreadable("this is no match record, or a damaged one: the bytes are not those of one") from error
    verify_versions(record)
    if record_to_bytes(record) != data:
        raise RecordUnreadable("bytes were changed after the record was made: this is not protobuf's usual form")
    return record


def compress_record(data: bytes) -> bytes:
    """The bytes of a record, compressed with zlib."""
    return zlib.compress(data, _LEVEL)


def decompress_record(data: bytes) -> bytes:
    """The bytes of a record that was compressed.

    Raises:
        RecordUnreadable: it is not what zlib made, is cut off, or would unpack to more than any record has.
    """
    unpacker = zlib.decompressobj()
    try:
        found = unpacker.decompress(data, MOST_BYTES)
    except zlib.error as error:
        raise RecordUnreadable("this is no compressed match record, or a damaged one: zlib cannot unpack it") from error
    if not unpacker.eof:
        more = len(found) >= MOST_BYTES
        raise RecordUnreadable("it is too large for a match record" if more else "the compressed record is cut off")
    if unpacker.unused_data:
        raise RecordUnreadable(f"{len(unpacker.unused_data)} bytes stand behind the end of the compressed record")
    return found


def record_to_json(record: pb.MatchRecord) -> str:
    """The record in protobuf's JSON: bytes as base64, names as in the `.proto`."""
    from google.protobuf import json_format

    return json_format.MessageToJson(record, preserving_proto_field_name=True, ensure_ascii=False, indent=1)


def record_from_json(text: str) -> pb.MatchRecord:
    """The record of `record_to_json`.

    Raises:
        RecordUnreadable: it is none.
        RecordNotSupported: another version made it.
    """
    from google.protobuf import json_format

    record = pb.MatchRecord()
    try:
        json_format.Parse(text, record)
    except (json_format.ParseError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())[:200]
        raise RecordUnreadable(f"this is no match record in JSON: {reason}") from error
    verify_versions(record)
    return record
