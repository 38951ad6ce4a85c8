"""Finished matches, kept until the director has confirmed that they are in the ledger. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from services.common.matches import MatchOutcome


@dataclass(slots=True)
class _Inbox:
    last: int = 0
    outcomes: deque[tuple[int, MatchOutcome]] = field(default_factory=deque)


class Inboxes:
    """One numbered queue of outcomes per tournament; `on_put` is called after each one that comes in."""

    def __init__(self) -> None:
        self.on_put: Callable[[str], None] = lambda tournament: None
        self._inboxes: dict[str, _Inbox] = {}

    def put(self, outcome: MatchOutcome, match_service: str) -> None:
        """An outcome comes in; it is marked with the match service it comes from."""
        inbox = self._inboxes.setdefault(outcome.tournament, _Inbox())
        inbox.last += 1
        inbox.outcomes.append((inbox.last, replace(outcome, match_service=match_service)))
        self.on_put(outcome.tournament)

    def unconfirmed(self, tournament: str, confirmed: int) -> list[tuple[int, MatchOutcome]]:
        """Everything after number `confirmed`; what is up to it is forgotten."""
        inbox = self._inboxes.get(tournament)
        if inbox is None:
            return []
        while inbox.outcomes and inbox.outcomes[0][0] <= confirmed:
            inbox.outcomes.popleft()
        return list(inbox.outcomes)

    def count(self, tournament: str, confirmed: int) -> int:
        """How many are after number `confirmed`."""
        inbox = self._inboxes.get(tournament)
        return 0 if inbox is None else min(len(inbox.outcomes), inbox.last - confirmed)

    def forget(self, tournament: str) -> None:
        """The tournament is over here; its next outcome is number 1 again."""
        self._inboxes.pop(tournament, None)
