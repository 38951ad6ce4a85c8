"""Which matches have results, and which of those are new: found by counting, without reading what is known again.

Results come in about the order of the schedule, but some come much later, and those of bots that were excluded never.
So there is no number up to which all are there; what is new may be anywhere behind the first gap.
"""

from __future__ import annotations

from array import array

from services.ledger.ledger import Ledger
from services.tournament.standings import MatchNumbers

PART = 500
"""So many numbers are counted together, and read again where the count is another."""


class Arrivals:
    """The matches with numbers of a span that have results, as far as the ledger was when it was asked last."""

    def __init__(self, span: range) -> None:
        self._span = span
        self._numbers = MatchNumbers()
        self._counts: dict[int, int] = {}
        self._first = span.start // PART  # all parts before this one are full

    def __contains__(self, number: object) -> bool:
        return number in self._numbers

    def find(self, ledger: Ledger, tournament: str) -> array[int]:
        """Those that are new, ascending; they are in it from now on. Blocks."""
        while self._counts.get(self._first, 0) == len(self._numbers_in(self._first)) > 0:
            self._first += 1
        new, rest = array("q"), range(max(self._first * PART, self._span.start), self._span.stop)
        counts = ledger.done_counts(tournament, rest, PART) if rest else {}
        for part in sorted(part for part, count in counts.items() if count != self._counts.get(part, 0)):
            before = len(new)
            for number in ledger.done_numbers(tournament, self._numbers_in(part)):
                if number not in self._numbers:
                    self._numbers.add(number)
                    new.append(number)
            self._counts[part] = self._counts.get(part, 0) + len(new) - before
        return new

    def _numbers_in(self, part: int) -> range:
        """The numbers that are counted together as this part."""
        return range(max(part * PART, self._span.start), min((part + 1) * PART, self._span.stop))
