"""OpenSkill in the order of the schedule, over games that come in another. Pure.

A game that comes late changes the rating after every game behind it, so those are rated again, and no others: what
ratings were is kept at marks, which are close together where results come in and ever farther apart the longer ago.
Most games come late by as many as are played at once. One that is played for hours costs nothing until it comes, and
one that never comes costs nothing at all.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from services.tournament.standings.skills import Game, Skills

APART = 50
"""Games between two marks, where they are closest."""

Games = Callable[[range], Iterable[tuple[int, Game]]]
"""The games there are with numbers in a range, each with its number, ascending."""


@dataclass(frozen=True, slots=True)
class _Mark:
    """What the ratings are when all games with numbers below `below` are in them, of which there are `games`."""

    below: int
    games: int
    skills: Skills


class SkillMarks:
    """The ratings after all games there are.

    For n games that have been rated there are marks for the logarithm of n; a late game that had d games behind it
    takes at most 2 d + `APART` games to rate.
    """

    def __init__(self, entrants: int) -> None:
        self._marks = [_Mark(0, 0, Skills(entrants))]

    def note(self, number: int) -> None:
        """There is another match, with this number from 0 on: what has been rated behind it does not hold any more."""
        while self._marks[-1].below > number:
            self._marks.pop()

    def ordinals(self, games: Games) -> list[float | None]:
        """By entrant, as `Skills.ordinals`."""
        last = self._marks[-1]
        skills, below, count = last.skills.copy(), last.below, last.games
        for number, game in games(range(below, sys.maxsize)):
            skills.add(game)
            below, count = number + 1, count + 1
            if count % APART == 0:
                self._mark(_Mark(below, count, skills.copy()))
        if count > self._marks[-1].games:
            self._mark(_Mark(below, count, skills))
        return skills.ordinals()

    def _mark(self, mark: _Mark) -> None:
        """Sets a mark, and takes away those that have their neighbours close enough, for how far behind they are."""
        kept, marks = [mark], self._marks
        for at in range(len(marks) - 1, 0, -1):
            if mark.games - marks[at - 1].games > 2 * (mark.games - kept[-1].games) + APART:
                kept.append(marks[at])
        kept.append(marks[0])
        self._marks = kept[::-1]
