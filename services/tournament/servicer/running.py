"""One running tournament as the desk follows it: its director, what it last said, and who waits for news."""

from __future__ import annotations

import asyncio
import logging
from typing import Protocol

from services.common.errors import PlatformError
from services.common.targets import Target
from services.tournament.director import FINAL, DirectorStatus

_log = logging.getLogger(__name__)

POLL = 20.0
"""Seconds one question for news may wait for its answer."""

PACE = 0.25
"""Seconds between two questions: what changes faster nobody can read."""

REACH = 0.5
"""Seconds until a director that was lost is asked again; Ray needs one or two to restart it."""


class DirectorLost(Exception):
    """A director does not answer: it died and is being started again."""


class DirectorPort(Protocol):
    """A director somewhere. Every call may raise `DirectorLost`, and is then to be tried again."""

    async def target(self) -> Target:
        """Where its metrics are."""
        ...

    async def status(self, known: int, wait: float) -> DirectorStatus:
        """As `Director.status`."""
        ...

    async def pause(self, reason: str) -> bool:
        """As `Director.pause`."""
        ...

    async def resume(self) -> bool:
        """As `Director.resume`."""
        ...

    async def cancel(self) -> bool:
        """As `Director.cancel`."""
        ...

    async def heed(self) -> bool:
        """As `Director.heed`."""
        ...

    async def requeue(self, number: int, reason: str) -> bool:
        """As `Director.requeue`."""
        ...

    async def suspend(self, grace: float) -> bool:
        """As `Director.suspend`."""
        ...

    def close(self) -> None:
        """It is not needed any more."""
        ...


class RunningTournament:
    """Follows one director until it has come to an end."""

    def __init__(self, name: str, director: DirectorPort) -> None:
        self.name = name
        self.director = director
        self.status: DirectorStatus | None = None
        self.target: Target | None = None
        self.fault = ""
        self._news = asyncio.Event()
        self._ended = asyncio.Event()

    async def follow(self) -> None:
        """Ask for news until there will be none; `fault` says then if it could not even begin."""
        known = 0
        try:
            while True:
                try:
                    if self.target is None:
                        self.target = await self.director.target()
                    self.status = await self.director.status(known, POLL)
                except DirectorLost as lost:
                    _log.warning("director of %s lost: %s", self.name, lost)
                    known, self.target = 0, None
                    await asyncio.sleep(REACH)
                    continue
                known = self.status.version
                self._tell()
                if self.status.state in FINAL:
                    return
                await asyncio.sleep(PACE)
        except PlatformError as error:
            self.fault = f"{error.message} {error.next_step}"
        finally:
            self.director.close()

    def end(self) -> None:
        """Everything about it is in the ledger now."""
        self._ended.set()
        self._tell()

    @property
    def has_ended(self) -> bool:
        """Whether its director has come to an end and everything is in the ledger."""
        return self._ended.is_set()

    async def wait_for_news(self) -> None:
        """Until it has said something new, or has ended."""
        if not self._ended.is_set():
            await self._news.wait()

    async def wait_for_end(self) -> None:
        """Until its director has come to an end and everything is in the ledger."""
        await self._ended.wait()

    def _tell(self) -> None:
        self._news.set()
        self._news = asyncio.Event()
