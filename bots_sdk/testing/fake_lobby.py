"""A lobby that does what a test says, over real gRPC."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Any

import grpc
import grpc.aio

from baohuang.lobby.v1 import lobby_service_pb2 as pb
from baohuang.lobby.v1.lobby_service_pb2_grpc import LobbyServiceServicer, add_LobbyServiceServicer_to_server
from bots_sdk.testing.fake_match_service import abort, listen

_Context = grpc.aio.ServicerContext[Any, Any]


class FakeLobby(LobbyServiceServicer):
    """Registers bots, lets them in, and names the match services it is told; to be used with `async with`.

    Attributes:
        address: HOST:PORT.
        tokens: bot ids by token.
        attending: how often each token is in now.
        attended: every request to attend.
        silence_limit_s: what attending bots are told.
        credentials: with which it listens when it is started; None: in plain text.
    """

    def __init__(self, credentials: grpc.ServerCredentials | None = None) -> None:
        self.address = ""
        self.credentials = credentials
        self.tokens: dict[str, str] = {}
        self.attending: dict[str, int] = {}
        self.attended: list[pb.AttendRequest] = []
        self.silence_limit_s = 30
        self._names: dict[str, str] = {}
        self._services: list[pb.MatchServiceTicket] = []
        self._changed: list[asyncio.Event] = []
        self._left = asyncio.Event()
        self._server: grpc.aio.Server | None = None
        self._port = 0

    async def __aenter__(self) -> FakeLobby:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def start(self) -> None:
        """Listen, on the same port as before if it was stopped."""
        server = grpc.aio.server(options=[("grpc.so_reuseport", 0), ("grpc.http2.max_ping_strikes", 0)])
        add_LobbyServiceServicer_to_server(self, server)
        self._port = listen(server, f"127.0.0.1:{self._port}", self.credentials)
        self.address = f"127.0.0.1:{self._port}"
        await server.start()
        self._server = server

    async def stop(self) -> None:
        """Cut every call and stop listening."""
        if self._server is not None:
            await self._server.stop(grace=None)
            self._server = None

    def name_services(self, *services: pb.MatchServiceTicket) -> None:
        """From now on bots are to be at these match services; who attends is told at once."""
        self._services = list(services)
        for changed in self._changed:
            changed.set()

    def revoke(self, token: str) -> None:
        """Nobody with this token is let in any more; who attends is sent away."""
        self.tokens.pop(token, None)
        for changed in self._changed:
            changed.set()

    async def gone(self, token: str) -> None:
        """Wait until nobody attends with this token."""
        while self.attending.get(token):
            self._left.clear()
            await self._left.wait()

    async def RegisterBot(self, request: pb.RegisterBotRequest, context: _Context) -> pb.RegisterBotResponse:
        """Registers; a name is taken only once."""
        if request.name in self._names:
            message = f"the name {request.name!r} is taken"
            await abort(context, grpc.StatusCode.ALREADY_EXISTS, "REASON_NAME_TAKEN", message, {"name": request.name})
        number = len(self._names) + 1
        self._names[request.name] = f"bot-{number}"
        token = f"token-{number}"
        self.tokens[token] = f"bot-{number}"
        return pb.RegisterBotResponse(bot_id=f"bot-{number}", token=token)

    async def RotateToken(self, request: pb.RotateTokenRequest, context: _Context) -> pb.RotateTokenResponse:
        """Replaces the token; the old one ends at once."""
        token = await self._token(context)
        self.tokens[f"{token}-anew"] = self.tokens[token]
        self.revoke(token)
        return pb.RotateTokenResponse(token=f"{token}-anew")

    async def RevokeToken(self, request: pb.RevokeTokenRequest, context: _Context) -> pb.RevokeTokenResponse:
        """Ends the token."""
        self.revoke(await self._token(context))
        return pb.RevokeTokenResponse()

    async def RotateBotToken(self, request: pb.RotateBotTokenRequest, context: _Context) -> pb.RotateBotTokenResponse:
        """Gives a bot another token; whoever asks is taken for an operator."""
        bot_id = await self._revoke_of(request.name, context)
        token = f"{bot_id}-anew-{len(self.attended)}"
        self.tokens[token] = bot_id
        return pb.RotateBotTokenResponse(token=token)

    async def RevokeBotToken(self, request: pb.RevokeBotTokenRequest, context: _Context) -> pb.RevokeBotTokenResponse:
        """Throws a bot out; whoever asks is taken for an operator."""
        await self._revoke_of(request.name, context)
        return pb.RevokeBotTokenResponse()

    async def _revoke_of(self, name: str, context: _Context) -> str:
        """The id of the bot of a name, which has no token any more."""
        if name not in self._names:
            message = f"there is no bot named {name!r}"
            await abort(context, grpc.StatusCode.NOT_FOUND, "REASON_BOT_UNKNOWN", message, {"name": name})
        bot_id = self._names[name]
        for token in [token for token, owner in self.tokens.items() if owner == bot_id]:
            self.revoke(token)
        return bot_id

    async def ListBots(self, request: pb.ListBotsRequest, context: _Context) -> pb.ListBotsResponse:
        """Two bots a page, so that pages are turned."""
        names = sorted(self._names)
        start = int(request.page_token or 0)
        bots = [pb.Bot(bot_id=f"id-{name}", name=name, presence=pb.PRESENCE_AWAY) for name in names[start : start + 2]]
        more = str(start + 2) if start + 2 < len(names) else ""
        return pb.ListBotsResponse(bots=bots, next_page_token=more)

    async def Attend(self, request: pb.AttendRequest, context: _Context) -> AsyncIterator[pb.AttendResponse]:
        """Tells the match services at once and after every change."""
        token = await self._token(context)
        self.attended.append(request)
        changed = asyncio.Event()
        self._changed.append(changed)
        self.attending[token] = self.attending.get(token, 0) + 1
        try:
            while True:
                await self._token(context)
                yield pb.AttendResponse(match_services=self._services, silence_limit_s=self.silence_limit_s)
                await changed.wait()
                changed.clear()
        finally:
            self._changed.remove(changed)
            self.attending[token] -= 1
            self._left.set()

    async def _token(self, context: _Context) -> str:
        for key, value in context.invocation_metadata() or ():
            if key == "authorization" and str(value).removeprefix("Bearer ") in self.tokens:
                return str(value).removeprefix("Bearer ")
        return await abort(context, grpc.StatusCode.UNAUTHENTICATED, "REASON_TOKEN_UNKNOWN", "no such token", {})
