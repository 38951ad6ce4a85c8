"""The lobby: where bots are registered, prove who they are, and wait to be told where to play.

A plain class for one event loop. What must survive is in the ledger, written and read in threads; who is in is known
here alone, and bots come back by themselves after a restart.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from services.access.gate import token_unknown
from services.access.tokens import hash_token, make_token
from services.common.buckets import Buckets
from services.common.clock import Clock
from services.common.errors import PlatformError, Reason, rate_limited
from services.common.metrics import LobbyMetrics
from services.common.tickets import TokenEnd
from services.common.version import PROTOCOL_VERSION
from services.ledger.ledger import Ledger
from services.ledger.values import Bot
from services.lobby.attendance import Attendance, LobbyTerms, MatchServiceInfo
from services.lobby.bots import OWNER_LIMIT, VERSION_LIMIT, make_bot_id, verify_name, verify_text
from services.lobby.presence import PresenceBoard, Sighting

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
    token: str = field(repr=False)


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
    """`token_ended` is told which bot's token holds no longer: whoever let it in, here or elsewhere, sends it away."""

    def __init__(
        self,
        ledger: Ledger,
        ticket_key: bytes,
        *,
        clock: Clock,
        terms: LobbyTerms | None = None,
        metrics: LobbyMetrics | None = None,
        token_ended: Callable[[TokenEnd], None] = lambda _: None,
    ) -> None:
        self._ledger = ledger
        self._ticket_key = ticket_key
        self._clock = clock
        self._terms = terms or LobbyTerms()
        self._metrics = metrics or LobbyMetrics()
        self._token_ended = token_ended
        self._presence = PresenceBoard(self._terms.gone_after)
        self._attending: dict[str, Attendance] = {}
        self._services: tuple[MatchServiceInfo, ...] = ()
        self._registrations: Buckets[str] = Buckets(self._terms.registrations)
        self._arrivals: Buckets[str] = Buckets(self._terms.arrivals)
        self._draining: PlatformError | None = None

    # ---------------------------------------------------------------------------------------------- bots and tokens

    async def register(self, name: str, owner: str, version: str, peer: str | None = None) -> Registration:
        """A new bot. Raises PlatformError NAME_INVALID, NAME_TAKEN or MALFORMED.

        With the `peer` that asks for it also RATE_LIMITED, if it asks too often.
        """
        if peer is not None and (wait := self._registrations.try_take(peer, self._clock.monotonic())) > 0.0:
            raise rate_limited("Too many bots are being registered from this address.", wait)
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

    async def rotate(self, bot: Bot, shown: bytes) -> str:
        """A new token for a bot that has shown its old one (its hash), which ends at once, as does what it opened.

        Raises PlatformError TOKEN_UNKNOWN if the bot's token is another by now.
        """
        token = make_token()
        self._end(await asyncio.to_thread(self._ledger.rotate_token, bot.bot_id, hash_token(token), shown=shown))
        return token

    async def revoke(self, bot: Bot, shown: bytes) -> None:
        """Ends the token that the bot has shown; the bot is sent away. Raises as `rotate`."""
        self._end(await asyncio.to_thread(self._ledger.revoke_token, bot.bot_id, shown=shown))

    async def rotate_for(self, name: str, operator: str) -> str:
        """A new token for the bot of a name, whatever it had before. Raises PlatformError BOT_UNKNOWN."""
        bot, token = await self._named(name), make_token()
        self._end(await asyncio.to_thread(self._ledger.rotate_token, bot.bot_id, hash_token(token)))
        _log.info("bot got another token", extra={"bot": name, "by": operator})
        return token

    async def revoke_for(self, name: str, operator: str) -> None:
        """Throws out the bot of a name. Raises PlatformError BOT_UNKNOWN."""
        bot = await self._named(name)
        self._end(await asyncio.to_thread(self._ledger.revoke_token, bot.bot_id))
        _log.info("bot thrown out", extra={"bot": name, "by": operator})

    async def ended_tokens(self) -> list[TokenEnd]:
        """The tokens that ended so lately that tickets may still rest on them: for a match service that begins."""
        since = self._clock.now() - self._terms.ticket_life
        return [self._token_end(bot) for bot in await asyncio.to_thread(self._ledger.bots_with_ended_tokens, since)]

    async def _named(self, name: str) -> Bot:
        found = await asyncio.to_thread(self._ledger.bots_named, [name])
        if name not in found:
            raise PlatformError(Reason.BOT_UNKNOWN, f"There is no bot named {name!r}.", name=name)
        return found[name]

    def _end(self, changed: Bot | None) -> None:
        """The bot has another token now, or none; None: the token that was shown had ended before."""
        if changed is None:
            raise token_unknown()
        self._presence.end(changed.bot_id, self._clock.now())
        self._token_ended(self._token_end(changed))

    def _token_end(self, bot: Bot) -> TokenEnd:
        return TokenEnd(bot.bot_id, bot.token_since, self._clock.now() + self._terms.ticket_life)

    async def bots(self, after: str, limit: int) -> BotPage:
        """Bots in the order of their names, from the one after `after` on; `limit` 0: as many as is usual."""
        page = await asyncio.to_thread(self._ledger.bots, after=after, limit=min(limit or PAGE, PAGE_LIMIT))
        now = self._clock.now()
        return BotPage(tuple(ListedBot(bot, self._presence.of(bot.bot_id, now)) for bot in page.items), page.after)

    # ---------------------------------------------------------------------------------------------------- attending

    @contextmanager
    def attend(self, bot: Bot, *, sdk: str, protocol_version: int, tables: int) -> Iterator[Attendance]:
        """The bot is in while the context lasts; one that was in already is sent away from there: the newest wins.

        Raises PlatformError VERSION_UNSUPPORTED, MALFORMED, RATE_LIMITED if it comes too often, or DRAINING.
        """
        if (wait := self._arrivals.try_take(bot.bot_id, self._clock.monotonic())) > 0.0:
            raise rate_limited(f"The bot {bot.name!r} comes in too often.", wait)
        _verify_request(sdk, protocol_version, tables)
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
        return self._presence.of(bot_id, self._clock.now())

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


def _superseded(bot: Bot) -> PlatformError:
    return PlatformError(
        Reason.SUPERSEDED, f"Another process attends as {bot.name!r} now; the newest one stays.", name=bot.name
    )
