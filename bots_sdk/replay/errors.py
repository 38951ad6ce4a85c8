"""What is wrong with a record.

ArenaError
├── RecordUnreadable      bytes, or a text, that are no match record
├── RecordNotSupported    a record of another version of the rules or of the format
└── RecordError           a record that does not hold together (carries the first wrong step)
"""

from __future__ import annotations

from bots_sdk.errors import ArenaError


class RecordUnreadable(ArenaError):
    """Bytes, or a text, that are no match record, or a damaged one."""


class RecordNotSupported(ArenaError):
    """A record that another version of the rules or of the format made; it may be fine, but cannot be judged here."""


class RecordError(ArenaError):
    """A record that does not hold together.

    Attributes:
        step: the first wrong step as a path in the record, for example `deals[2].decisions[17]`.
        what: what is wrong with it.
    """

    def __init__(self, step: str, what: str) -> None:
        super().__init__(f"{step}: {what}")
        self.step = step
        self.what = what
