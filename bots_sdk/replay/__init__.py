"""Records of matches: written while a match is played, shown, and checked by anybody (docs/records.md).

A record holds the rules, the secret of the shuffles and every answer, and nothing that does not follow from them but
what is there to be compared. `RecordBuilder` writes one, `verify_record` finds the first wrong step, `format_replay`
shows it trick by trick.
"""

from bots_sdk.replay.builder import Cause, RecordBuilder, RecordEnd, RecordHead
from bots_sdk.replay.errors import RecordError, RecordNotSupported, RecordUnreadable
from bots_sdk.replay.files import read_record, write_record
from bots_sdk.replay.forms import (
    compress_record,
    decompress_record,
    digest_of,
    record_from_bytes,
    record_from_json,
    record_to_bytes,
    record_to_json,
)
from bots_sdk.replay.show import format_replay
from bots_sdk.replay.verify import Verified, verify_record

__all__ = [
    "Cause",
    "RecordBuilder",
    "RecordEnd",
    "RecordError",
    "RecordHead",
    "RecordNotSupported",
    "RecordUnreadable",
    "Verified",
    "compress_record",
    "decompress_record",
    "digest_of",
    "format_replay",
    "read_record",
    "record_from_bytes",
    "record_from_json",
    "record_to_bytes",
    "record_to_json",
    "verify_record",
    "write_record",
]
