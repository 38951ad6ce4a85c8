"""Writes outcomes to the ledger in batches, one batch at a time, and waits out a ledger that cannot be written."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from services.common.errors import PlatformError, Reason
from services.common.matches import MatchOutcome
from services.tournament.director.limits import Retries
from services.tournament.director.ports import LedgerPort

_log = logging.getLogger(__name__)

_PASSING = frozenset({Reason.LEDGER_UNWRITABLE, Reason.LEDGER_LOCKED, Reason.LEDGER_UNREACHABLE})
"""What may pass by itself: room is made on the disk, another process lets the ledger go, its server comes back."""


class Writer:
    """The one way from a director into its ledger.

    Outcomes gather while a batch is written; `stalled` says in one sentence why nothing can be written now, or is
    empty.
    """

    def __init__(self, ledger: LedgerPort, retries: Retries, on_change: Callable[[], None]) -> None:
        self.stalled = ""
        self._ledger = ledger
        self._retries = retries
        self._on_change = on_change
        self._waiting: list[tuple[MatchOutcome, asyncio.Future[None]]] = []
        self._wake = asyncio.Event()

    def put(self, outcome: MatchOutcome) -> asyncio.Future[None]:
        """Write it; the future is done once it is on the disk."""
        written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((outcome, written))
        self._wake.set()
        return written

    async def run(self) -> None:
        """Write what is put, until cancelled; raises what cannot pass by itself."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            batch, self._waiting = self._waiting, []
            outcomes = [outcome for outcome, _ in batch]
            await self.insist(lambda outcomes=outcomes: self._ledger.record(outcomes))  # type: ignore[misc]
            for _, written in batch:
                if not written.done():
                    written.set_result(None)

    async def insist(self, write: Callable[[], None]) -> None:
        """Do it in a thread, again and again while the ledger is full or locked; other errors are raised."""
        while True:
            try:
                await asyncio.to_thread(write)
            except PlatformError as error:
                if error.reason not in _PASSING:
                    raise
                _log.warning("ledger stalled: %s", error.message)
                self._stall(f"Nothing new is handed out, finished matches are kept: {error.message} {error.next_step}")
                await asyncio.sleep(self._retries.next())
            else:
                self._retries.reset()
                self._stall("")
                return

    def _stall(self, reason: str) -> None:
        if reason != self.stalled:
            self.stalled = reason
            self._on_change()
