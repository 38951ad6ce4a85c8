"""A ledger that counts what is read from it, and outcomes to put in."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from random import Random

from services.common.matches import DealScore, Ending, MatchOutcome, SeatFaults
from services.ledger.ledger import Ledger
from services.ledger.ranges import Ranges
from services.ledger.values import Result

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


class WatchedLedger:
    """A ledger that counts what is read from it: results, and numbers of matches alone."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.read = 0
        self.numbers = 0

    def __getattr__(self, name: str) -> object:
        return getattr(self._ledger, name)

    def results(self, tournament: str, *, after: int = -1) -> Iterator[Result]:
        """As `Ledger.results`."""
        for result in self._ledger.results(tournament, after=after):
            self.read += 1
            yield result

    def results_of(self, tournament: str, numbers: Collection[int]) -> list[Result]:
        """As `Ledger.results_of`."""
        found = self._ledger.results_of(tournament, numbers)
        self.read += len(found)
        return found

    def done_numbers(self, tournament: str, span: range | None = None) -> Ranges:
        """As `Ledger.done_numbers`."""
        found = self._ledger.done_numbers(tournament, span)
        self.numbers += len(found)
        return found


def make_outcome(number: int, attempt: str = "first") -> MatchOutcome:
    """Two deals that follow from number and attempt."""
    draw = Random(f"{number} {attempt}")
    deals = []
    for deal in range(2):
        emperor, guard = draw.sample(range(5), 2)
        unit = draw.randint(-4, 4)
        points = [-unit] * 5
        points[emperor], points[guard] = 2 * unit, unit
        deals.append(DealScore(deal, tuple(points), (0, 1, 2, 3, 4), emperor, guard, None))
    no_faults = (SeatFaults(),) * 5
    return MatchOutcome(
        "cup", number, f"{attempt}-{number}", Ending.COMPLETED, (), "", tuple(deals), no_faults, 100, NOW, NOW
    )
