"""Which scheduled matches are still to be handed out, in which order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from enum import Enum, IntEnum, auto

from services.tournament.director.parking import Parking

LOOKAHEAD = 256
"""So many matches at most wait while further ones are looked at; see `Backlog` for those that do not count."""

_STEP = 64
"""So far the walk goes beyond that before it is asked again whether it should."""

STRIDE = 1024
"""So many matches that cannot start are looked at in one go; then whoever else has something to do is let in."""


class Turn(Enum):
    """What is to become of a match that is looked at; one that waits for a bot is answered with the bot's id."""

    STARTS = auto()
    FULL = auto()
    """It waits for room: wherever all its bots are, there is none just now."""
    APART = auto()
    """It waits for bots to come where the others are: each is somewhere, but they are nowhere together."""
    LEFT_OUT = auto()
    """It is not played: a bot in it was excluded."""


class _Place(IntEnum):
    """What the byte of a match says that is not parked."""

    OPEN = 0
    """Nobody has looked at it yet, or it was given back just now."""
    DONE = 1
    AWAY = 2
    LEFT_OUT = 3


class Backlog:
    """The numbers 0 to `matches` - 1 without those that are done, in order; numbers given back come first.

    The schedule is walked lazily, and memory holds one byte a match. A match that cannot start is parked under whoever
    keeps it from starting, and looked at again when that one is told to be free (`wake`): so however many wait for slow
    or absent bots, they cost nothing, and the walk goes on behind them.

    It does not go on for ever where all are merely busy: otherwise the five that have just ended a match would always
    find one for these very five, far down the schedule, and its order would mean nothing. So it stops while `LOOKAHEAD`
    matches wait, not counting those that wait for the `slow_bots` under whom most do.
    """

    def __init__(self, matches: int, done: Iterable[int], slow_bots: int = 1) -> None:
        self._places = bytearray(matches)
        self._parking = Parking(self._places)
        self._slow_bots = slow_bots
        self._next = 0
        self._given_back: deque[int] = deque()
        self._misses = 0
        self._room = 0
        self.done_count = 0
        self.left_out = 0
        self.is_interrupted = False  # so much was looked at in vain that whoever took has to come again
        for number in done:
            self.finish(number)

    @property
    def matches(self) -> int:
        """How many are scheduled."""
        return len(self._places)

    @property
    def parked(self) -> int:
        """How many have been passed over and wait."""
        return len(self._parking)

    @property
    def is_complete(self) -> bool:
        """Whether every match has its result, or needs none."""
        return self.done_count + self.left_out == self.matches

    def is_done(self, number: int) -> bool:
        """Whether the match has its result."""
        return self._places[number] == _Place.DONE

    def finish(self, number: int) -> None:
        """The match has its result now."""
        if not self.is_done(number):
            self._parking.take(number, _Place.DONE)
            self.done_count += 1

    def reopen(self, number: int) -> None:
        """The match has its result no more: it must be played again."""
        if self.is_done(number):
            self.done_count -= 1
            self.give_back(number)

    def give_back(self, number: int) -> None:
        """The match must be played again, before any that has not been tried."""
        self._places[number] = _Place.OPEN
        if number < self._next:
            self._given_back.append(number)

    def wake(self, blocker: str | Turn) -> None:
        """A bot, by its id, may have got free; or there may be room again where there was none."""
        self._parking.wake(blocker)
        if blocker is Turn.FULL:
            self._misses = 0

    def wake_all(self) -> None:
        """Anything may have changed."""
        self._parking.wake_all()
        self._misses = 0

    def take(self, look: Callable[[int], Turn | str], goes_on: Callable[[], bool] = lambda: False) -> int | None:
        """The first match that may start now, or None. It is not in the backlog any more.

        `goes_on` is asked where the walk would stop: whether somebody is so idle that it should not.
        """
        self.is_interrupted = False
        self._room = 0
        for _ in range(STRIDE):
            number = self._next_number(goes_on)
            if number is None:
                return None
            verdict = look(number)
            if verdict is Turn.STARTS:
                self._parking.take(number, _Place.AWAY)
                return number
            if verdict is Turn.LEFT_OUT:
                self._parking.take(number, _Place.LEFT_OUT)
                self.left_out += 1
            else:
                self._park(number, verdict)
        self.is_interrupted = True
        return None

    def _next_number(self, goes_on: Callable[[], bool]) -> int | None:
        """The next that is to be looked at: given back, or parked under one that is awake, or a new one."""
        while self._given_back:
            number = self._given_back.popleft()
            if self._places[number] == _Place.OPEN:
                return number
        number_again = self._parking.next_awake()
        return self._walk(goes_on) if number_again is None else number_again

    def _walk(self, goes_on: Callable[[], bool]) -> int | None:
        """Go on through those that nobody has looked at yet."""
        number = self._places.find(_Place.OPEN, self._next)
        self._next = self.matches if number < 0 else number
        if number < 0:
            return None
        if not self._room:
            room = LOOKAHEAD - self._parking.but_longest(self._slow_bots)
            if room <= 0 and not goes_on():
                return None
            self._room = room if room > 0 else _STEP
        self._room -= 1
        self._next = number + 1
        return number

    def _park(self, number: int, blocker: Turn | str) -> None:
        # Whoever waits for a bot waits whatever the others do. What lacks a place may have less luck than what is
        # behind it: not all is at an end there, but to look through all of it each time would be too much.
        self._parking.park(number, blocker, sleeps=isinstance(blocker, str))
        if blocker is Turn.FULL:
            self._misses += 1
            if self._misses >= LOOKAHEAD:
                self._parking.sleep(Turn.FULL)
