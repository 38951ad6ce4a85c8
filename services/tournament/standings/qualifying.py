"""Who goes on from pools to a final, by the tables of the pools. Pure.

The better mean per deal goes first, as an exact fraction, as it is in the table; of equal means the one with fewer
faults, and if these are equal too the lot decides. So no two are ever equal, and nothing depends on the order of
results. The first of each pool have places; those left over are compared across the pools in the same way. Excluded
bots have ranks, as in the table, and no places: the next of the pool comes up, and where there is none in it, the best
of the others. Only when nobody at all is left does a place stay vacant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from services.common.qualifiers import Qualifier, Way


@dataclass(frozen=True, slots=True)
class PoolMember:
    """One bot of a pool when all of that is played. `mean` are points per deal, None without a deal."""

    name: str
    pool: int
    mean: Fraction | None
    faults: int
    lot: bytes
    is_excluded: bool = False

    @property
    def place(self) -> tuple[bool, Fraction, int, bytes]:
        """Less is better."""
        return self.mean is None, Fraction(0) if self.mean is None else -self.mean, self.faults, self.lot


def qualify(members: Sequence[PoolMember], advance: int, places: int) -> tuple[Qualifier, ...]:
    """The holders of so many places, the first `advance` of each pool before the rest.

    Raises:
        ValueError: there are fewer members than places.
    """
    if len(members) < places:
        raise ValueError(f"{len(members)} bots for {places} places.")
    ordered = sorted(members, key=lambda member: member.place)
    ranks, taken = Counter[int](), Counter[int]()
    placed: list[Qualifier] = []
    rest: list[Qualifier] = []
    vacant: list[Qualifier] = []
    for member in ordered:
        ranks[member.pool] += 1
        rank = ranks[member.pool]
        if member.is_excluded:
            vacant.append(Qualifier(member.name, member.pool, rank, Way.VACANT))
        elif taken[member.pool] < advance:
            taken[member.pool] += 1
            placed.append(Qualifier(member.name, member.pool, rank, Way.PLACED))
        else:
            rest.append(Qualifier(member.name, member.pool, rank, Way.REST))
    return tuple([*placed, *rest, *vacant][:places])
