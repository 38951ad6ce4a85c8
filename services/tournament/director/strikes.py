"""Counts what keeps going wrong with a match, so that nothing goes round for ever."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from services.common.matches import Ending, MatchOrder, MatchOutcome
from services.tournament.director.breaker import Benched
from services.tournament.director.limits import Limits


class Strikes:
    """Voids of each match, and of each bot in it how often it did not turn up; a result clears both."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._voids: Counter[int] = Counter()
        self._absences: dict[int, Counter[str]] = {}

    def forgive(self) -> None:
        """Begin to count anew, after somebody looked at it."""
        self._voids.clear()
        self._absences.clear()

    def forgive_match(self, number: int) -> None:
        """The same, for one match."""
        self._voids.pop(number, None)
        self._absences.pop(number, None)

    def count(self, order: MatchOrder, outcome: MatchOutcome) -> str:
        """Take an outcome into account; the sentence with which the tournament should pause, or an empty text.

        What is void is the platform's fault, so nobody is benched for it.
        """
        number = order.number
        if outcome.ending is Ending.VOID:
            self._voids[number] += 1
            if self._voids[number] > self._limits.void_limit:
                return f"Match {number} was void {self._voids[number]} times ({outcome.message}); resume to try again."
        elif outcome.ending.counts:
            self.forgive_match(number)
        return ""

    def absent(self, order: MatchOrder, outcome: MatchOutcome) -> Iterator[Benched]:
        """The bots that have kept the others of this match waiting too often: they play no more."""
        if outcome.ending is not Ending.NO_SHOW:
            return
        absences = self._absences.setdefault(order.number, Counter())
        for seat in outcome.blamed:
            name = order.seats[seat].name
            absences[name] += 1
            if absences[name] == self._limits.no_show_limit + 1:
                yield Benched(
                    name,
                    f"Benched: match {order.number} could not begin because of it {absences[name]} times "
                    f"({outcome.message}).",
                )
                del absences[name]
