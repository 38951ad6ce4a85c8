"""Counts what keeps going wrong, so that a tournament stops with a sentence instead of going round for ever."""

from __future__ import annotations

from collections import Counter

from services.common.matches import Ending, MatchOrder, MatchOutcome
from services.tournament.director.limits import Limits


class Strikes:
    """Voids in a row by match, no-shows in a row by bot."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._voids: Counter[int] = Counter()
        self._no_shows: Counter[str] = Counter()

    def forgive(self) -> None:
        """Begin to count anew, after somebody looked at it."""
        self._voids.clear()
        self._no_shows.clear()

    def count(self, order: MatchOrder, outcome: MatchOutcome) -> str:
        """Take an outcome into account; the sentence with which the tournament should pause, or an empty text."""
        if outcome.ending is Ending.NO_SHOW:
            return self._count_no_show(order, outcome)
        if outcome.ending is Ending.VOID:
            return self._count_void(order, outcome)
        self._voids.pop(order.number, None)
        for seat in order.seats:
            self._no_shows.pop(seat.bot_id, None)
        return ""

    def _count_no_show(self, order: MatchOrder, outcome: MatchOutcome) -> str:
        sentence = ""
        for index in outcome.blamed:
            bot = order.seats[index]
            self._no_shows[bot.bot_id] += 1
            if self._no_shows[bot.bot_id] >= self._limits.no_show_limit:
                sentence = (
                    f"{bot.name} did not turn up for {self._no_shows[bot.bot_id]} matches in a row: "
                    "see that it runs and is connected, then resume."
                )
        return sentence

    def _count_void(self, order: MatchOrder, outcome: MatchOutcome) -> str:
        self._voids[order.number] += 1
        if self._voids[order.number] < self._limits.void_limit:
            return ""
        return (
            f"Match {order.number} was void {self._voids[order.number]} times in a row, the last time because: "
            f"{outcome.message} Resume to try again."
        )
