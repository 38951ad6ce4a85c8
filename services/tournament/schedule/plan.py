"""A schedule: every match of a tournament by its number, made when it is asked for and never kept."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from services.tournament.schedule.selection import Selection

SEATS = 5
WINDOW = 200
"""Sets of one window at least, if there are as many: so many matches lie between two with the same deals."""

_CHUNK, _KEPT = 128, 16


@dataclass(frozen=True, slots=True)
class ScheduledMatch:
    """One match of a schedule.

    `number` counts from 0. Matches of the same `group` are played with the same deals, `rotation` counts them: with
    rotation the line-up of r is the first one moved on by r seats, in a field it is that of the r-th table of a round.
    `entrants` are indices into the tournament's players, by seat: its entrants, and behind them those of control
    tables. Deal d of the match belongs to the deal block (group, d).
    """

    number: int
    group: int
    rotation: int
    entrants: tuple[int, int, int, int, int]


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a tournament that has a table of its own: all of it, a pool, or a final.

    `schedule` numbers its matches, groups and entrants from 0 on; `members` are its entrants among all of the
    tournament, None while nobody knows. `pool` counts from 1, 0 for what is no pool.
    """

    schedule: Schedule
    members: tuple[int, ...] | None
    pool: int = 0


@dataclass(frozen=True, slots=True)
class Schedule:
    """All matches of a tournament: `len`, `match(number)`, and iteration in the order they should be played.

    With `rotated` every set of five is played five times over the same deals, the line-up moved on by one seat each
    time, so that each bot holds every hand once. The sets are cut into windows of at least `WINDOW`; within a window
    all first rotations come before all second ones, and so on.

    Otherwise `field` sets on end, a round, are played with the same deals, and after them those deals at `controls`
    tables of others, who come behind the entrants. A window holds whole rounds of `unit` sets.
    """

    selection: Selection
    rotated: bool
    deals: int
    unit: int = 1
    field: int = 1
    controls: int = 0
    _recent: dict[int, list[list[int]]] = dataclasses.field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def entrants(self) -> int:
        """How many entrants there are."""
        return self.selection.entrants

    @property
    def groups(self) -> int:
        """How many different series of deals are played."""
        return self.selection.sets // self.field

    @property
    def rotations(self) -> int:
        """How often a set of five is played: 5 times or once."""
        return SEATS if self.rotated else 1

    @property
    def sharing(self) -> int:
        """How many matches share the same deals."""
        return SEATS if self.rotated else self.field + self.controls

    @property
    def known(self) -> int:
        """How many matches have line-ups: all."""
        return len(self)

    @property
    def playing(self) -> Sequence[int]:
        """The entrants that are to play yet, as far as that follows from the schedule: all."""
        return range(self.entrants)

    @property
    def stages(self) -> tuple[tuple[Section, ...], ...]:
        """One stage, which is one section: everybody plays in the same table."""
        return ((Section(self, tuple(range(self.entrants))),),)

    def locate(self, number: int) -> tuple[int, int, int]:
        """Stage, section in it, and number in that, of the match of this number."""
        return 0, 0, number

    def number(self, stage: int, section: int, inner: int) -> int:
        """The number of a match of a section: what `locate` takes apart."""
        assert stage == section == 0
        return inner

    def __len__(self) -> int:
        return self.groups * self.sharing

    def __iter__(self) -> Iterator[ScheduledMatch]:
        return self.iterate()

    def iterate(self, done: Collection[int] = ()) -> Iterator[ScheduledMatch]:
        """The matches in order but those whose numbers are in `done` (a set, or anything as quick at `in`)."""
        for window in range(self._windows):
            start, stop = self._bounds(window)
            lineups: list[list[int]] = self.selection.lineups(start * self.field, stop * self.field).tolist()
            for number in range(start * self.sharing, stop * self.sharing):
                if number not in done:
                    group, rotation = self._place_in(window, number)
                    offset = (group - start) * self.field
                    yield ScheduledMatch(number, group, rotation, self._line_up(lineups, offset, rotation))

    def match(self, number: int) -> ScheduledMatch:
        """The match of this number.

        Raises:
            IndexError: there is no such match.
        """
        group, rotation = self.place(number)
        if self.rotated or rotation >= self.field:
            one, rotation_in_set = group * self.field, rotation
        else:
            one, rotation_in_set = group * self.field + rotation, 0
        lineup = self._line_up(self._chunk(one // _CHUNK), one % _CHUNK, rotation_in_set)
        return ScheduledMatch(number, group, rotation, lineup)

    def place(self, number: int) -> tuple[int, int]:
        """Group and rotation of the match of this number, by arithmetic alone.

        Raises:
            IndexError: there is no such match.
        """
        if not 0 <= number < len(self):
            raise IndexError(f"match {number} of a schedule of {len(self)} (0 to {len(self) - 1})")
        return self._place_in(self._window_of(number // self.sharing), number)

    def _place_in(self, window: int, number: int) -> tuple[int, int]:
        if not self.rotated:  # nobody sees deals twice, so the same ones go on end
            return divmod(number, self.sharing)
        start, stop = self._bounds(window)
        rotation, offset = divmod(number - start * self.sharing, stop - start)
        return start + offset, rotation

    def _line_up(self, lineups: list[list[int]], at: int, rotation: int) -> tuple[int, int, int, int, int]:
        """Of the `rotation`-th match over the deals of the set at this place."""
        if self.rotated:
            return _rotated(lineups[at], rotation)
        if rotation < self.field:
            return _rotated(lineups[at + rotation], 0)
        first = self.entrants
        return (first, first + 1, first + 2, first + 3, first + 4)

    def numbers(self, group: int) -> tuple[int, ...]:
        """The numbers of all matches of this group, by rotation: those that share their deals.

        Raises:
            IndexError: there is no such group.
        """
        if not 0 <= group < self.groups:
            raise IndexError(f"group {group} of a schedule of {self.groups} (0 to {self.groups - 1})")
        if not self.rotated:
            return tuple(range(group * self.sharing, (group + 1) * self.sharing))
        start, stop = self._bounds(self._window_of(group))
        first = start * self.sharing + group - start
        return tuple(first + rotation * (stop - start) for rotation in range(self.sharing))

    def _chunk(self, chunk: int) -> list[list[int]]:
        """Some line-ups on end; the last few are kept, as matches are asked for more or less in order."""
        found = self._recent.get(chunk)
        if found is None:
            start = chunk * _CHUNK
            found = self.selection.lineups(start, min(start + _CHUNK, self.selection.sets)).tolist()
            if len(self._recent) >= _KEPT:
                self._recent.clear()
            self._recent[chunk] = found
        return found

    @property
    def _windows(self) -> int:
        return max(1, self._units // -(-WINDOW // self.unit))

    @property
    def _units(self) -> int:
        return max(1, self.groups // self.unit)

    def _bounds(self, window: int) -> tuple[int, int]:
        # The first `extra` windows have one unit more than the others, so that no window is a short rest.
        size, extra = divmod(self._units, self._windows)
        start = window * size + min(window, extra)
        return start * self.unit, (start + size + (window < extra)) * self.unit

    def _window_of(self, group: int) -> int:
        size, extra = divmod(self._units, self._windows)
        unit, longer = group // self.unit, extra * (size + 1)
        return unit // (size + 1) if unit < longer else extra + (unit - longer) // size


def _rotated(lineup: list[int], rotation: int) -> tuple[int, int, int, int, int]:
    a, b, c, d, e = lineup[-rotation:] + lineup[:-rotation] if rotation else lineup
    return (a, b, c, d, e)
