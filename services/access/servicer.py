"""`AccessService` over gRPC: decodes, calls, encodes. Who may call what is decided before, by `AccessInterceptor`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import grpc.aio

from baohuang.access.v1 import access_service_pb2 as pb
from baohuang.access.v1 import access_service_pb2_grpc as pb_grpc
from services.access.administration import AccessTokens
from services.access.callers import current_caller
from services.common.errors import PlatformError, Reason
from services.common.scopes import GIVEN_SCOPES, Scope
from services.ledger.values import AccessToken

SERVICE_NAME = "baohuang.access.v1.AccessService"

_Context = grpc.aio.ServicerContext[Any, Any]

_TO_PROTO = {Scope.PLAY: pb.SCOPE_PLAY, Scope.OPERATE: pb.SCOPE_OPERATE, Scope.READ: pb.SCOPE_READ}
_FROM_PROTO: dict[int, Scope] = {number: scope for scope, number in _TO_PROTO.items()}


class AccessServicer(pb_grpc.AccessServiceServicer):
    """The calls about tokens."""

    def __init__(self, tokens: AccessTokens) -> None:
        self._tokens = tokens

    async def GetCaller(self, request: pb.GetCallerRequest, context: _Context) -> pb.GetCallerResponse:
        caller = current_caller()
        return pb.GetCallerResponse(
            name=caller.name, is_bot=caller.bot is not None, scopes=scopes_to_proto(caller.scopes)
        )

    async def CreateToken(self, request: pb.CreateTokenRequest, context: _Context) -> pb.CreateTokenResponse:
        token = await self._tokens.create(request.name, scopes_from_proto(request.scopes))
        return pb.CreateTokenResponse(token=token)

    async def ListTokens(self, request: pb.ListTokensRequest, context: _Context) -> pb.ListTokensResponse:
        page = await self._tokens.page(request.page_token, request.page_size)
        return pb.ListTokensResponse(tokens=map(token_to_proto, page.items), next_page_token=page.after)

    async def RotateToken(self, request: pb.RotateTokenRequest, context: _Context) -> pb.RotateTokenResponse:
        return pb.RotateTokenResponse(token=await self._tokens.rotate(request.name))

    async def RevokeToken(self, request: pb.RevokeTokenRequest, context: _Context) -> pb.RevokeTokenResponse:
        await self._tokens.revoke(request.name)
        return pb.RevokeTokenResponse()


def scopes_to_proto(scopes: Iterable[Scope]) -> list[pb.Scope.ValueType]:
    return sorted(_TO_PROTO[scope] for scope in scopes)


def scopes_from_proto(numbers: Iterable[int]) -> frozenset[Scope]:
    """Raises PlatformError MALFORMED for a scope that this platform does not know."""
    scopes = set()
    for number in numbers:
        if number not in _FROM_PROTO:
            raise PlatformError(
                Reason.MALFORMED,
                f"scopes has {number}, which is no scope: there are {', '.join(GIVEN_SCOPES)}.",
                field="scopes",
            )
        scopes.add(_FROM_PROTO[number])
    return frozenset(scopes)


def token_to_proto(token: AccessToken) -> pb.AccessToken:
    message = pb.AccessToken(name=token.name, scopes=scopes_to_proto(token.scopes))
    message.created_at.FromDatetime(token.created_at)
    if token.rotated_at:
        message.rotated_at.FromDatetime(token.rotated_at)
    if token.revoked_at:
        message.revoked_at.FromDatetime(token.revoked_at)
    return message
