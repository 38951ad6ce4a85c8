"""Durations as people write them: `2s`, `500ms`, `1.5m`, or a number of seconds."""

from __future__ import annotations

import re
from datetime import timedelta

_FORM = re.compile(r"(\d{1,9}(?:\.\d{1,6})?) ?(ms|s|m|h)?", re.ASCII)
_UNITS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, None: 1_000}
_MILLISECOND = timedelta(milliseconds=1)


def parse_duration(text: str) -> timedelta:
    """The duration; without a unit the number counts seconds.

    Raises:
        ValueError: the text has another form, or is no whole number of milliseconds.
    """
    match = _FORM.fullmatch(text)
    if match is None:
        raise ValueError("a duration such as 2s, 500ms, 1.5m or 1h, or a number of seconds")
    milliseconds = float(match[1]) * _UNITS[match[2]]
    if abs(milliseconds - round(milliseconds)) > 1e-6:
        raise ValueError("a duration of whole milliseconds")
    return timedelta(milliseconds=round(milliseconds))


def format_duration(duration: timedelta) -> str:
    """The shortest text that `parse_duration` reads back; parts of a millisecond are dropped."""
    milliseconds = duration // _MILLISECOND
    for unit in ("h", "m", "s"):
        if milliseconds and milliseconds % _UNITS[unit] == 0:
            return f"{milliseconds // _UNITS[unit]}{unit}"
    return f"{milliseconds}ms" if milliseconds else "0s"
