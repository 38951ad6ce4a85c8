"""Pools that feed a final: several schedules as one, whose last part has a line-up only when the rest is over.

Pools take turns, each as often as it has matches, so that all end at about the same time; where a match is follows from
its number by arithmetic, and back. Pools of the same size are played by the same schedule, each with deals of its own,
so a hundred of them take no more memory than two.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate

from services.tournament.schedule.plan import Schedule, ScheduledMatch, Section


class LineUpUnknown(ValueError):
    """A match of a final whose line-up is not decided yet."""


@dataclass(frozen=True, slots=True)
class _Equals:
    """The pools (by index) that have the same schedule."""

    schedule: Schedule
    pools: tuple[int, ...]

    @property
    def matches(self) -> int:
        return len(self.schedule) * len(self.pools)


@dataclass(frozen=True)
class PoolSchedule:
    """All matches of a tournament with pools, as `Schedule` has them: by number, group and rotation.

    `pools` are entrants by index; `schedules` those inside each pool, which are the same object for pools of the same
    size, of which there are two at most. `final` is played by `places` entrants: `finalists`, None before they are
    known. Numbers and groups of the final come after those of the pools.
    """

    entrants: int
    pools: tuple[tuple[int, ...], ...]
    schedules: tuple[Schedule, ...]
    final: Schedule
    finalists: tuple[int, ...] | None = None

    def drawn(self, finalists: Sequence[int]) -> PoolSchedule:
        """The same with the line-up of the final.

        Raises:
            ValueError: they are not as many, or not different entrants.
        """
        if len(finalists) != self.final.entrants or len(set(finalists)) != len(finalists):
            raise ValueError(f"{len(set(finalists))} entrants for a final of {self.final.entrants}.")
        return replace(self, finalists=tuple(finalists))

    # ---- as a whole

    def __len__(self) -> int:
        return self.before_final + len(self.final)

    @cached_property
    def before_final(self) -> int:
        """How many matches the pools have; the first number of the final."""
        return sum(map(len, self.schedules))

    @property
    def known(self) -> int:
        """How many matches, from number 0 on, have line-ups by now."""
        return self.before_final if self.finalists is None else len(self)

    @property
    def playing(self) -> Sequence[int]:
        """The entrants that are to play yet: all, then those of the final."""
        return range(self.entrants) if self.finalists is None else self.finalists

    @property
    def groups(self) -> int:
        """How many different series of deals are played."""
        return self._offsets[-1] + self.final.groups

    @property
    def rotated(self) -> bool:
        """Whether every set of five is played in five rotations, in the pools as in the final."""
        return self.final.rotated

    @property
    def controls(self) -> int:
        """At how many tables of others the deals of a set are played as well."""
        return self.final.controls

    @property
    def field(self) -> int:
        """At how many tables of a round the same deals are played, at most."""
        return max(self.final.field, *(schedule.field for schedule in self.schedules))

    @property
    def stages(self) -> tuple[tuple[Section, ...], ...]:
        """The pools, then the final."""
        pools = zip(self.schedules, self.pools, strict=True)
        sections = tuple(Section(schedule, members, pool) for pool, (schedule, members) in enumerate(pools, 1))
        return sections, (Section(self.final, self.finalists),)

    # ---- where a match is

    def locate(self, number: int) -> tuple[int, int, int]:
        """Stage, section in it, and number in that, of the match of this number.

        Raises:
            IndexError: there is no such match.
        """
        if not 0 <= number < len(self):
            raise IndexError(f"match {number} of a schedule of {len(self)} (0 to {len(self) - 1})")
        if number >= self.before_final:
            return 1, 0, number - self.before_final
        many, few = self._equals
        # `few` has the turns at which its share of all matches reaches the next whole number.
        start, stop = (turn * few.matches // self.before_final for turn in (number, number + 1))
        equals, turn = (few, start) if stop > start else (many, number - start)
        inner, at = divmod(turn, len(equals.pools))
        return 0, equals.pools[at], inner

    def number(self, stage: int, section: int, inner: int) -> int:
        """The number of a match of a section: what `locate` takes apart."""
        if stage:
            return self.before_final + inner
        many, few = self._equals
        if section in few.pools:
            turn = inner * len(few.pools) + few.pools.index(section)
            return -(-(turn + 1) * self.before_final // few.matches) - 1
        return (inner * len(many.pools) + many.pools.index(section)) * self.before_final // many.matches

    def place(self, number: int) -> tuple[int, int]:
        """Group and rotation of the match of this number.

        Raises:
            IndexError: there is no such match.
        """
        stage, section, inner = self.locate(number)
        schedule = self.final if stage else self.schedules[section]
        group, rotation = schedule.place(inner)
        return self._offsets[-1 if stage else section] + group, rotation

    def numbers(self, group: int) -> tuple[int, ...]:
        """The numbers of all matches of this group, by rotation: those that share their deals.

        Raises:
            IndexError: there is no such group.
        """
        if not 0 <= group < self.groups:
            raise IndexError(f"group {group} of a schedule of {self.groups} (0 to {self.groups - 1})")
        if group >= self._offsets[-1]:
            return tuple(self.number(1, 0, inner) for inner in self.final.numbers(group - self._offsets[-1]))
        section = bisect_right(self._offsets, group) - 1
        inners = self.schedules[section].numbers(group - self._offsets[section])
        return tuple(self.number(0, section, inner) for inner in inners)

    # ---- matches

    def match(self, number: int) -> ScheduledMatch:
        """The match of this number.

        Raises:
            IndexError: there is no such match.
            LineUpUnknown: it is one of the final, and who plays there is not decided.
        """
        stage, section, inner = self.locate(number)
        return self._outward(self.final if stage else self.schedules[section], stage, section, number, inner)

    def __iter__(self) -> Iterator[ScheduledMatch]:
        """The matches that have line-ups, in the order they should be played."""
        return map(self.match, range(self.known))

    def _outward(self, schedule: Schedule, stage: int, section: int, number: int, inner: int) -> ScheduledMatch:
        members = self.finalists if stage else self.pools[section]
        if members is None:
            raise LineUpUnknown(f"Who plays match {number}, one of the final, is decided when the pools are over.")
        match = schedule.match(inner)
        beyond = self.entrants - len(members)  # who sits at control tables comes behind all entrants
        a, b, c, d, e = (members[one] if one < len(members) else one + beyond for one in match.entrants)
        group = self._offsets[-1 if stage else section] + match.group
        return ScheduledMatch(number, group, match.rotation, (a, b, c, d, e))

    @cached_property
    def _equals(self) -> tuple[_Equals, _Equals]:
        """The pools of either size; the second are none if all have the same."""
        kinds = list({id(schedule): schedule for schedule in self.schedules}.values())
        if len(kinds) > 2:
            raise ValueError(f"Pools of {len(kinds)} kinds: their sizes differ by one at most.")
        found = [_Equals(kind, tuple(pool for pool, one in enumerate(self.schedules) if one is kind)) for kind in kinds]
        many, few = [*found, _Equals(kinds[0], ())][:2]
        return many, few

    @cached_property
    def _offsets(self) -> tuple[int, ...]:
        """The first group of each pool, and of the final behind them."""
        return (0, *accumulate(schedule.groups for schedule in self.schedules))


Timetable = Schedule | PoolSchedule
"""All matches of a tournament."""
