"""What was to be played, as whoever checks a ledger has to be told: a ledger knows no schedules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from services.ledger.final_checks import Recount
from services.ledger.ledger import Ledger
from services.ledger.record_checks import Dealt
from services.ledger.values import Tournament


@dataclass(frozen=True, slots=True)
class Expected:
    """What was to be played: how many matches, and how many deals each."""

    matches: int
    deals: int
    names: Callable[[int], Sequence[str]] | None = None
    """Who was to play a match, by its number and by seat: it may be left out for one that was excluded."""
    decided: Callable[[Ledger], str] | None = None
    """With which message it is finished before all is played, by what the ledger has; empty if it is not. None: it
    never is."""
    dealt: Callable[[int, str], Dealt] | None = None
    """What the cards of a match come from, by its number, in the attempt of this name."""
    qualified: Recount | None = None
    """Who goes on to its final; None if it has none."""


Expectation = Callable[[Tournament], Expected]
"""What says of a tournament what was to be played."""
