"""One match service as its director keeps account of it: what it has, and who sits there."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence

from services.common.matches import Entrant, MatchOrder
from services.tournament.director.ports import MatchServicePort

IDLE_PART = 16
"""One match in so many may be over and wait a moment, so that outcomes come together: a call, and a transaction, costs
as much for one as for many."""


class Lane:
    """The orders on the way at one match service, by attempt, and the bots in them.

    `missing` are the bots without a stream there: their matches go elsewhere, or wait; None before it is known.
    """

    def __init__(self, port: MatchServicePort) -> None:
        self.port = port
        self.missing: frozenset[str] | None = None
        self.running: dict[str, MatchOrder] = {}
        self.outgoing: list[MatchOrder] = []
        self.wake = asyncio.Event()
        self.doubt = asyncio.Event()  # somebody did not turn up: who has a stream here is to be asked again
        self._tables: Counter[str] = Counter()

    def assign(self, order: MatchOrder) -> None:
        """The order goes out with the next batch."""
        self.running[order.attempt] = order
        self.outgoing.append(order)
        self._tables.update(seat.bot_id for seat in order.seats)
        self.wake.set()

    def release(self, attempt: str) -> MatchOrder | None:
        """The attempt is over; its order, or None where it is not, or no longer, on the way here."""
        order = self.running.pop(attempt, None)
        if order is not None:
            self._tables.subtract(seat.bot_id for seat in order.seats)
        return order

    def take_outgoing(self) -> list[MatchOrder]:
        """What has to be sent."""
        orders, self.outgoing = self.outgoing, []
        self.wake.clear()
        return orders

    def lose(self) -> list[MatchOrder]:
        """The match service is gone, and all it had with it: those orders."""
        lost = list(self.running.values())
        self.missing = None
        self.running.clear()
        self.take_outgoing()
        self._tables.clear()
        return lost

    @property
    def enough(self) -> int:
        """How many outcomes are worth a call; with few matches on the way, one."""
        return max(1, len(self.running) // IDLE_PART)

    @property
    def is_complete(self) -> bool:
        """Whether every bot of the tournament has a stream there."""
        return self.missing is not None and not self.missing

    @property
    def load(self) -> int:
        """How many matches are on the way there."""
        return len(self.running)

    def has_all(self, seats: Sequence[Entrant]) -> bool:
        """Whether these bots have streams there."""
        missing = self.missing
        return missing is not None and (not missing or missing.isdisjoint(seat.bot_id for seat in seats))

    def acquaintance(self, seats: Sequence[Entrant]) -> int:
        """How many of these bots play here already."""
        return sum(self._tables[seat.bot_id] > 0 for seat in seats if not seat.is_house)
