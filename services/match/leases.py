"""Which director may speak for a tournament at a match service: the one that began last.

A director that was killed, or has just ended, may have calls on the way; they must not take what belongs to the next.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from services.common.errors import PlatformError, Reason


class Leases:
    """The leases of one life of a match service: `incarnation` is another one after every restart."""

    def __init__(self, name: str, incarnation: str) -> None:
        self._name = name
        self._incarnation = incarnation
        self._numbers = itertools.count(1)
        self._held: dict[str, str] = {}

    def grant(self, tournament: str) -> str:
        """A director begins: its lease, which ends the one before."""
        lease = self._held[tournament] = f"{self._incarnation}/{next(self._numbers)}"
        return lease

    def verify(self, lease: str, tournaments: Iterable[str]) -> None:
        """Raises PlatformError UNREACHABLE unless the lease still holds for all these tournaments."""
        self.verify_life(lease)
        if any(self._held.get(tournament) != lease for tournament in tournaments):
            raise PlatformError(Reason.UNREACHABLE, f"Another director has begun at {self._name}.", name=self._name)

    def verify_life(self, lease: str) -> None:
        """Raises PlatformError UNREACHABLE if the lease is from before a restart: a restart is never overlooked."""
        if lease.rpartition("/")[0] != self._incarnation:
            raise PlatformError(Reason.UNREACHABLE, f"The match service {self._name} was restarted.", name=self._name)
