"""Takes bots out of a tournament that keep failing: by the breaker, or for not turning up at one match too often."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from functools import partial

from services.common.matches import Entrant, MatchOrder, MatchOutcome
from services.common.metrics import TournamentMetrics
from services.ledger.values import PastAttempt
from services.tournament.director.breaker import Benched, Breaker
from services.tournament.director.limits import Limits
from services.tournament.director.ports import LedgerPort
from services.tournament.director.writer import Writer

_log = logging.getLogger(__name__)

RECALLED = 10_000
"""So many attempts back a director that begins looks for failures in a row: seconds of work, and the last hours of a
fast tournament."""

FEWEST = 5
"""Entrants without whom nothing can be played."""


class Bench:
    """Who is to be benched, until it is in the ledger; `among` is that of `Fixtures`."""

    def __init__(
        self,
        limits: Limits,
        among: Callable[[str], Collection[str]],
        ledger: LedgerPort,
        writer: Writer,
        metrics: TournamentMetrics,
    ) -> None:
        self._rule = limits.breaker
        self._breaker = Breaker(limits.breaker)
        self._among = among
        self._ledger = ledger
        self._writer = writer
        self._metrics = metrics
        self._waiting: asyncio.Queue[Benched] = asyncio.Queue()
        self._recalled: set[str] = set()

    def count(self, order: MatchOrder, outcome: MatchOutcome) -> None:
        """Take an outcome into account."""
        for benched in self._breaker.count(order, outcome):
            self._waiting.put_nowait(benched)

    def put(self, benched: Iterable[Benched]) -> None:
        """Bench these as well."""
        for one in benched:
            self._waiting.put_nowait(one)

    async def recall(self, seats: Callable[[int], Sequence[Entrant]]) -> None:
        """Count what the ledger has of failures: a restart, which is no doing of a bot's, gives it no new start.

        Whoever had failed too often when the director before was killed is benched now.
        """
        if self._rule is None:
            return

        def count(attempts: Sequence[PastAttempt]) -> list[Benched]:
            return [one for past in attempts for one in self._breaker.recall(seats(past.number), past)]

        counted = await asyncio.to_thread(lambda: count(self._ledger.past_attempts(RECALLED)))
        found = [one for one in counted if self._breaker.is_due(one.name)]  # and not who has played well since
        self._recalled = {one.name for one in found}
        self.put(found)

    async def run(
        self, excluded: Callable[[], frozenset[str]], heed: Callable[[], Awaitable[bool]], pause: Callable[[str], bool]
    ) -> None:
        """Exclude who has failed too often, in the ledger first: what is not there did not happen.

        Where too few would be left to play on, in its pool or in the final as in all of a tournament, it pauses
        instead: nothing more would be played there, and it is for people to say what is to become of that.
        Whoever goes on after such a pause has said so.
        """
        annulled = self._rule is not None and self._rule.annulled
        while True:
            benched = await self._waiting.get()
            out = excluded() | {benched.name}
            if benched.name in excluded():
                continue
            among = self._among(benched.name)
            if among and len(frozenset(among) - out) < FEWEST:
                if benched.name not in self._recalled:
                    left = f"Without {benched.name} too few would be left to play on"
                    pause(f"{left}. {benched.reason} See to it, then resume.")
                self._recalled.discard(benched.name)
                continue
            write = partial(self._ledger.bench, benched.name, annulled=annulled, reason=benched.reason)
            await self._writer.insist(write)
            self._metrics.bots_benched += 1
            _log.warning("%s: %s", benched.name, benched.reason)
            await heed()
