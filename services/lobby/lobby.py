"""The lobby: where bots are registered, prove who they are, and wait to be told where to play.

A plain class for one event loop. What must survive is in the ledger, written and read in threads; who is in is known
here alone, and bots come back by themselves after a restart.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from services.common.clock import Clock
from services.common.errors import PlatformError, Reason
from services.common.metrics import LobbyMetrics
from services.common.version import PROTOCOL_VERSION
from services.ledger.ledger import Ledger
from services.ledger.values import Bot
from services.lobby.attendance import Attendance, LobbyTerms, MatchServiceInfo
from services.lobby.bots import OWNER_LIMIT, VERSION_LIMIT, make_bot_id, verify_name, verify_text
from services.lobby.presence import PresenceBoard, Sighting
from services.lobby.tokens import hash_token, make_token

_log = logging.getLogger(__name__)

TABLES_LIMIT = 10_000
"""More tables than this no bot takes at once."""

SDK_LIMIT = 100
"""The longest text for the version of a client library."""

PAGE = 100
PAGE_LIMIT = 1000
"""How many bots a list has if nothing is said, and at most."""


@dataclass(frozen=True, slots=True)
class Registration:
    """A new bot and its token, which is not kept anywhere."""

    bot: Bot
    token: str


@dataclass(frozen=True, slots=True)
class Identity:
    """A bot that has shown its token; `as_of` is when, counted in tokens that ended before."""

    bot: Bot
    as_of: int


@dataclass(frozen=True, slots=True)
class ListedBot:
    """A bot and when it was seen; never: None."""

    bot: Bot
    sighting: Sighting | None


@dataclass(frozen=True, slots=True)
class BotPage:
    """Bots in the order of their names; `after` asks for the next, empty on the last page."""

    bots: tuple[ListedBot, ...]
    after: str


class Lobby:
    """`token_ended` is called with the id of a bot whose token holds no longer: match services send it away too."""

    def __init__(
        self,
        ledger: Ledger,
        ticket_key: bytes,
        *,
        clock: Clock,
        terms: LobbyTerms | None = None,
        metrics: LobbyMetrics | None = None,
        token_ended: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._ledger = ledger
        self._ticket_key = ticket_key
        self._clock = clock
        self._terms = terms or LobbyTerms()
        self._metrics = metrics or LobbyMetrics()
        self._token_ended = token_ended
        self._presence = PresenceBoard()
        self._attending: dict[str, Attendance] = {}
        self._services: tuple[MatchServiceInfo, ...] = ()
        self._ended_tokens = 0
        self._ended_at: dict[str, int] = {}  # by bot: the number of its last ended token
        self._draining: PlatformError | None = None

    # ---------------------------------------------------------------------------------------------- bots and tokens

    async def register(self, name: str, owner: str, version: str) -> Registration:
        """A new bot. Raises PlatformError NAME_INVALID, NAME_TAKEN or MALFORMED."""
        verify_name(name, self._terms.reserved_names)
        verify_text("owner", owner, OWNER_LIMIT)
        verify_text("version", version, VERSION_LIMIT)
        token = make_token()
        bot = await asyncio.to_thread(
            self._ledger.create_bot, make_bot_id(), name, owner=owner, version=version, token_hash=hash_token(token)
        )
        self._metrics.registrations += 1
        _log.info("bot registered", extra={"bot": name, "bot_id": bot.bot_id, "owner": owner})
        return Registration(bot, token)

    async def authenticate(self, token: str) -> Identity:
        """Whose token it is. Raises PlatformError UNAUTHENTICATED if there is none, TOKEN_UNKNOWN if it is nobody's."""
        if not token:
            raise PlatformError(
                Reason.UNAUTHENTICATED, "There is no token: send it as metadata, `authorization: Bearer TOKEN`."
            )
        as_of = self._ended_tokens
        bot = await asyncio.to_thread(self._ledger.bot_with_token, hash_token(token))
        if bot is None:
            raise _token_unknown()
        return Identity(bot, as_of)

    async def rotate(self, identity: Identity) -> str:
        """A new token in place of the bot's old one, which ends at once, and whoever attends with it is sent away."""
        token = make_token()
        await asyncio.to_thread(self._ledger.rotate_token, identity.bot.bot_id, hash_token(token))
        self._end_token(identity.bot)
        return token

    async def revoke(self, identity: Identity) -> None:
        """Ends the bot's token; the bot is sent away."""
        await asyncio.to_thread(self._ledger.revoke_token, identity.bot.bot_id)
        self._end_token(identity.bot)

    def _end_token(self, bot: Bot) -> None:
        self._ended_tokens += 1
        self._ended_at[bot.bot_id] = self._ended_tokens
        if attendance := self._attending.get(bot.bot_id):
            attendance.end(_token_unknown())
        self._token_ended(bot.bot_id)

    async def bots(self, after: str, limit: int) -> BotPage:
        """Bots in the order of their names, from the one after `after` on; `limit` 0: as many as is usual."""
        page = await asyncio.to_thread(self._ledger.bots, after=after, limit=min(limit or PAGE, PAGE_LIMIT))
        return BotPage(tuple(ListedBot(bot, self._presence.of(bot.bot_id)) for bot in page.items), page.after)

    # ---------------------------------------------------------------------------------------------------- attending

    @contextmanager
    def attend(self, identity: Identity, *, sdk: str, protocol_version: int, tables: int) -> Iterator[Attendance]:
        """The bot is in while the context lasts; one that was in already is sent away from there: the newest wins.

        Raises PlatformError VERSION_UNSUPPORTED, MALFORMED, TOKEN_UNKNOWN if the token ended since it was shown, or
        DRAINING.
        """
        _verify_request(sdk, protocol_version, tables)
        bot = identity.bot
        if self._ended_at.get(bot.bot_id, 0) > identity.as_of:
            raise _token_unknown()
        if self._draining:
            raise self._draining
        attendance = Attendance(bot, tables, self._terms, self._ticket_key, self._clock.now, self._metrics)
        if older := self._attending.get(bot.bot_id):
            older.end(_superseded(bot))
        self._attending[bot.bot_id] = attendance
        self._metrics.bots_attending = len(self._attending)
        self._presence.arrive(bot.bot_id, tables, self._clock.now())
        attendance.tell(self._services)
        _log.info("bot came", extra={"bot": bot.name, "tables": tables, "sdk": sdk})
        try:
            yield attendance
        finally:
            if self._attending.get(bot.bot_id) is attendance:
                del self._attending[bot.bot_id]
                self._metrics.bots_attending = len(self._attending)
                self._presence.leave(bot.bot_id, self._clock.now())
                _log.info("bot left", extra={"bot": bot.name})

    def set_match_services(self, services: Iterable[MatchServiceInfo]) -> None:
        """These are all match services there are; every attending bot is told at once.

        Raises ValueError if two have the same name.
        """
        services = tuple(services)
        if len({service.name for service in services}) < len(services):
            raise ValueError(f"two match services have the same name: {[service.name for service in services]}")
        if services != self._services:
            self._services = services
            for attendance in self._attending.values():
                attendance.tell(services)

    def sighting(self, bot_id: str) -> Sighting | None:
        """Whether a bot is in and since when; None if it was never seen."""
        return self._presence.of(bot_id)

    def here(self) -> dict[str, Sighting]:
        """The bots that are in, by id."""
        return self._presence.here()

    def drain(self) -> None:
        """The platform stops: every bot is sent away, and nobody comes in any more."""
        self._draining = PlatformError(Reason.DRAINING, "The platform is stopping: come back later.")
        for attendance in self._attending.values():
            attendance.end(self._draining)


def _verify_request(sdk: str, protocol_version: int, tables: int) -> None:
    if protocol_version != PROTOCOL_VERSION:
        raise PlatformError(
            Reason.VERSION_UNSUPPORTED,
            f"The client speaks version {protocol_version} of the protocol, this platform version {PROTOCOL_VERSION}: "
            f"use a client library for version {PROTOCOL_VERSION}.",
            client=str(protocol_version),
            server=str(PROTOCOL_VERSION),
        )
    verify_text("sdk", sdk, SDK_LIMIT)
    if not 1 <= tables <= TABLES_LIMIT:
        raise PlatformError(
            Reason.MALFORMED,
            f"tables is {tables}, it must be 1 to {TABLES_LIMIT}: how many tables the bot takes at once.",
            field="tables",
        )


def _token_unknown() -> PlatformError:
    return PlatformError(Reason.TOKEN_UNKNOWN, "The token is nobody's: it is mistyped, or it was replaced or revoked.")


def _superseded(bot: Bot) -> PlatformError:
    return PlatformError(
        Reason.SUPERSEDED, f"Another process attends as {bot.name!r} now; the newest one stays.", name=bot.name
    )
