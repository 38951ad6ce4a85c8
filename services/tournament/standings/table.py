"""The table: mean points per deal with a 95 % interval over deal blocks.

A deal block is one deal with all its rotations: its matches share their luck, so they are one observation of each
entrant and not five. Where a block has only some of its rotations yet, it weighs as many deals as it has.

The interval is Student's, on block means: mean ± t · s / √blocks. A bootstrap over blocks was the other candidate:
its percentile interval is too short with few blocks (89 % instead of 95 % at eight), and a mean over five hands is
close enough to normal for t to hold what it promises. With blocks of unequal weight it is the interval of a ratio of
two sums, points over deals (Cochran, Sampling Techniques, 6.3); with equal weights the two are the same.

All sums are sums of whole numbers, and blocks are taken in their own order, so the order of the results changes
nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from services.common.matches import SeatFaults
from services.tournament.standings.student import t_quantile
from services.tournament.standings.values import PlayedMatch, Standing

MIN_BLOCKS = 10
"""With fewer there is no interval: an entrant whose few blocks happen to agree would look far too sure."""
_UPPER = 0.975


class StandingsTable:
    """Takes in matches in any order and has the table ready at any time.

    Memory grows with entrants times blocks: two numbers for each block an entrant has played in.
    """

    def __init__(self, names: Sequence[str]) -> None:
        """The entrants' names, by index."""
        self._names = tuple(names)
        self._numbers: set[int] = set()
        # By entrant: block (group, deal) -> [points, deals].
        self._blocks: list[dict[tuple[int, int], list[int]]] = [{} for _ in names]
        self._matches = [0] * len(self._names)
        # By entrant: timeouts, illegal answers, disconnects, takeovers.
        self._faults = [[0, 0, 0, 0] for _ in names]

    def add(self, match: PlayedMatch) -> None:
        """Takes in one match that counts.

        Raises:
            ValueError: its number was there before, or it names an entrant that does not exist; nothing is taken in.
        """
        if match.number in self._numbers:
            raise ValueError(f"Match {match.number} has two results; every scheduled match has one.")
        if not all(0 <= entrant < len(self._names) for entrant in match.entrants):
            raise ValueError(f"Match {match.number} names entrants {match.entrants}; there are {len(self._names)}.")
        self._numbers.add(match.number)
        for seat, entrant in enumerate(match.entrants):
            blocks = self._blocks[entrant]
            for deal in match.deals:
                block = blocks.setdefault((match.group, deal.number), [0, 0])
                block[0] += deal.points[seat]
                block[1] += 1
            self._matches[entrant] += 1
            for kind, faults in enumerate(_counts(match.faults[seat])):
                self._faults[entrant][kind] += faults

    def standings(self) -> list[Standing]:
        """The table as it is now, best first; entrants with the very same mean share a rank and are listed by name."""
        means = [self._mean(entrant) for entrant in range(len(self._names))]
        order = sorted(range(len(self._names)), key=lambda entrant: _place(means[entrant], self._names[entrant]))
        table: list[Standing] = []
        for position, entrant in enumerate(order):
            tied = position > 0 and means[entrant] == means[order[position - 1]]
            table.append(self._standing(entrant, table[-1].rank if tied else position + 1))
        return table

    def _mean(self, entrant: int) -> Fraction | None:
        blocks = self._blocks[entrant].values()
        deals = sum(deals for _, deals in blocks)
        return Fraction(sum(points for points, _ in blocks), deals) if deals else None

    def _standing(self, entrant: int, rank: int) -> Standing:
        ordered = [block for _, block in sorted(self._blocks[entrant].items())]
        sums = np.array(ordered, dtype=np.int64).reshape(-1, 2)
        mean, margin = interval(sums[:, 0], sums[:, 1])
        timeouts, illegal_answers, disconnects, takeovers = self._faults[entrant]
        return Standing(
            rank=rank,
            name=self._names[entrant],
            points_per_deal=mean,
            low=None if margin is None else mean - margin,
            high=None if margin is None else mean + margin,
            matches=self._matches[entrant],
            deals=int(sums[:, 1].sum()),
            blocks=len(sums),
            timeouts=timeouts,
            illegal_answers=illegal_answers,
            disconnects=disconnects,
            takeovers=takeovers,
        )


def compute_standings(names: Sequence[str], matches: Iterable[PlayedMatch]) -> list[Standing]:
    """The table of a tournament from its matches that count, in any order, best first.

    Raises:
        ValueError: a match is there twice, or names an entrant that does not exist.
    """
    table = StandingsTable(names)
    for match in matches:
        table.add(match)
    return table.standings()


def interval(points: NDArray[np.int64], deals: NDArray[np.int64]) -> tuple[float, float | None]:
    """Mean points per deal, and half the width of its 95 % interval (None with fewer than `MIN_BLOCKS` blocks).

    Args:
        points: an entrant's points in each block, summed over its deals; shape (blocks,).
        deals: how many deals those are; shape (blocks,).
    """
    count, total = len(points), int(deals.sum())
    if total == 0:
        return 0.0, None
    mean = int(points.sum()) / total
    if count < MIN_BLOCKS:
        return mean, None
    residuals = points - mean * deals
    error = float(np.sqrt(count / (count - 1) * np.dot(residuals, residuals))) / total
    return mean, t_quantile(_UPPER, count - 1) * error


def _place(mean: Fraction | None, name: str) -> tuple[bool, Fraction, str]:
    """Best mean first, whoever has none last, equal ones by name."""
    return mean is None, -mean if mean is not None else Fraction(0), name


def _counts(faults: SeatFaults) -> tuple[int, int, int, int]:
    return faults.timeouts, faults.illegal_answers, faults.disconnects, int(faults.taken_over)
