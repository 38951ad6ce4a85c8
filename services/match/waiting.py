"""Orders that wait until their bots are here with a free table. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from services.common.matches import MatchOrder

RESERVE_AFTER = 5.0
"""After so many seconds an order holds tables of its bots, so that later orders cannot starve it."""


ABSENT = -1
"""What `FreeTables` says of a bot that is not here."""

FreeTables = Callable[[str], int]
"""How many tables a bot has free, or `ABSENT`."""


@dataclass(slots=True)
class WaitingOrder:
    """One order, since when it waits, and how many tables it needs of each remote bot."""

    order: MatchOrder
    since: float
    needs: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        self.needs = {}
        for entrant in self.order.seats:
            if not entrant.is_house:
                self.needs[entrant.bot_id] = self.needs.get(entrant.bot_id, 0) + 1


class WaitingRoom:
    """Orders in the order they came; at most one per attempt."""

    def __init__(self) -> None:
        self._waiting: dict[str, WaitingOrder] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, attempt: object) -> bool:
        return attempt in self._waiting

    def add(self, order: MatchOrder, now: float) -> None:
        """An order comes in; the same attempt twice is one."""
        self._waiting.setdefault(order.attempt, WaitingOrder(order, now))

    def remove(self, tournament: str) -> list[MatchOrder]:
        """Takes out every order of a tournament."""
        gone = [waiting.order for waiting in self._waiting.values() if waiting.order.tournament == tournament]
        for order in gone:
            del self._waiting[order.attempt]
        return gone

    def clear(self) -> list[MatchOrder]:
        """Takes out everything."""
        gone = [waiting.order for waiting in self._waiting.values()]
        self._waiting.clear()
        return gone

    def take_seatable(self, free_tables: FreeTables, now: float) -> Iterator[MatchOrder]:
        """Takes out the orders that can be seated.

        `free_tables` is asked anew for every order: the caller seats each one before it asks for the next.
        """
        held: Counter[str] = Counter()
        for attempt, waiting in list(self._waiting.items()):
            free = {bot: free_tables(bot) for bot in waiting.needs}
            lacking = [bot for bot, needed in waiting.needs.items() if free[bot] - held[bot] < needed]
            if not lacking:
                del self._waiting[attempt]
                yield waiting.order
            elif (
                now - waiting.since > RESERVE_AFTER and ABSENT not in free.values() and not any(map(held.get, lacking))
            ):
                # The first that waits for those bots. Those behind it keep nobody: it would be for a slow bot's sake.
                held.update(waiting.needs)

    def take_hopeless(
        self, free_tables: FreeTables, absent_since: Mapping[str, float], now: float
    ) -> Iterator[tuple[MatchOrder, tuple[int, ...]]]:
        """Takes out the orders whose bots stayed away longer than the order's own limit, with the seats to blame.

        `absent_since` says when a bot's last stream ended; a bot never seen is away since the order came.
        """
        for attempt, waiting in list(self._waiting.items()):
            limit = waiting.order.clock.ready.total_seconds()
            blamed = tuple(
                seat
                for seat, entrant in enumerate(waiting.order.seats)
                if not entrant.is_house
                and free_tables(entrant.bot_id) == ABSENT
                and now - max(waiting.since, absent_since.get(entrant.bot_id, waiting.since)) > limit
            )
            if blamed:
                del self._waiting[attempt]
                yield waiting.order, blamed
