"""What a seat was in a deal, and what an entrant made of each of these roles. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from services.common.matches import DealScore


class Role(IntEnum):
    """The four ways of playing a deal; the values are places in rows of numbers."""

    EMPEROR = 0
    """The emperor who has a guard."""
    GUARD = 1
    REBEL = 2
    """Whoever plays against the emperor, with or without a guard."""
    SOLO = 3
    """The emperor who plays alone, openly or not."""

    @property
    def label(self) -> str:
        """The role in one lower-case word."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class RoleStanding:
    """What an entrant made of one role, in the deals that count: mean per deal, and its 95 % interval.

    `low` and `high` are None with too few blocks, by the rules of the whole table. What is paid for a fault is in the
    role in which it was made.
    """

    role: Role
    deals: int
    blocks: int
    points_per_deal: float
    low: float | None
    high: float | None


def role_of(deal: DealScore, seat: int) -> Role | None:
    """What the seat was in a deal that ended; None in one that was void for good, where nobody was anything."""
    if deal.emperor is None:
        return None
    if deal.solo is not None:
        return Role.SOLO if seat == deal.emperor else Role.REBEL
    if seat == deal.emperor:
        return Role.EMPEROR
    return Role.GUARD if seat == deal.guard else Role.REBEL
