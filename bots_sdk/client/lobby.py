"""The lobby: registering a bot, and being told which match services to join."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from datetime import datetime
from types import TracebackType
from typing import Any

import grpc
import grpc.aio

from baohuang.lobby.v1 import lobby_service_pb2 as pb
from baohuang.lobby.v1.lobby_service_pb2_grpc import LobbyServiceStub
from bots_sdk.client.channel import error_of, explain, open_channel
from bots_sdk.client.tls import Tls
from bots_sdk.errors import ProtocolBroken, Unreachable, make_refused
from bots_sdk.version import PROTOCOL_VERSION, SDK_NAME

CALL_TIMEOUT_S = 10.0
DEFAULT_SILENCE_S = 60.0
MOST_SILENCE_S = 600.0
MOST_SERVICES = 1_000
MOST_PAGES = 10_000
"""No platform has more match services, or more pages of bots; one that says so would keep a client busy for ever."""
_PAGE = 100
_PRESENCES = {pb.PRESENCE_HERE: "here", pb.PRESENCE_AWAY: "away", pb.PRESENCE_GONE: "gone"}


@dataclass(frozen=True, slots=True)
class Registered:
    """A new bot. The token is shown this once."""

    bot_id: str
    name: str
    token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class ListedBot:
    """A bot of the platform.

    Attributes:
        bot_id: what the platform calls it.
        name: its name.
        owner: who answers for it.
        version: its own version.
        here: whether it is in.
        since: since when it is in or not, if it ever was.
        presence: `here`, `away` (it may come back), `gone` (away for long, or without a token), or `never` seen.
    """

    bot_id: str
    name: str
    owner: str
    version: str
    here: bool
    since: datetime | None
    presence: str = "never"


@dataclass(frozen=True, slots=True)
class Ticket:
    """Lets a bot into one match service.

    Attributes:
        name: of the match service; stays the same when it restarts.
        address: HOST:PORT.
        ticket: to be shown there.
        tables: the most tables to declare there.
    """

    name: str
    address: str
    ticket: str = field(repr=False)
    tables: int


class LobbyClient:
    """Calls to the lobby at one address; to be used with `async with`.

    Args:
        address: HOST:PORT.
        tls: whom to trust; None: plain text.

    Every call may raise TlsFailed, and so does making one of these when the files of `tls` are not in order.
    """

    def __init__(self, address: str, tls: Tls | None = None) -> None:
        self._address = address
        self._tls = tls
        self._channel = open_channel(address, tls)
        self._stub: Any = LobbyServiceStub(self._channel)

    async def __aenter__(self) -> LobbyClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._channel.close()

    async def register(self, name: str, owner: str = "", version: str = "", operator_token: str = "") -> Registered:
        """Register a bot.

        Args:
            name: of the bot, unique on the platform.
            owner: who answers for it.
            version: its own.
            operator_token: for a platform on which operators register bots.

        Raises:
            Refused: the name is taken or of the wrong form, or an operator has to do it.
            Unreachable: nobody answers.
        """
        shown = bearer(operator_token) if operator_token else ()
        try:
            request = pb.RegisterBotRequest(name=name, owner=owner, version=version)
        except UnicodeEncodeError:
            raise make_refused("REASON_NAME_INVALID", "what was typed is no text in UTF-8") from None
        answer = await self._call(self._stub.RegisterBot, request, shown)
        return Registered(answer.bot_id, name, answer.token)

    async def rotate_token(self, token: str) -> str:
        """Replace a token; the old one ends at once.

        Raises:
            TokenRejected: it is not known.
            Unreachable: nobody answers.
        """
        answer = await self._call(self._stub.RotateToken, pb.RotateTokenRequest(), bearer(token))
        return str(answer.token)

    async def revoke_token(self, token: str) -> None:
        """End a token; the bot is sent away wherever it is connected.

        Raises:
            TokenRejected: it is not known.
            Unreachable: nobody answers.
        """
        await self._call(self._stub.RevokeToken, pb.RevokeTokenRequest(), bearer(token))

    async def list_bots(self, token: str = "") -> list[ListedBot]:
        """All bots of the platform, in the order of their names.

        Raises:
            Refused: the platform wants a token.
            Unreachable: nobody answers.
            ProtocolBroken: what came makes no sense.
        """
        found: list[ListedBot] = []
        page = ""
        for _ in range(MOST_PAGES):
            request = pb.ListBotsRequest(page_size=_PAGE, page_token=page)
            answer = await self._call(self._stub.ListBots, request, bearer(token) if token else ())
            found += [_listed(bot) for bot in answer.bots]
            page = answer.next_page_token
            if not page:
                return found
        raise ProtocolBroken(f"the lobby at {self._address} lists bots without end")

    async def attend(self, token: str, tables: int) -> AsyncGenerator[list[Ticket], None]:
        """Be in; yields all match services to be connected to, anew whenever that changes.

        Args:
            token: the bot's.
            tables: how many tables the bot takes at once, on all match services together.

        Raises:
            Refused: the token is not known, the version does not fit, …
            Unreachable: nobody answers, or nothing was heard for longer than the lobby allows.
            ProtocolBroken: what came makes no sense.
        """
        request = pb.AttendRequest(sdk=SDK_NAME, protocol_version=PROTOCOL_VERSION, tables=tables)
        call = self._stub.Attend(request, metadata=bearer(token))
        silence = DEFAULT_SILENCE_S
        heard = False
        try:
            while True:
                # A timeout ends the call, which is what is wanted here.
                async with asyncio.timeout(silence):
                    answer = await call.read()
                if answer is grpc.aio.EOF:
                    raise Unreachable(f"the lobby at {self._address} ended the call")
                heard = True
                silence = min(answer.silence_limit_s or DEFAULT_SILENCE_S, MOST_SILENCE_S)
                if len(answer.match_services) > MOST_SERVICES:
                    raise ProtocolBroken(f"the lobby named {len(answer.match_services)} match services")
                yield [_ticket(service) for service in answer.match_services]
        except TimeoutError:
            raise Unreachable(f"nothing was heard of the lobby at {self._address} for {silence:g} s") from None
        except grpc.aio.AioRpcError as error:
            if heard:
                raise error_of(error, self._address) from error
            raise await explain(error, self._address, self._tls) from error
        finally:
            call.cancel()

    async def _call(self, method: Any, request: Any, metadata: tuple[tuple[str, str], ...]) -> Any:
        try:
            return await method(request, timeout=CALL_TIMEOUT_S, metadata=metadata)
        except grpc.aio.AioRpcError as error:
            raise await explain(error, self._address, self._tls) from error


def bearer(token: str) -> tuple[tuple[str, str], ...]:
    """The metadata of a call with a token. Raises Refused for what cannot be one."""
    token = token.strip()
    if not token.isascii() or not token.isprintable():
        raise make_refused("REASON_TOKEN_UNKNOWN", "the token has characters that no token has")
    return (("authorization", f"Bearer {token}"),)


def _ticket(service: pb.MatchServiceTicket) -> Ticket:
    if not service.name or not service.address:
        raise ProtocolBroken("the lobby named a match service without a name or an address")
    return Ticket(service.name, service.address, service.ticket, max(1, service.tables))


def _listed(bot: pb.Bot) -> ListedBot:
    try:
        since = bot.since.ToDatetime(tzinfo=None) if bot.HasField("since") else None
    except (ValueError, OverflowError):
        raise ProtocolBroken(f"the lobby says of {bot.name!r} that it came at no time that a calendar has") from None
    presence = _PRESENCES.get(bot.presence, "never")
    return ListedBot(bot.bot_id, bot.name, bot.owner, bot.version, presence == "here", since, presence)
