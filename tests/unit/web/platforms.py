"""A platform in memory, and a browser that reads one page: what the tests of the web side share."""

from __future__ import annotations

import asyncio
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from services.common.targets import Role, Target
from services.ledger.values import TournamentState
from services.web.watching import BotCard, RatingLine, StandingLine, TournamentCard


@dataclass(frozen=True)
class Line:
    """One line of standings."""

    rank: int = 1
    name: str = "greedy"
    points_per_deal: float = 0.5
    low: float | None = 0.25
    high: float | None = 0.75
    matches: int = 10
    deals: int = 20
    faults: int = 0
    title: str = ""
    beans_per_deal: float | None = None
    counted: int = 20
    points_paid: int = 0
    rating: RatingLine | None = None
    openskill: float | None = None
    pool: int = 0


def make_card(name: str = "spring", **changes: Any) -> TournamentCard:
    """A running tournament, with changes."""
    values: dict[str, Any] = {
        "name": name,
        "state": TournamentState.RUNNING,
        "created_at": datetime(2026, 5, 1, tzinfo=UTC),
        "matches": 300,
        "matches_done": 120,
        "matches_running": 8,
        "deals_done": 240,
        "attempts_void": 3,
        "faults": 5,
    }
    return TournamentCard(**(values | changes))


@dataclass
class MemoryPlatform:
    """A `Watchable`; `failure`, if set, is what every call raises."""

    cards: Sequence[TournamentCard] = ()
    lines: Sequence[StandingLine] = ()
    bot_cards: Sequence[BotCard] = ()
    processes: Sequence[Target] = (Target(Role.GATEWAY, "gateway", "127.0.0.1:7480"),)
    failure: Exception | None = None
    asked: list[str] = field(default_factory=list)

    async def tournaments(self) -> Sequence[TournamentCard]:
        self._ask("tournaments")
        return self.cards

    async def standings(self, tournament: str) -> Sequence[StandingLine]:
        self._ask(f"standings of {tournament}")
        await asyncio.sleep(0)
        return self.lines

    async def bots(self) -> Sequence[BotCard]:
        self._ask("bots")
        return self.bot_cards

    async def targets(self) -> Sequence[Target]:
        self._ask("targets")
        return self.processes

    def _ask(self, what: str) -> None:
        self.asked.append(what)
        if self.failure is not None:
            raise self.failure


@dataclass(frozen=True)
class Reply:
    """What a browser got."""

    status: int
    headers: dict[str, str]
    text: str


async def fetch(url: str) -> Reply:
    """Read one page, whatever its status."""
    return await asyncio.to_thread(_fetch, url)


def _fetch(url: str) -> Reply:
    try:
        with urllib.request.urlopen(url, timeout=60) as response:
            return Reply(response.status, dict(response.headers), response.read().decode())
    except urllib.error.HTTPError as error:
        with error:
            return Reply(error.code, dict(error.headers), error.read().decode())
