"""What standings are made from, and what they say."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from services.common.matches import DealScore, SeatFaults
from services.tournament.standings.rating import Rating
from services.tournament.standings.roles import RoleStanding


class Order(Enum):
    """What comes first in the table."""

    POINTS = auto()
    BEANS = auto()


@dataclass(frozen=True, slots=True)
class PlayedMatch:
    """One match that counts. `group` as the schedule has it (matches of one group share their deals); `entrants` are
    indices by seat, `deals` and `faults` as in the outcome.
    """

    number: int
    group: int
    entrants: tuple[int, int, int, int, int]
    deals: tuple[DealScore, ...]
    faults: tuple[SeatFaults, SeatFaults, SeatFaults, SeatFaults, SeatFaults]


@dataclass(frozen=True, slots=True)
class Standing:
    """One line of the table. `low` and `high` are the 95 % interval of `points_per_deal`, None with too few blocks.

    Of the `deals` an entrant played, `counted` are in its mean; the others were spoiled by somebody else and left out.
    Without a deal `points_per_deal` is 0 and the entrant comes last. `takeovers`: matches in which a house bot took
    over. `spoiled` are the deals in which the platform decided for it, `points_paid` what was taken off for faults.
    `points` are those of all counted deals together, less what was paid; `title` goes with them, empty without titles.
    `beans` are those of the same deals, with mean, interval and `beans_paid` as for points; None where nothing is
    settled in beans. Where deals are compared with a datum, means and intervals are of what was made against it,
    `points` and `beans` of what was played. `roles` has what it made as emperor, guard, rebel and solo, as far as
    it was any of them. `rating` and `openskill` are None in a table without ratings. `pool` counts from 1, 0 where
    there are none.
    """

    rank: int
    name: str
    points_per_deal: float
    low: float | None
    high: float | None
    matches: int
    deals: int
    blocks: int
    timeouts: int
    illegal_answers: int
    disconnects: int
    takeovers: int
    points: int = 0
    title: str = ""
    beans: int | None = None
    beans_per_deal: float | None = None
    beans_low: float | None = None
    beans_high: float | None = None
    counted: int = 0
    spoiled: int = 0
    points_paid: int = 0
    beans_paid: int | None = None
    roles: tuple[RoleStanding, ...] = ()
    rating: Rating | None = None
    openskill: float | None = None
    pool: int = 0

    @property
    def faults(self) -> int:
        """Timeouts, illegal answers and takeovers; a disconnect that cost no decision is no fault."""
        return self.timeouts + self.illegal_answers + self.takeovers
