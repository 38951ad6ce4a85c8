"""The one reader of the clock; whoever needs the time takes a `Clock`."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Tells the time, twice: for measuring, and for people."""

    def monotonic(self) -> float:
        """Seconds since some moment; never goes back, whatever happens to the machine's date."""
        ...

    def now(self) -> datetime:
        """Date and time, UTC."""
        ...


class SystemClock:
    """The machine's clock."""

    __slots__ = ()

    def monotonic(self) -> float:
        return time.monotonic()

    def now(self) -> datetime:
        return datetime.now(UTC)


class ManualClock:
    """A clock that stands still until it is moved, for tests. `monotonic()` starts at 0."""

    __slots__ = ("_start", "_seconds")

    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self._start = start
        self._seconds = 0.0

    def advance(self, seconds: float) -> None:
        """Move the clock forward. Raises ValueError for negative seconds: a clock that goes back hides faults."""
        if seconds < 0:
            raise ValueError(f"a clock cannot go back by {-seconds} seconds")
        self._seconds += seconds

    def monotonic(self) -> float:
        return self._seconds

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self._seconds)
