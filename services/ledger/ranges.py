"""Sets of match numbers as ranges: a tournament that is half played is a few ranges, however long it is."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator


class Ranges:
    """An immutable set of whole numbers from 0 on, kept as the runs that it consists of."""

    __slots__ = ("_firsts", "_lasts", "_size")

    def __init__(self, ascending: Iterable[int] = ()) -> None:
        """Takes the numbers in ascending order; the same one twice is no harm. Raises ValueError on any other order."""
        firsts: list[int] = []
        lasts: list[int] = []
        for number in ascending:
            if lasts and number in (lasts[-1], lasts[-1] + 1):
                lasts[-1] = number
            elif lasts and number < lasts[-1]:
                raise ValueError(f"{number} comes after {lasts[-1]}: the numbers must ascend")
            else:
                firsts.append(number)
                lasts.append(number)
        self._firsts = firsts
        self._lasts = lasts
        self._size = sum(last - first + 1 for first, last in zip(firsts, lasts, strict=True))

    def __contains__(self, number: object) -> bool:
        if not isinstance(number, int):
            return False
        place = bisect_right(self._firsts, number) - 1
        return place >= 0 and number <= self._lasts[place]

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[int]:
        for run in self.runs():
            yield from run

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ranges) and self._firsts == other._firsts and self._lasts == other._lasts

    def __hash__(self) -> int:
        return hash((tuple(self._firsts), tuple(self._lasts)))

    def __repr__(self) -> str:
        runs = (f"{run[0]}" if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in self.runs())
        return f"Ranges({', '.join(runs)})"

    def runs(self) -> Iterator[range]:
        """The runs in ascending order, none empty, none touching another."""
        for first, last in zip(self._firsts, self._lasts, strict=True):
            yield range(first, last + 1)

    def missing(self, count: int) -> Iterator[int]:
        """The numbers below `count` that are not in the set, ascending, one by one: what is left of a schedule."""
        start = 0
        for run in self.runs():
            yield from range(start, min(run.start, count))
            start = run.stop
        yield from range(start, count)
