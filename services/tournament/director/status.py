"""Where a running tournament stands, as its director tells it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from services.ledger.values import TournamentState

FINAL = frozenset({TournamentState.PAUSED, TournamentState.FINISHED, TournamentState.CANCELLED})
"""States in which a director has nothing more to do."""


@dataclass(frozen=True, slots=True)
class DirectorStatus:
    """A snapshot. `version` grows with every change.

    `matches_done` have a result in the ledger, `matches_running` are on the way, `matches_left_out` were found
    not to be played since a bot in them is excluded; `missing` are the names of bots that are waited for.
    """

    version: int
    state: TournamentState
    message: str
    matches: int
    matches_done: int = 0
    matches_running: int = 0
    missing: tuple[str, ...] = ()
    matches_left_out: int = 0


class Board:
    """Where the newest snapshot hangs, and where one waits for the next."""

    def __init__(self, matches: int) -> None:
        self.current = DirectorStatus(1, TournamentState.RUNNING, "", matches)
        self._changed = asyncio.Event()

    def put(self, status: DirectorStatus) -> None:
        """Hang up a snapshot; its version is set here, and one that says nothing new is left out."""
        if replace(status, version=self.current.version) != self.current:
            self.current = replace(status, version=self.current.version + 1)
            self._changed.set()
            self._changed = asyncio.Event()

    async def see(self, known: int, wait: float) -> DirectorStatus:
        """The newest snapshot; if it is still version `known`, after a change or `wait` seconds, whichever is first."""
        if self.current.version == known:
            try:
                async with asyncio.timeout(wait):
                    await self._changed.wait()
            except TimeoutError:
                pass
        return self.current
