"""Who goes on from the pools of a tournament to its final: decided once, and kept in the ledger."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Way(StrEnum):
    """How a place in a final was come by."""

    PLACED = "placed"
    """Among the first of its pool."""
    REST = "rest"
    """The best of those who were not."""
    VACANT = "vacant"
    """Not at all: nobody was left for the place. It has the name of an excluded bot, so its matches are not played."""


@dataclass(frozen=True, slots=True)
class Qualifier:
    """The holder of a place in the final: its name, its pool (from 1 on), its rank in that, and how it came there."""

    name: str
    pool: int
    rank: int
    way: Way

    @property
    def plays(self) -> bool:
        """Whether it has qualified."""
        return self.way is not Way.VACANT
