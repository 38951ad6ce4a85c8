"""OpenSkill as a familiar column: every match a game of five, each for itself, ranked by the points of the match. Pure.

Such a rating depends on the order of the games, so it is that of the schedule, whatever the order of the results; and
as bots do not change, nothing drifts (tau = 0). It knows nothing of roles, deals or luck, and points that are far apart
count as much as points that are close: it is there to be compared with other places, not to decide anything.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from openskill.models import PlackettLuce, PlackettLuceRating

Game = tuple[tuple[int, ...], tuple[int, ...]]
"""Entrants and points of a match, by seat."""


class Skills:
    """The ratings after some games, one after another."""

    def __init__(self, entrants: int) -> None:
        from openskill.models import PlackettLuce  # takes a second to load, and no bot author has it

        self._model: PlackettLuce = PlackettLuce(tau=0.0)
        self._ratings: list[PlackettLuceRating] = [self._model.rating() for _ in range(entrants)]
        self._has_played = [False] * entrants

    def add(self, games: Iterable[Game]) -> None:
        """Rates the next games for good."""
        for game in games:
            self._rate(self._ratings, self._has_played, game)

    def ordinals(self, waiting: Iterable[Game] = ()) -> list[float | None]:
        """By entrant: three standard deviations below the mean, None without a match.

        Games that wait for one before them are rated for now, and anew the next time.
        """
        ratings, has_played = list(self._ratings), list(self._has_played)
        for game in waiting:
            self._rate(ratings, has_played, game)
        return [one.ordinal() if played else None for one, played in zip(ratings, has_played, strict=True)]

    def _rate(self, ratings: list[PlackettLuceRating], has_played: list[bool], game: Game) -> None:
        entrants, points = game
        teams = self._model.rate([[ratings[entrant]] for entrant in entrants], scores=[float(one) for one in points])
        for entrant, (rating,) in zip(entrants, teams, strict=True):
            ratings[entrant] = rating
            has_played[entrant] = True
