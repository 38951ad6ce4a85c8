"""All that a table shows, as one fold over the matches that count: the order of the matches changes nothing. Pure.

A long tournament is not read again for every result: what has been taken in stays, and what is new is added. The state
is nothing but the matches that went in, so a fold over all of them at once says the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from services.common.matches import FaultRules
from services.tournament.standings.datum import Datum
from services.tournament.standings.rating import Rating
from services.tournament.standings.skill_marks import SkillMarks
from services.tournament.standings.table import StandingsTable
from services.tournament.standings.values import Order, PlayedMatch, Standing

FRESH = 200
"""While results come in, ratings are computed again when there is one more for every so many."""


class StandingsFold:
    """Means, roles, ratings and OpenSkill of one tournament; matches come in any order."""

    def __init__(
        self,
        names: Sequence[str],
        *,
        beans: bool = False,
        titles: bool = False,
        faults: FaultRules | None = None,
        bean_unit: int = 1,
        datum: Datum | None = None,
    ) -> None:
        """As for `StandingsTable`."""
        self._names = tuple(names)
        self._table = StandingsTable(names, beans=beans, titles=titles, faults=faults, bean_unit=bean_unit, datum=datum)
        self._skills = SkillMarks(len(self._names))
        self._rated = 0
        self._ratings: dict[str, tuple[Rating | None, float | None]] = {}

    def __contains__(self, number: object) -> bool:
        """Whether the match with this number is in it."""
        return number in self._table.numbers

    def __len__(self) -> int:
        """How many matches are in it."""
        return len(self._table.numbers)

    def add(self, match: PlayedMatch) -> None:
        """Takes in one match that counts. Raises ValueError as `StandingsTable.add` does."""
        self._table.add(match)
        self._skills.note(match.number)

    def standings(self, order: Order = Order.POINTS, *, moving: bool = False) -> list[Standing]:
        """The whole table, best first.

        With `moving`, when the next results are near, ratings may be those of a moment ago: of all matches in it but
        one in `FRESH`.
        """
        lines = self._table.standings(order)
        new = len(self) - self._rated
        if not self._ratings or (new and (not moving or new * FRESH >= len(self))):
            ordinals = self._skills.ordinals(self._table.games)
            self._ratings = dict(zip(self._names, zip(self._table.ratings(), ordinals, strict=True), strict=True))
            self._rated = len(self)
        return [
            replace(line, rating=self._ratings[line.name][0], openskill=self._ratings[line.name][1]) for line in lines
        ]
