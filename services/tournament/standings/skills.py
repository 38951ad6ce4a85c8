"""OpenSkill as a familiar column: every match a game of five, each for itself, ranked by the points of the match. Pure.

Such a rating depends on the order of the games, so it is that of the schedule, whatever the order of the results; and
as bots do not change, nothing drifts (tau = 0). It knows nothing of roles, deals or luck, and points that are far apart
count as much as points that are close: it is there to be compared with other places, not to decide anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from openskill.models import PlackettLuce, PlackettLuceRating

_Game = tuple[tuple[int, ...], tuple[int, ...]]


class Skills:
    """Takes in matches in any order, and rates them in that of their numbers.

    Those up to the first that is missing are rated for good; the few behind it wait, and are rated anew when asked for.
    """

    def __init__(self, entrants: int) -> None:
        from openskill.models import PlackettLuce  # takes a second to load, and no bot author has it

        self._model: PlackettLuce = PlackettLuce(tau=0.0)
        self._ratings: list[PlackettLuceRating] = [self._model.rating() for _ in range(entrants)]
        self._has_played = [False] * entrants
        self.missing = 0  # the first number that has not come
        self._waiting: dict[int, _Game | None] = {}

    def add(self, number: int, entrants: Sequence[int] | None, points: Sequence[int]) -> None:
        """Takes in a match with the points of its seats; without `entrants` it is one that is not rated."""
        self._waiting[number] = None if entrants is None else (tuple(entrants), tuple(points))
        while self.missing in self._waiting:
            game = self._waiting.pop(self.missing)
            self.missing += 1
            if game is not None:
                self._rate(self._ratings, self._has_played, game)

    def ordinals(self) -> list[float | None]:
        """By entrant: three standard deviations below the mean, None without a match."""
        ratings, has_played = list(self._ratings), list(self._has_played)
        for _, game in sorted(self._waiting.items()):
            if game is not None:
                self._rate(ratings, has_played, game)
        return [one.ordinal() if played else None for one, played in zip(ratings, has_played, strict=True)]

    def _rate(self, ratings: list[PlackettLuceRating], has_played: list[bool], game: _Game) -> None:
        entrants, points = game
        teams = self._model.rate([[ratings[entrant]] for entrant in entrants], scores=[float(one) for one in points])
        for entrant, (rating,) in zip(entrants, teams, strict=True):
            ratings[entrant] = rating
            has_played[entrant] = True
