"""What a seat was in a deal, and what an entrant made of each of these roles. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

from bots_sdk.rules.cards import SEATS
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


AGAINST_SOLO = len(Role)
"""The kind of a rebel against an emperor alone, which has another usual result than one against two."""
KINDS = len(Role) + 1
NO_KIND = -1
"""Nobody was anything in a deal that was void for good."""


def kinds_of(deal: DealScore) -> tuple[int, ...]:
    """By seat: the role it had, or `AGAINST_SOLO`, or `NO_KIND`."""
    return _kinds_of(deal.emperor, deal.guard, deal.solo is not None)


@lru_cache(maxsize=128)
def _kinds_of(emperor: int | None, guard: int | None, is_alone: bool) -> tuple[int, ...]:
    if emperor is None:
        return (NO_KIND,) * SEATS
    kinds = [AGAINST_SOLO if is_alone else int(Role.REBEL)] * SEATS
    if guard is not None and not is_alone:
        kinds[guard] = Role.GUARD
    kinds[emperor] = Role.SOLO if is_alone else Role.EMPEROR
    return tuple(kinds)
