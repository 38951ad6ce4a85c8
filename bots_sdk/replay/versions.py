"""Which records this version can judge."""

from __future__ import annotations

from baohuang.record.v1 import record_pb2 as pb
from bots_sdk.replay.errors import RecordNotSupported, RecordUnreadable
from bots_sdk.rules.version import RULES_VERSION

PLAIN_FORMAT = 1
"""The form of a record of a match that was dealt with the suits as they were shuffled."""
SUITED_FORMAT = 2
"""The same, and it says which exchange of suits the match was dealt with."""
FORMATS = (PLAIN_FORMAT, SUITED_FORMAT)
"""The forms of the records that this version makes and reads."""


def printable(text: str) -> str:
    """The text without what would move a terminal's cursor: a record may come from anybody."""
    return "".join(sign if sign.isprintable() else "?" for sign in text)


def verify_versions(record: pb.MatchRecord) -> None:
    """Let through what this version can judge.

    Raises:
        RecordNotSupported: another version made it; the sentence says which.
        RecordUnreadable: it has no version at all.
    """
    if not record.format:
        raise RecordUnreadable("this is no match record: it has no format version")
    maker = f" by {printable(record.platform)}" if record.platform else ""
    if record.format not in FORMATS:
        known = " and ".join(map(str, FORMATS))
        raise RecordNotSupported(
            f"this record was made{maker} in format {record.format}; this version reads formats {known}"
        )
    if record.rules_version != RULES_VERSION:
        raise RecordNotSupported(
            f"this record was made{maker} with rules version {printable(record.rules_version) or 'unknown'}; "
            f"this version reads {RULES_VERSION}"
        )
