"""What local play came to: mean points per deal with an interval over blocks."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from bots_sdk.arena.blocks import BlockPlayed

LEAST_BLOCKS = 10
"""With fewer blocks there is no interval: it would say more about chance than about the bots."""
KEPT_MESSAGES = 5
"""So many different messages of a bot's mishaps are kept; all are counted."""


@dataclass(frozen=True, slots=True)
class BotScore:
    """How one bot of the line-up did.

    Attributes:
        name: as given.
        mean: points per deal.
        low: lower end of the 95 % interval; -inf with fewer than `LEAST_BLOCKS` blocks.
        high: upper end.
        mishaps: how often the default was played for it, or a hook failed.
        messages: what the first different mishaps were, with their numbers.
    """

    name: str
    mean: float
    low: float
    high: float
    mishaps: int
    messages: tuple[tuple[str, int], ...]


class LocalStandings:
    """Collects blocks; `scores` may be asked for at any time.

    Args:
        names: five names, in the order of the line-up.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.deals = 0
        self._means: list[list[float]] = [[] for _ in self.names]
        self._messages: list[Counter[str]] = [Counter() for _ in self.names]

    @property
    def blocks(self) -> int:
        """How many blocks have been added."""
        return len(self._means[0])

    @property
    def has_intervals(self) -> bool:
        """There are enough blocks for intervals."""
        return self.blocks >= LEAST_BLOCKS

    def add(self, block: BlockPlayed) -> None:
        """Take a block in."""
        self.deals += block.deals
        for means, points in zip(self._means, block.points, strict=True):
            means.append(points / block.deals)
        for messages, mishaps in zip(self._messages, block.mishaps, strict=True):
            messages.update(mishap.message for mishap in mishaps)

    def scores(self) -> list[BotScore]:
        """One for each bot, in the order of the line-up."""
        found = []
        for name, means, messages in zip(self.names, self._means, self._messages, strict=True):
            mean, low, high = mean_interval(means)
            if not self.has_intervals:
                low, high = -math.inf, math.inf
            kept = tuple(messages.most_common(KEPT_MESSAGES))
            found.append(BotScore(name, mean, low, high, messages.total(), kept))
        return found

    def difference(self, first: int, second: int) -> tuple[float, float, float]:
        """Mean and 95 % interval of the points per deal that one bot made more than another, block by block."""
        return mean_interval([one - other for one, other in zip(self._means[first], self._means[second], strict=True)])


def mean_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Mean and 95 % interval (Student's t) of independent observations; infinite with fewer than two."""
    if not values:
        return 0.0, -math.inf, math.inf
    mean = statistics.fmean(values)
    if len(values) < 2:
        return mean, -math.inf, math.inf
    half = _t_quantile(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
    return mean, mean - half, mean + half


def _t_quantile(freedom: int) -> float:
    """The 97.5 % quantile of Student's t: exact for 1 and 2, above that a series (Abramowitz & Stegun 26.7.5)."""
    if freedom == 1:
        return math.tan(math.pi * 0.475)
    if freedom == 2:
        return 0.95 * math.sqrt(2 / (1 - 0.95**2))
    z = statistics.NormalDist().inv_cdf(0.975)
    return (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
        + (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / (92160 * freedom**4)
    )
