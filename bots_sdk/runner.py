"""Runs a bot: stays with the lobby, plays at every match service it names, and comes back whenever a wire breaks."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from time import monotonic

from bots_sdk.client import (
    AsyncThinker,
    BotPool,
    ClientStatistics,
    Crew,
    InlineThinker,
    LobbyClient,
    PlayClient,
    Thinker,
    ThreadThinker,
    Ticket,
    Tls,
)
from bots_sdk.client.backoff import Backoff
from bots_sdk.errors import ArenaError, Refused, Superseded, TlsFailed, TokenRejected, VersionMismatch
from bots_sdk.loading import BotSource

_log = logging.getLogger("bots_sdk")

DEFAULT_TABLES = 8
DEFAULT_THREADS = 4
FIRST_BACKOFF_S = 0.2
MOST_BACKOFF_S = 10.0
_FATAL = (TokenRejected, VersionMismatch, Superseded)
_MALFORMED = "REASON_MALFORMED"


@dataclass(frozen=True, slots=True)
class RunnerSettings:
    """How a bot is run.

    Attributes:
        server: HOST:PORT of the lobby.
        token: the bot's.
        tables: how many tables it takes at once.
        threads: how many of its tables think at the same time; 0: in the event loop, for bots that answer in
            microseconds; None: 0 for house bots, else `DEFAULT_THREADS`.
        seed: the first part of the seed of every bot made.
        tls: whom to trust, the lobby and match services alike; None: plain text.
    """

    server: str
    token: str = field(repr=False)
    tables: int = DEFAULT_TABLES
    threads: int | None = None
    seed: int | str = 0
    tls: Tls | None = None


class BotRunner:
    """Runs one bot against one platform.

    Args:
        source: where the bot's objects come from; one is made for each table it plays at the same time.
        settings: how.
        say: told in one line of every change a person should know; the log, if left out.

    Attributes:
        statistics: what has been counted.
        has_been_in: the lobby has let it in at least once.
    """

    def __init__(self, source: BotSource, settings: RunnerSettings, say: Callable[[str], None] = _log.info) -> None:
        self.statistics = ClientStatistics()
        self.has_been_in = False
        self._source = source
        self._settings = settings
        self._say = say
        self._pool = BotPool(source.make, settings.seed)
        self._crew = _make_crew(source, settings)
        self._clients: dict[str, tuple[PlayClient, asyncio.Task[None]]] = {}
        self._fatal: asyncio.Future[None] | None = None

    async def run(self) -> None:
        """Play until cancelled.

        Raises:
            TokenRejected: the token is not known, or was revoked.
            VersionMismatch: the platform speaks another version.
            Superseded: the same bot came in from somewhere else.
            TlsFailed: there is no TLS with the platform, and the bot has not been in yet. What fails later is tried
                again, as certificates are renewed.
            Refused: the platform cannot take what the settings say, as more tables than there are.
        """
        self._fatal = asyncio.get_running_loop().create_future()
        lobby = asyncio.create_task(self._attend())
        try:
            await asyncio.wait([lobby, self._fatal], return_when=asyncio.FIRST_COMPLETED)
            for ended in (self._fatal, lobby):
                if ended.done():
                    ended.result()
        finally:
            tasks = [lobby, *(task for _, task in self._clients.values())]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            if not self._fatal.done():
                self._fatal.cancel()
            if self._crew is not None:
                self._crew.close()

    @property
    def tables(self) -> int:
        """How many tables the bot has now."""
        return sum(len(client.session.seats) for client, _ in self._clients.values())

    async def _attend(self) -> None:
        """Stay with the lobby, for ever; streams go on while it is away."""
        settings = self._settings
        backoff = Backoff(FIRST_BACKOFF_S, MOST_BACKOFF_S, settings.token)
        said = ""
        while True:
            called = monotonic()
            lasted = wanted = 0.0
            try:
                async with (
                    LobbyClient(settings.server, settings.tls) as lobby,
                    contextlib.aclosing(lobby.attend(settings.token, settings.tables)) as answers,
                ):
                    async for tickets in answers:
                        if said != "in":
                            said = "in"
                            self.has_been_in = True
                            self._say(f"in the lobby of {settings.server}")
                        self._join(tickets)
                        lasted = monotonic() - called
            except _FATAL:
                raise
            except ArenaError as error:
                wanted = error.retry_after_s if isinstance(error, Refused) else 0.0
                if not self.has_been_in and _is_for_good(error):
                    raise
                # One line for each change, not for each attempt.
                if said != str(error):
                    said = str(error)
                    self._say(f"{said.rstrip('.')}; trying again")
            await asyncio.sleep(max(backoff.pause(lasted), wanted))

    def _join(self, tickets: list[Ticket]) -> None:
        for ticket in tickets:
            known = self._clients.get(ticket.name)
            if known is not None and not known[1].done():
                known[0].renew(ticket)
            else:
                self._say(f"joining match service {ticket.name} at {ticket.address}")
                room = partial(self._room_at, ticket.name)
                client = PlayClient(ticket, self._thinker(), self.statistics, self._say, self._settings.tls, room)
                task = asyncio.create_task(client.run())
                task.add_done_callback(self._client_ended)
                self._clients[ticket.name] = (client, task)
        wanted = {ticket.name for ticket in tickets}
        for name, (client, task) in list(self._clients.items()):
            if name not in wanted:
                client.leave()
                if task.done():
                    del self._clients[name]

    def _room_at(self, name: str) -> int:
        """How many tables are left for a match service, beside those at the others and those promised there."""
        elsewhere = sum(client.tables for other, (client, _) in self._clients.items() if other != name)
        return self._settings.tables - elsewhere

    def _client_ended(self, task: asyncio.Task[None]) -> None:
        if task.cancelled() or self._fatal is None or self._fatal.done():
            return
        error = task.exception()
        if error is not None:
            self._fatal.set_exception(error)

    def _thinker(self) -> Thinker:
        if self._source.is_async:
            return AsyncThinker(self._pool)
        if self._crew is None:
            return InlineThinker(self._pool, trusted=self._source.is_house)
        return ThreadThinker(self._pool, self._crew, asyncio.get_running_loop())


def _is_for_good(error: ArenaError) -> bool:
    """Whether it would be said anew as often as it is tried; the bot has not been in yet."""
    return isinstance(error, TlsFailed) or (isinstance(error, Refused) and error.reason == _MALFORMED)


def _make_crew(source: BotSource, settings: RunnerSettings) -> Crew | None:
    threads = settings.threads
    if threads is None:
        threads = 0 if source.is_house else DEFAULT_THREADS
    return Crew(min(threads, settings.tables)) if threads and not source.is_async else None
