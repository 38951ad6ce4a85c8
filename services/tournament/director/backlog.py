"""Which scheduled matches are still to be handed out, in which order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from enum import Enum, auto

LOOKAHEAD = 256
"""So many matches are looked at for one that may start now; further ones wait for their turn."""

STRIDE = 4096
"""So many matches on end are left out in one go; then whoever else has something to do is let in."""


class Turn(Enum):
    """What is to become of a match that is looked at."""

    STARTS = auto()
    WAITS = auto()
    LEFT_OUT = auto()
    """It is not played: a bot in it was excluded."""


class Backlog:
    """The numbers 0 to `matches` - 1 without those that are done, in order; numbers given back come first.

    The schedule is walked lazily: memory holds one byte a match, and the few numbers that were passed over. A match
    that is left out is found out when it is looked at, and then once for all.
    """

    def __init__(self, matches: int, done: Iterable[int]) -> None:
        self._done = bytearray(matches)
        self._next = 0
        self._waiting: deque[int] = deque()
        self.done_count = 0
        self.left_out = 0
        self.is_interrupted = False  # so much was left out on end that whoever took has to come again
        for number in done:
            self.finish(number)

    @property
    def matches(self) -> int:
        """How many are scheduled."""
        return len(self._done)

    @property
    def is_complete(self) -> bool:
        """Whether every match has its result, or needs none."""
        return self.done_count + self.left_out == self.matches

    def is_done(self, number: int) -> bool:
        """Whether the match has its result."""
        return bool(self._done[number])

    def finish(self, number: int) -> None:
        """The match has its result now."""
        if not self._done[number]:
            self._done[number] = 1
            self.done_count += 1

    def reopen(self, number: int) -> None:
        """The match has its result no more: it must be played again."""
        if self._done[number]:
            self._done[number] = 0
            self.done_count -= 1
            if number < self._next:
                self.give_back(number)

    def give_back(self, number: int) -> None:
        """The match must be played again, before any that has not been tried."""
        self._waiting.appendleft(number)

    def take(self, turn: Callable[[int], Turn]) -> int | None:
        """The first match that may start now, or None. It is not in the backlog any more."""
        index = 0
        while index < len(self._waiting):
            number = self._waiting[index]
            verdict = turn(number)
            if verdict is Turn.WAITS:
                index += 1
                continue
            del self._waiting[index]
            if verdict is Turn.STARTS:
                return number
            self.left_out += 1
        return self._walk(turn)

    def _walk(self, turn: Callable[[int], Turn]) -> int | None:
        """Go on through those that nobody has looked at yet."""
        stop = self.left_out + STRIDE
        while len(self._waiting) < LOOKAHEAD and self._next < len(self._done) and self.left_out < stop:
            number = self._next
            self._next += 1
            if self._done[number]:
                continue
            verdict = turn(number)
            if verdict is Turn.STARTS:
                return number
            if verdict is Turn.WAITS:
                self._waiting.append(number)
            else:
                self.left_out += 1
        self.is_interrupted = self.left_out >= stop
        return None
