"""Which match starts next, and at which match service: bots with their tables in few places are cheaper to serve. Pure.

A message costs what it costs, whatever is in it, so what counts is how many tables of a bot share a stream. Where all
services are full but one there is nothing to choose but the match: so the next few that may start are compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from services.common.matches import Entrant

WINDOW = 16
"""So many matches that may start are compared; more would bring little, and mix up the schedule more."""


class Place(Protocol):
    """One match service."""

    @property
    def load(self) -> int:
        """How many matches are on the way there."""
        ...

    def has_all(self, seats: Sequence[Entrant]) -> bool:
        """Whether these bots have streams there."""
        ...

    def acquaintance(self, seats: Sequence[Entrant]) -> int:
        """How many of these bots have a table there already."""
        ...


P = TypeVar("P", bound=Place)


def place(candidates: Sequence[Sequence[Entrant]], places: Sequence[P], bound: int) -> tuple[int, P] | None:
    """Which of these matches starts, by its index, and where; None if there is no room for any. `bound`: of each place.

    A match may go where its bots are, to a place that is not fuller by more than a quarter of the bound than the
    emptiest of those, since one that waits for work helps nobody. Of all such pairs the one is taken in which most bots
    have a table there already; then the emptiest place; then the match that comes first.
    """
    best: tuple[tuple[int, int], int, P] | None = None
    for index, seats in enumerate(candidates):
        free = [one for one in places if one.load < bound and one.has_all(seats)]
        if not free:
            continue
        least = min(one.load for one in free)
        for one in free:
            if one.load > least + bound // 4:
                continue
            key = (one.acquaintance(seats), -one.load)
            if best is None or key > best[0]:
                best = key, index, one
    return None if best is None else best[1:]
