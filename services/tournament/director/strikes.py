"""Counts what keeps going wrong, so that a tournament stops with a sentence instead of going round for ever."""

from __future__ import annotations

from collections import Counter

from services.common.matches import Ending, MatchOrder, MatchOutcome
from services.tournament.director.limits import Limits


class Strikes:
    """Voids and no-shows of each match since it was last looked at; a result clears both."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._voids: Counter[int] = Counter()
        self._no_shows: Counter[int] = Counter()

    def forgive(self) -> None:
        """Begin to count anew, after somebody looked at it."""
        self._voids.clear()
        self._no_shows.clear()

    def forgive_match(self, number: int) -> None:
        """The same, for one match."""
        self._voids.pop(number, None)
        self._no_shows.pop(number, None)

    def count(self, order: MatchOrder, outcome: MatchOutcome) -> str:
        """Take an outcome into account; the sentence with which the tournament should pause, or an empty text."""
        number = order.number
        if outcome.ending is Ending.NO_SHOW:
            self._no_shows[number] += 1
            if self._no_shows[number] > self._limits.no_show_limit:
                names = " and ".join(order.seats[seat].name for seat in outcome.blamed)
                return (
                    f"Match {number} could not begin, {self._no_shows[number]} times, because of {names} "
                    f"({outcome.message}): see to it, then resume."
                )
        elif outcome.ending is Ending.VOID:
            self._voids[number] += 1
            if self._voids[number] > self._limits.void_limit:
                return f"Match {number} was void {self._voids[number]} times ({outcome.message}); resume to try again."
        else:
            self._voids.pop(number, None)
            self._no_shows.pop(number, None)
        return ""
