"""When a tournament has said enough: its first are apart from the rest, by a rule that was there from the start. Pure.

Who looks at a table again and again until it shows what was hoped for will see it too often. So the looks are fixed
before anything is played, and the error that the rule allows is spent on them: with K looks each gets the K-th part (an
alpha-spending function, Lan and DeMets 1983, on a fixed grid; by Bonferroni's inequality the whole stays below the
level whatever the looks have to do with each other). At each look all of the first k are compared with all of the
rest, k · (N - k) pairs, and each gets its part in turn: for the wrong ones to be declared first, one of at most so many
pairs has to be wrong. There are stronger methods, such as confidence sequences (Howard et al. 2021), whose looks need
no grid; this one needs nothing but Student's t of the table, and its error can be added up by hand.

A look is at whole groups of matches with the same deals, from the first of the schedule on, and at those alone: what is
played beyond them by then depends on who is fast. So the decision is the same whenever, and however often, it is
computed from the ledger; it does not have to be remembered to be frozen.

The comparison is of the difference of two means, over deal blocks: what each makes of a block less what it makes on
average, weighed by its deals. Where both have been at the table, what they share goes out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from services.tournament.spec import StopRules
from services.tournament.standings.student import t_quantile

MIN_STOP_BLOCKS = 30
"""Nobody is compared with fewer: that far out in its tails, t is not to be trusted with a handful of blocks."""
FIRST_LOOK = 10
"""Groups at the first look."""
GROWTH = 5, 4
"""Each look is at so much more than the one before."""


@dataclass(frozen=True, slots=True)
class Blocks:
    """What an entrant made of each of its deal blocks, and in how many deals.

    `blocks` are ascending numbers, the same for everybody; all three are as long as there are blocks.
    """

    blocks: NDArray[np.int32]
    won: NDArray[np.float64]
    deals: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class StopDecision:
    """The tournament has said enough: after so many groups the `first` were apart from the rest, entrants by index."""

    look: int
    looks: int
    groups: int
    first: tuple[int, ...]


def looks_at(groups: int) -> tuple[int, ...]:
    """After how many groups a schedule of so many is looked at; not at its end, where there is nothing left to stop."""
    found, next_look = [], FIRST_LOOK
    while next_look < groups:
        found.append(next_look)
        next_look = -(-next_look * GROWTH[0] // GROWTH[1])
    return tuple(found)


def decide(rules: StopRules, look: int, looks: Sequence[int], blocks: Sequence[Blocks]) -> StopDecision | None:
    """Whether the first are apart from the rest.

    Args:
        rules: how many, and how sure.
        look: which one this is, from 0 on.
        looks: all of them, as `looks_at` has them.
        blocks: by entrant, of the first `looks[look]` groups alone.
    """
    if any(_count(own) < MIN_STOP_BLOCKS for own in blocks):
        return None
    means = [_mean(own) for own in blocks]
    order = sorted(range(len(blocks)), key=lambda entrant: (-means[entrant], entrant))
    first, rest = order[: rules.first], order[rules.first :]
    if not rest:
        return None
    allowed = (1 - rules.level / 100) / len(looks) / (len(first) * len(rest))
    # The closest are looked at first: most looks end with them.
    for one in reversed(first):
        for other in rest:
            if not _is_above(blocks[one], blocks[other], means[one] - means[other], allowed):
                return None
    return StopDecision(look, len(looks), looks[look], tuple(first))


def _is_above(one: Blocks, other: Blocks, difference: float, allowed: float) -> bool:
    """Whether so great a difference of two means comes about by chance less often than is allowed."""
    moved = np.zeros(1 + max(int(own.blocks[-1]) for own in (one, other)))
    for own, sign in ((one, 1), (other, -1)):
        moved[own.blocks] += sign * (own.won - _mean(own) * own.deals) / own.deals.sum()
    count = min(_count(one), _count(other))
    error = math.sqrt(count / (count - 1) * math.fsum(moved * moved))
    return difference > t_quantile(1 - allowed, count - 1) * error


def _count(own: Blocks) -> int:
    return int(np.count_nonzero(own.deals))


def _mean(own: Blocks) -> float:
    return math.fsum(own.won) / max(1, int(own.deals.sum()))
