"""The stream of one bot to one match service: opened, served, and opened again until somebody says stop.

One reader and one writer; no timeout around either, since that would end the stream. What watches for silence is a task
of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import replace
from time import monotonic
from typing import Any

import grpc
import grpc.aio

from baohuang.match.v1 import match_service_pb2 as pb
from bots_sdk.client.backoff import Backoff
from bots_sdk.client.channel import error_of, explain, open_channel
from bots_sdk.client.duplex import Duplex
from bots_sdk.client.lobby import Ticket
from bots_sdk.client.session import PlaySession
from bots_sdk.client.statistics import ClientStatistics
from bots_sdk.client.thinking import SLICE_S, Thinker
from bots_sdk.client.tls import Tls
from bots_sdk.errors import (
    ArenaError,
    Refused,
    Superseded,
    TicketRejected,
    TlsFailed,
    TokenRejected,
    Unreachable,
    VersionMismatch,
)

_PLAY = "/baohuang.match.v1.MatchService/Play"
WELCOME_S = 10.0
"""How long a service may take to say welcome."""
FIRST_BACKOFF_S = 0.05
MOST_BACKOFF_S = 5.0
ROOM_PAUSE_S = 0.2
"""How long to wait before looking again whether a table is free that was shared out anew."""
LAST_WORDS_S = 5.0
"""How long what a service said before it ended the stream may take to be read: bots may think in between."""
_FATAL = (Superseded, VersionMismatch, TokenRejected)


class PlayClient:
    """Plays all tables of one bot at one match service.

    Args:
        ticket: where to and with what; a newer one may be put in its place with `renew`.
        thinker: how the bots are asked.
        statistics: where it is counted.
        say: told in one line what a person should know.
        tls: whom to trust; None: plain text.
        room: how many tables the bot may have here at most, besides those it has or is promised elsewhere.
    """

    def __init__(
        self,
        ticket: Ticket,
        thinker: Thinker,
        statistics: ClientStatistics,
        say: Callable[[str], None],
        tls: Tls | None = None,
        room: Callable[[], int] | None = None,
    ) -> None:
        self.ticket = ticket
        self._room = room
        self._tls = tls
        self._thinker = thinker
        self._statistics = statistics
        self._say = say
        self._renewed = asyncio.Event()
        self._leaving = False
        self.session = PlaySession(thinker, statistics, self._said)
        self._was_lost = ""
        self._declared = 0
        self._promised = 0

    @property
    def tables(self) -> int:
        """How many tables the bot has here, or may be given at any moment."""
        if self._leaving and not self.session.is_welcome:
            return 0
        return max(self._promised, len(self.session.seats))

    def renew(self, ticket: Ticket) -> None:
        """Use a newer ticket for the next stream.

        A stream that waits for it is opened at once. Where the ticket is for another number of tables the stream is
        opened anew, as the number is declared there: the bot must not get more tables than it takes in all.
        """
        if ticket != self.ticket:
            self.ticket = ticket
            self._renewed.set()
            self.session.wake()

    def leave(self) -> None:
        """Go as soon as the bot has no table here any more."""
        self._leaving = True
        self._renewed.set()
        self.session.wake()

    async def run(self) -> None:
        """Play until cancelled or told to leave.

        Raises:
            Superseded: the same bot came in from somewhere else.
            VersionMismatch: the service speaks another version.
            TlsFailed: there is no TLS with it, and the bot has not been at any match service yet.
        """
        backoff = Backoff(FIRST_BACKOFF_S, MOST_BACKOFF_S, self.ticket.name)
        while not (self._leaving and not self.session.seats):
            opened = monotonic()
            self._declared = self._wanted()
            if self._declared < 1:
                await self._pause(ROOM_PAUSE_S)
                continue
            # Until the service has welcomed the bot with fewer tables, it may still give it as many as before.
            self._promised = max(self._promised, self._declared)
            ticket = replace(self.ticket, tables=self._declared)
            try:
                await _Stream(
                    self.session, self._thinker, ticket, self._tls, welcomed=self._welcomed, may_end=self._may_end
                ).run()
            except _FATAL:
                raise
            except ArenaError as error:
                if isinstance(error, TlsFailed) and not self._statistics.welcomes:
                    raise
                self._lost(error)
                lasted = monotonic() - opened if self.session.is_welcome else 0.0
                await self._wait(error, backoff.pause(lasted))
                self._statistics.reconnects += 1

    def _may_end(self) -> bool:
        if self._leaving and not self.session.seats:
            return True
        # Fewer are declared at once; more when the whole share is free, not one by one.
        share = self.ticket.tables
        return self._declared > share or (self._declared < share and self._wanted() == share)

    def _wanted(self) -> int:
        share = self.ticket.tables
        return share if self._room is None else min(share, self._room())

    def _welcomed(self) -> None:
        self._promised = self._declared
        self._statistics.welcomes += 1
        if self._was_lost:
            self._said("connected again")
        self._was_lost = ""

    def _lost(self, error: ArenaError) -> None:
        # The same trouble is said once, not with every attempt.
        if str(error) != self._was_lost:
            self._was_lost = str(error)
            self._said(f"{str(error).rstrip('.')}; trying again")

    async def _wait(self, error: ArenaError, seconds: float) -> None:
        if isinstance(error, TicketRejected):
            # The lobby gives out a new one; until then the old one is of no use, but one cannot know.
            seconds = max(seconds, 1.0)
        elif isinstance(error, Refused):
            seconds = max(seconds, error.retry_after_s)
        await self._pause(seconds)

    async def _pause(self, seconds: float) -> None:
        self._renewed.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._renewed.wait()

    def _said(self, message: str) -> None:
        self._say(f"{self.ticket.name}: {message}")


class _Stream:
    """One stream, from hello to its end."""

    def __init__(
        self,
        session: PlaySession,
        thinker: Thinker,
        ticket: Ticket,
        tls: Tls | None,
        *,
        welcomed: Callable[[], None],
        may_end: Callable[[], bool],
    ) -> None:
        self._session = session
        self._thinker = thinker
        self._ticket = ticket
        self._tls = tls
        self._welcomed = welcomed
        self._may_end = may_end
        self._something = asyncio.Event()
        self._heard = self._sent = monotonic()

    async def run(self) -> None:
        """Serve the stream until it ends.

        Raises:
            ArenaError: why it ended; it does not end without a reason, unless the bot is leaving.
        """
        session = self._session
        channel = open_channel(self._ticket.address, self._tls)
        try:
            play: Any = channel.stream_stream(_PLAY, request_serializer=pb.PlayRequest.SerializeToString)
            call = Duplex(play(), self._ticket.address)
            hello = session.hello(self._ticket.ticket, self._ticket.tables)
            session.wake = self._something.set
            tasks = [
                asyncio.create_task(self._read(call)),
                asyncio.create_task(self._write(call, hello)),
                asyncio.create_task(self._watch()),
            ]
            try:
                done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                if tasks[0] not in done and tasks[1] in done and tasks[1].exception() is not None:
                    # A write fails when the call is over; the reader comes to why, behind all that was said before.
                    await asyncio.wait(tasks[:1], timeout=LAST_WORDS_S)
                for task in tasks:
                    if task.done():
                        task.result()
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                call.cancel()
        except grpc.aio.AioRpcError as error:
            if session.is_welcome:
                raise error_of(error, self._ticket.address) from error
            raise await explain(error, self._ticket.address, self._tls) from error
        finally:
            await channel.close()

    async def _read(self, call: Duplex) -> None:
        session, thinker, something = self._session, self._thinker, self._something
        while True:
            data = await call.read()
            self._heard = monotonic()
            was_welcome = session.is_welcome
            session.receive(data)
            something.set()
            if session.is_welcome and not was_welcome:
                self._welcomed()
            until = self._heard + SLICE_S
            while thinker.think(lambda until=until: monotonic() > until):  # type: ignore[misc]
                # Slow bots: let the writer confirm and send what is ready before going on.
                await asyncio.sleep(0)
                until = monotonic() + SLICE_S

    async def _write(self, call: Duplex, hello: pb.PlayRequest) -> None:
        session, something = self._session, self._something
        await call.write(hello)
        while not self._may_end():
            await something.wait()
            something.clear()
            while (message := session.take()) is not None:
                self._sent = monotonic()
                await call.write(message)

    async def _watch(self) -> None:
        """Beat, and notice silence. What this side's own loop was late is not the service's silence."""
        session = self._session
        opened = monotonic()
        while True:
            # How often is known only once the service has said welcome.
            interval = min(session.heartbeat_s / 4, 1.0 if session.is_welcome else 0.05)
            planned = monotonic() + interval
            await asyncio.sleep(interval)
            now = monotonic()
            if now - planned > interval:
                self._heard = max(self._heard, planned)
                opened = max(opened, now - interval)
            if not session.is_welcome and now - opened > WELCOME_S:
                raise Unreachable(f"{self._ticket.address} did not say welcome within {WELCOME_S:g} s")
            if now - self._heard > 2 * session.heartbeat_s:
                raise Unreachable(f"nothing was heard of {self._ticket.address} for {2 * session.heartbeat_s:g} s")
            if session.is_welcome and now - self._sent >= session.heartbeat_s / 2:
                session.beat()
