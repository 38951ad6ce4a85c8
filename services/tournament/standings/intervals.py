"""Mean per deal and its 95 % interval over deal blocks. Pure.

A deal block is one deal with all its rotations: its matches share their luck, so they are one observation of each
entrant and not five. Where a block has only some of its rotations yet, it weighs as many deals as it has.

The interval is Student's, on block means: mean ± t · s / √blocks. A bootstrap over blocks was the other candidate:
its percentile interval is too short with few blocks (89 % instead of 95 % at eight), and a mean over five hands is
close enough to normal for t to hold what it promises. The standard error is that of such a bootstrap, in closed form
instead of by drawing (`test_standings_by_role.py` draws, and compares). With blocks of unequal weight it is the
interval of a ratio of two sums, points over deals (Cochran, Sampling Techniques, 6.3); with equal weights the two are
the same.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from services.tournament.standings.student import t_quantile
from services.tournament.standings.widths import Whole

MIN_BLOCKS = 10
"""With fewer there is no interval: an entrant whose few blocks happen to agree would look far too sure."""
_UPPER = 0.975


def by_block(blocks: NDArray[np.int32], won: Whole, deals: Whole) -> tuple[NDArray[np.int32], Whole, Whole]:
    """What was won in each block, and in how many deals: blocks with neither are left out.

    Args:
        blocks: by deal, ascending.
        won: by deal, wide enough for sums of them all.
        deals: by deal, 1 where it counts.
    """
    if not len(blocks):
        return blocks, won, deals
    starts = np.concatenate([[0], np.flatnonzero(blocks[1:] != blocks[:-1]) + 1])
    won, deals = np.add.reduceat(won, starts), np.add.reduceat(deals, starts, dtype=np.int64)
    kept = (deals != 0) | (won != 0)
    return blocks[starts][kept], won[kept], deals[kept]


def interval(won: Whole, deals: Whole) -> tuple[float, float | None]:
    """Mean per deal, and half the width of its 95 % interval (None with fewer than `MIN_BLOCKS` blocks).

    Args:
        won: an entrant's points (or beans) in each block, summed over its deals; beyond 64 bits as Python's numbers.
        deals: how many deals those are; none in a block of which only a penalty is left.
    """
    count, total, made = int(np.count_nonzero(deals)), int(deals.sum()), int(won.sum())
    if total == 0:
        return float(made), None
    mean = made / total
    if count < MIN_BLOCKS:
        return mean, None
    residuals = won.astype(np.float64) - mean * deals.astype(np.float64)
    error = float(np.sqrt(count / (count - 1) * np.dot(residuals, residuals))) / total
    return mean, t_quantile(_UPPER, count - 1) * error


def mean_and_ends(won: Whole, deals: Whole, scale: int) -> tuple[float, float | None, float | None]:
    """Mean per deal, and the two ends of its interval; what was won is `scale` times what it is."""
    mean, margin = interval(won, deals)
    if margin is None:
        return mean / scale, None, None
    return mean / scale, (mean - margin) / scale, (mean + margin) / scale
