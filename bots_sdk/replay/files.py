"""Records in files, in any of their forms."""

from __future__ import annotations

from pathlib import Path

from baohuang.record.v1 import record_pb2 as pb
from bots_sdk.replay.errors import RecordUnreadable
from bots_sdk.replay.forms import compress_record, decompress_record, record_from_bytes, record_from_json

_ZLIB = b"\x78"
_JSON = b"{"
MOST_FILE_BYTES = 256 << 20
"""JSON is some times as large as protobuf."""
SUFFIX = ".pb.z"
"""How the name of a file with a compressed record ends."""


def read_record(path: Path) -> pb.MatchRecord:
    """The record in a file: protobuf, compressed protobuf or JSON; which of them, the file itself tells.

    Raises:
        OSError: the file cannot be read.
        RecordUnreadable: it holds no record; the message names the file.
        RecordNotSupported: another version made it.
    """
    if path.stat().st_size > MOST_FILE_BYTES:
        raise RecordUnreadable(f"{path}: it is too large for a match record")
    data = path.read_bytes()
    try:
        return _read(data)
    except RecordUnreadable as error:
        raise RecordUnreadable(f"{path}: {error}") from error


def write_record(path: Path, data: bytes) -> None:
    """Put the bytes of a record into a file, compressed.

    Raises:
        OSError: the file cannot be written.
    """
    path.write_bytes(compress_record(data))


def _read(data: bytes) -> pb.MatchRecord:
    if data.startswith(_ZLIB):
        return record_from_bytes(decompress_record(data))
    if data.lstrip().startswith(_JSON):
        try:
            return record_from_json(data.decode())
        except UnicodeDecodeError as error:
            raise RecordUnreadable("this is no match record in JSON: it is not UTF-8") from error
    return record_from_bytes(data)
