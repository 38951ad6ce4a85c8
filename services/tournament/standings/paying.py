"""What a bot gets for a deal in which it was at fault: the rules of the key `faults` in a tournament file. Pure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bots_sdk.rules.cards import SEATS
from bots_sdk.rules.options import Options
from services.common.matches import FaultRules, FaultScore
from services.tournament.standings.widths import Whole


def bean_unit(options: Options) -> int:
    """What one point is worth in beans at the lowest stakes: the room's factor times those of the five seats.

    A rebel who loses a point in a deal that nobody doubled loses so many (rules 7.3).
    """
    return int(options.room * options.stakes[0] ** SEATS)


def paid_by(rules: FaultRules, spoils: NDArray[np.bool_], faults: Whole, made: Whole, unit: int = 1) -> Whole:
    """What is taken off for faults, deal by deal; never below 0.

    By `penalty` every fault costs, and a deal that was spoiled without a new fault, as by a house bot that has taken
    over, costs as much as one. By `forfeit` a spoiled deal is worth the forfeit, or what was made less a penalty if
    that is worse: a deal that is lost already must not be free to spoil, since the others lose theirs by it.

    Args:
        rules: what faults cost, in points.
        spoils: whether the seat spoiled the deal.
        faults: what it did wrong in it.
        made: its points, or beans. Where deals are compared with others, as they compare, rounded up: to forfeit a
            deal with a bad hand must not be better than to play it.
        unit: what one point is worth in what was made.
    """
    if rules.score is FaultScore.PENALTY:
        return np.asarray(np.maximum(faults, spoils) * (rules.penalty * unit))
    if rules.score is FaultScore.FORFEIT:
        return np.where(spoils, np.maximum(rules.penalty * unit, made + rules.forfeit * unit), 0)
    return np.zeros(len(spoils), dtype=np.int64)
