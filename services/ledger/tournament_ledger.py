"""The ledger as the director of one tournament needs it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from services.common.matches import MatchOutcome
from services.ledger.ledger import Ledger
from services.ledger.ranges import Ranges
from services.ledger.values import PastAttempt, Rulings, TournamentState


class TournamentLedger:
    """One tournament in the ledger, for its director."""

    def __init__(self, ledger: Ledger, tournament: str) -> None:
        self._ledger = ledger
        self._tournament = tournament

    def done(self) -> Ranges:
        """The numbers of the matches that have a result."""
        return self._ledger.done_numbers(self._tournament)

    def record(self, outcomes: Sequence[MatchOutcome]) -> None:
        """Writes attempts, and results for those that count; all or nothing, and the same attempt twice is one."""
        self._ledger.record(outcomes)

    def set_state(self, state: TournamentState, message: str) -> None:
        """Where the tournament stands, and why. Raises PlatformError STATE_CONFLICT if it is over in another way."""
        allowed = [old for old in TournamentState if old is state or (old.has_begun and not old.is_final)]
        self._ledger.transition(self._tournament, allowed, state, message)

    def rulings(self) -> Rulings:
        """What operators decided in the course of it."""
        return self._ledger.rulings(self._tournament)

    def bench(self, name: str, *, annulled: bool, reason: str) -> None:
        """Excludes a bot, unless it is excluded already: what an operator said stands."""
        self._ledger.exclude(self._tournament, name, annulled=annulled, reason=reason, unless_excluded=True)

    def past_attempts(self, most: int) -> list[PastAttempt]:
        """As `Ledger.past_attempts`."""
        return self._ledger.past_attempts(self._tournament, most)

    def retract(self, number: int, sharing: Collection[int], reason: str) -> bool:
        """As `Ledger.retract`."""
        return self._ledger.retract(self._tournament, number, sharing, reason)
