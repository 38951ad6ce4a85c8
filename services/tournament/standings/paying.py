"""What a bot gets for a deal in which it was at fault: the rules of the key `faults` in a tournament file. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from bots_sdk.rules.cards import SEATS
from bots_sdk.rules.options import Options
from services.common.matches import DealScore, FaultRules, FaultScore


def bean_unit(options: Options) -> int:
    """What one point is worth in beans at the lowest stakes: the room's factor times those of the five seats.

    A rebel who loses a point in a deal that nobody doubled loses so many (rules 7.3).
    """
    return int(options.room * options.stakes[0] ** SEATS)


@dataclass(frozen=True, slots=True)
class Paid:
    """What is taken off one seat for its faults in one deal: points, and beans if the deal has any; never below 0."""

    points: int
    beans: int = 0


NOTHING = Paid(0)


def paid_by(seat: int, deal: DealScore, rules: FaultRules, unit: int, against: tuple[int, int] | None = None) -> Paid:
    """What a seat pays for a deal; `unit` are the beans of one point.

    `against` are points and beans as they compare with others, rounded up, where that is what counts and not what was
    played: to forfeit a deal with a bad hand must not be better than to play it.

    By `penalty` every fault costs, and a deal that was spoiled without a new fault, as by a house bot that has taken
    over, costs as much as one. By `forfeit` a spoiled deal is worth the forfeit, or what was played less a penalty if
    that is worse: a deal that is lost already must not be free to spoil, since the others lose theirs by it.
    """
    spoils = seat in deal.spoiled
    if rules.score is FaultScore.PENALTY:
        owed = rules.penalty * max(deal.faults[seat], spoils)
        return Paid(owed, owed * unit) if owed else NOTHING
    if rules.score is FaultScore.FORFEIT and spoils:
        points, beans = against or (deal.points[seat], deal.beans[seat] if deal.beans is not None else 0)
        return Paid(
            max(rules.penalty, points + rules.forfeit),
            max(rules.penalty * unit, beans + rules.forfeit * unit),
        )
    return NOTHING
