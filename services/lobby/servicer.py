"""`LobbyService` over gRPC: decodes, calls the lobby, encodes.

Who may call what is decided before, by `AccessInterceptor`; errors go through `ErrorInterceptor`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import grpc.aio

from baohuang.lobby.v1 import lobby_service_pb2 as pb
from baohuang.lobby.v1 import lobby_service_pb2_grpc as pb_grpc
from services.access.callers import current_bot, current_caller
from services.common.peers import peer_of
from services.common.scopes import Scope
from services.lobby.attendance import Assignment
from services.lobby.lobby import ListedBot, Lobby
from services.lobby.presence import Presence

_Context = grpc.aio.ServicerContext[Any, Any]

_PRESENCE = {Presence.HERE: pb.PRESENCE_HERE, Presence.AWAY: pb.PRESENCE_AWAY, Presence.GONE: pb.PRESENCE_GONE}


class LobbyServicer(pb_grpc.LobbyServiceServicer):
    """The lobby's calls."""

    def __init__(self, lobby: Lobby) -> None:
        self._lobby = lobby

    async def RegisterBot(self, request: pb.RegisterBotRequest, context: _Context) -> pb.RegisterBotResponse:
        # An operator registers as many as are needed.
        peer = None if Scope.OPERATE in current_caller().scopes else peer_of(context.peer())
        made = await self._lobby.register(request.name, request.owner, request.version, peer)
        return pb.RegisterBotResponse(bot_id=made.bot.bot_id, token=made.token)

    async def RotateToken(self, request: pb.RotateTokenRequest, context: _Context) -> pb.RotateTokenResponse:
        return pb.RotateTokenResponse(token=await self._lobby.rotate(*current_bot()))

    async def RevokeToken(self, request: pb.RevokeTokenRequest, context: _Context) -> pb.RevokeTokenResponse:
        await self._lobby.revoke(*current_bot())
        return pb.RevokeTokenResponse()

    async def Attend(self, request: pb.AttendRequest, context: _Context) -> AsyncIterator[pb.AttendResponse]:
        bot, _ = current_bot()
        with self._lobby.attend(
            bot, sdk=request.sdk, protocol_version=request.protocol_version, tables=request.tables
        ) as attendance:
            async for assignment in attendance.assignments():
                yield assignment_to_proto(assignment)

    async def ListBots(self, request: pb.ListBotsRequest, context: _Context) -> pb.ListBotsResponse:
        page = await self._lobby.bots(request.page_token, request.page_size)
        return pb.ListBotsResponse(bots=map(bot_to_proto, page.bots), next_page_token=page.after)

    async def RotateBotToken(self, request: pb.RotateBotTokenRequest, context: _Context) -> pb.RotateBotTokenResponse:
        return pb.RotateBotTokenResponse(token=await self._lobby.rotate_for(request.name, current_caller().name))

    async def RevokeBotToken(self, request: pb.RevokeBotTokenRequest, context: _Context) -> pb.RevokeBotTokenResponse:
        await self._lobby.revoke_for(request.name, current_caller().name)
        return pb.RevokeBotTokenResponse()


def assignment_to_proto(assignment: Assignment) -> pb.AttendResponse:
    response = pb.AttendResponse(silence_limit_s=-(-assignment.silence_limit // timedelta(seconds=1)))
    for given in assignment.match_services:
        response.match_services.add(
            name=given.match_service.name,
            address=given.match_service.address,
            ticket=given.ticket,
            expires_at=given.expires_at,
            tables=given.tables,
        )
    return response


def bot_to_proto(listed: ListedBot) -> pb.Bot:
    bot, sighting = listed.bot, listed.sighting
    message = pb.Bot(bot_id=bot.bot_id, name=bot.name, owner=bot.owner, version=bot.version)
    if sighting:
        message.presence = _PRESENCE[sighting.presence]
        message.since.FromDatetime(sighting.since)
    return message
