"""Which scheduled matches are still to be handed out, in which order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

LOOKAHEAD = 256
"""So many matches are looked at for one that may start now; further ones wait for their turn."""


class Backlog:
    """The numbers 0 to `matches` - 1 without those that are done, in order; numbers given back come first.

    The schedule is walked lazily: memory holds one byte a match, and the few numbers that were passed over.
    """

    def __init__(self, matches: int, done: Iterable[int]) -> None:
        self._done = bytearray(matches)
        self._next = 0
        self._waiting: deque[int] = deque()
        self.done_count = 0
        for number in done:
            self.finish(number)

    @property
    def matches(self) -> int:
        """How many are scheduled."""
        return len(self._done)

    def is_done(self, number: int) -> bool:
        """Whether the match has its result."""
        return bool(self._done[number])

    def finish(self, number: int) -> None:
        """The match has its result now."""
        if not self._done[number]:
            self._done[number] = 1
            self.done_count += 1

    def give_back(self, number: int) -> None:
        """The match must be played again, before any that has not been tried."""
        self._waiting.appendleft(number)

    def take(self, may_start: Callable[[int], bool]) -> int | None:
        """The first match that may start now, or None. It is not in the backlog any more."""
        for index, number in enumerate(self._waiting):
            if may_start(number):
                del self._waiting[index]
                return number
        while len(self._waiting) < LOOKAHEAD and self._next < len(self._done):
            number = self._next
            self._next += 1
            if self._done[number]:
                continue
            if may_start(number):
                return number
            self._waiting.append(number)
        return None
