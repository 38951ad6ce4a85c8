"""One bot that is in: what it is told, when it is told again, and how it is sent away."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from services.common.buckets import Rate
from services.common.errors import PlatformError
from services.common.metrics import LobbyMetrics
from services.common.tickets import Ticket, issue_ticket
from services.ledger.values import Bot
from services.lobby.sharing import share_tables

REGISTRATIONS = Rate(per_second=1.0, burst=600)
"""Of one peer, which may be a whole laboratory with a bot for every student."""

ARRIVALS = Rate(per_second=1.0, burst=60)
"""Of one bot; its client waits longer and longer while it is sent away."""


@dataclass(frozen=True, slots=True)
class LobbyTerms:
    """How long tickets hold, how often an attending bot hears something, and after what silence it should call again.

    A ticket is replaced when half its time is over, at the next time that the bot hears something. `reserved_names` no
    bot may have: those of the house bots. A bot that is away for `gone_after` is shown as gone. `registrations` is how
    often one peer may register a bot, `arrivals` how often one bot may come in.
    """

    ticket_life: timedelta = timedelta(minutes=10)
    sign_of_life: timedelta = timedelta(seconds=10)
    silence_limit: timedelta = timedelta(seconds=30)
    gone_after: timedelta = timedelta(minutes=10)
    reserved_names: frozenset[str] = frozenset()
    registrations: Rate = REGISTRATIONS
    arrivals: Rate = ARRIVALS

    def __post_init__(self) -> None:
        if not timedelta(0) < self.sign_of_life * 2 <= min(self.ticket_life, self.silence_limit):
            raise ValueError("sign_of_life must be above 0 and at most half of ticket_life and of silence_limit")


@dataclass(frozen=True, slots=True)
class MatchServiceInfo:
    """A match service: its name, which stays, and its address (HOST:PORT), which may change when it restarts."""

    name: str
    address: str


@dataclass(frozen=True, slots=True)
class MatchServiceTicket:
    """Lets the bot into one match service, with so many tables at once."""

    match_service: MatchServiceInfo
    ticket: str = field(repr=False)
    expires_at: datetime
    tables: int


@dataclass(frozen=True, slots=True)
class Assignment:
    """What the platform wants of the bot now, in place of the assignment before."""

    match_services: tuple[MatchServiceTicket, ...]
    silence_limit: timedelta


class Attendance:
    """One bot that is in. It hears of every change at once, and at every sign of life what holds already."""

    def __init__(
        self,
        bot: Bot,
        tables: int,
        terms: LobbyTerms,
        key: bytes,
        now: Callable[[], datetime],
        metrics: LobbyMetrics,
    ) -> None:
        self.bot = bot
        self.tables = tables
        self._metrics = metrics
        self._terms = terms
        self._key = key
        self._now = now
        self._services: tuple[MatchServiceInfo, ...] = ()
        self._tickets: dict[str, MatchServiceTicket] = {}
        self._farewell: PlatformError | None = None
        self._wake = asyncio.Event()

    def tell(self, services: Iterable[MatchServiceInfo]) -> None:
        """These are the match services from now on."""
        self._services = tuple(services)
        self._wake.set()

    def end(self, farewell: PlatformError) -> None:
        """Sends the bot away; the first reason stays."""
        self._farewell = self._farewell or farewell
        self._wake.set()

    async def assignments(self) -> AsyncIterator[Assignment]:
        """What holds now, then again at every change and sign of life; raises the PlatformError given to `end`."""
        while True:
            self._wake.clear()
            if self._farewell:
                raise self._farewell
            yield self.assignment()
            try:
                async with asyncio.timeout(self._terms.sign_of_life.total_seconds()):
                    await self._wake.wait()
            except TimeoutError:
                pass

    def assignment(self) -> Assignment:
        """What holds now; tickets are new where the ones before no longer fit or are half over."""
        shares = share_tables(self.tables, [service.name for service in self._services])
        infos = {service.name: service for service in self._services}
        self._tickets = {name: self._ticket(infos[name], share) for name, share in shares.items()}
        return Assignment(tuple(self._tickets.values()), self._terms.silence_limit)

    def _ticket(self, service: MatchServiceInfo, tables: int) -> MatchServiceTicket:
        now = self._now()
        old = self._tickets.get(service.name)
        fits = old is not None and (old.match_service, old.tables) == (service, tables)
        if old is not None and fits and old.expires_at - now > self._terms.ticket_life / 2:
            return old
        expires_at = now + self._terms.ticket_life
        bot = self.bot
        ticket = Ticket(bot.bot_id, bot.name, service.name, tables, expires_at, bot.token_since)
        self._metrics.tickets_issued += 1
        return MatchServiceTicket(service, issue_ticket(self._key, ticket), expires_at, tables)
