"""A schedule: every match of a tournament by its number, made when it is asked for and never kept."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from services.tournament.schedule.selection import Selection

SEATS = 5
WINDOW = 200
"""Sets of one window at least, if there are as many: so many matches lie between two with the same deals."""

_CHUNK, _KEPT = 128, 16


@dataclass(frozen=True, slots=True)
class ScheduledMatch:
    """One match of a schedule.

    `number` counts from 0. Matches of the same `group` are played with the same deals; the line-up of `rotation` r is
    the first one moved on by r seats. `entrants` are indices into the tournament's entrants, by seat. Deal d of the
    match belongs to the deal block (group, d).
    """

    number: int
    group: int
    rotation: int
    entrants: tuple[int, int, int, int, int]


@dataclass(frozen=True, slots=True)
class Schedule:
    """All matches of a tournament: `len`, `match(number)`, and iteration in the order they should be played.

    With `rotated` every set of five is played five times over the same deals, the line-up moved on by one seat each
    time, so that each bot holds every hand once. The sets are cut into windows of at least `WINDOW`; within a window
    all first rotations come before all second ones, and so on.
    """

    selection: Selection
    rotated: bool
    deals: int
    _recent: dict[int, list[list[int]]] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def entrants(self) -> int:
        """How many entrants there are."""
        return self.selection.entrants

    @property
    def groups(self) -> int:
        """How many different series of deals are played."""
        return self.selection.sets

    @property
    def rotations(self) -> int:
        """How many matches share the same deals: 5 or 1."""
        return SEATS if self.rotated else 1

    def __len__(self) -> int:
        return self.groups * self.rotations

    def __iter__(self) -> Iterator[ScheduledMatch]:
        return self.iterate()

    def iterate(self, done: Collection[int] = ()) -> Iterator[ScheduledMatch]:
        """The matches in order but those whose numbers are in `done` (a set, or anything as quick at `in`)."""
        for window in range(self._windows):
            start, stop = self._bounds(window)
            lineups: list[list[int]] = self.selection.lineups(start, stop).tolist()
            number = start * self.rotations
            for rotation in range(self.rotations):
                for group, lineup in enumerate(lineups, start):
                    if number not in done:
                        yield ScheduledMatch(number, group, rotation, _rotated(lineup, rotation))
                    number += 1

    def match(self, number: int) -> ScheduledMatch:
        """The match of this number.

        Raises:
            IndexError: there is no such match.
        """
        group, rotation = self.place(number)
        lineup = self._chunk(group // _CHUNK)[group % _CHUNK]
        return ScheduledMatch(number, group, rotation, _rotated(lineup, rotation))

    def place(self, number: int) -> tuple[int, int]:
        """Group and rotation of the match of this number, by arithmetic alone.

        Raises:
            IndexError: there is no such match.
        """
        if not 0 <= number < len(self):
            raise IndexError(f"match {number} of a schedule of {len(self)} (0 to {len(self) - 1})")
        start, stop = self._bounds(self._window_of(number // self.rotations))
        rotation, offset = divmod(number - start * self.rotations, stop - start)
        return start + offset, rotation

    def numbers(self, group: int) -> tuple[int, ...]:
        """The numbers of all matches of this group, by rotation: those that share their deals.

        Raises:
            IndexError: there is no such group.
        """
        if not 0 <= group < self.groups:
            raise IndexError(f"group {group} of a schedule of {self.groups} (0 to {self.groups - 1})")
        start, stop = self._bounds(self._window_of(group))
        first = start * self.rotations + group - start
        return tuple(first + rotation * (stop - start) for rotation in range(self.rotations))

    def _chunk(self, chunk: int) -> list[list[int]]:
        """Some line-ups on end; the last few are kept, as matches are asked for more or less in order."""
        found = self._recent.get(chunk)
        if found is None:
            start = chunk * _CHUNK
            found = self.selection.lineups(start, min(start + _CHUNK, self.groups)).tolist()
            if len(self._recent) >= _KEPT:
                self._recent.clear()
            self._recent[chunk] = found
        return found

    @property
    def _windows(self) -> int:
        return max(1, self.groups // WINDOW)

    def _bounds(self, window: int) -> tuple[int, int]:
        # The first `extra` windows have one set more than the others, so that no window is a short rest.
        size, extra = divmod(self.groups, self._windows)
        start = window * size + min(window, extra)
        return start, start + size + (window < extra)

    def _window_of(self, group: int) -> int:
        size, extra = divmod(self.groups, self._windows)
        longer = extra * (size + 1)
        return group // (size + 1) if group < longer else extra + (group - longer) // size


def _rotated(lineup: list[int], rotation: int) -> tuple[int, int, int, int, int]:
    a, b, c, d, e = lineup[-rotation:] + lineup[:-rotation] if rotation else lineup
    return (a, b, c, d, e)
