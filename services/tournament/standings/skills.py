"""OpenSkill as a familiar column: every match a game of five, each for itself, ranked by the points of the match. Pure.

Such a rating depends on the order of the games, so it is that of the schedule, whatever the order of the results; and
as bots do not change, nothing drifts (tau = 0). It knows nothing of roles, deals or luck, and points that are far apart
count as much as points that are close: it is there to be compared with other places, not to decide anything.
"""

from __future__ import annotations

from copy import copy
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

    def add(self, game: Game) -> None:
        """Rates the next game."""
        entrants, points = game
        before = [[self._ratings[entrant]] for entrant in entrants]
        teams = self._model.rate(before, scores=[float(one) for one in points])
        for entrant, (rating,) in zip(entrants, teams, strict=True):
            self._ratings[entrant] = rating
            self._has_played[entrant] = True

    def copy(self) -> Skills:
        """The same for now, from which to go on by another way; ratings themselves are shared, as they never change."""
        other = copy(self)
        other._ratings, other._has_played = self._ratings.copy(), self._has_played.copy()
        return other

    def ordinals(self) -> list[float | None]:
        """By entrant: three standard deviations below the mean, None without a match."""
        return [one.ordinal() if played else None for one, played in zip(self._ratings, self._has_played, strict=True)]
