"""The one place where it is decided whether a call is answered."""

from __future__ import annotations

import inspect
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import Any

import grpc
import grpc.aio

from services.access.callers import Caller, parse_bearer, set_caller
from services.access.gate import Gate, token_unknown
from services.access.needs import Need, need_of
from services.common.ending import until_ended
from services.common.errors import PlatformError, Reason
from services.common.peers import peer_of

_log = logging.getLogger(__name__)

_Context = grpc.aio.ServicerContext[Any, Any]
_Admit = Callable[[_Context], Awaitable[Caller]]


class AccessInterceptor(grpc.aio.ServerInterceptor):
    """Asks of every call what the table of needs says; to stand within `ErrorInterceptor`, which tells the client.

    A stream that was opened with a token ends with TOKEN_UNKNOWN as soon as the token does.
    """

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Any]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Any:
        """The handler of the call, wrapped; None where there is no such method."""
        handler = await continuation(handler_call_details)
        path: str = handler_call_details.method
        need = need_of(path)
        if handler is None or need is Need.NOTHING:
            return handler

        async def admit(context: _Context) -> Caller:
            return await self._admit(context, need, path)

        if handler.request_streaming:
            raise TypeError(f"{path} takes a stream: nobody has decided yet when its caller is looked at")
        guarded: Any
        if not handler.response_streaming:
            make, guarded = grpc.unary_unary_rpc_method_handler, _guard_unary(handler.unary_unary, admit)
        elif inspect.isasyncgenfunction(handler.unary_stream):
            make = grpc.unary_stream_rpc_method_handler
            guarded = _guard_stream(handler.unary_stream, admit, self._gate)
        else:
            raise TypeError(f"{path} is no asynchronous generator")
        return make(guarded, handler.request_deserializer, handler.response_serializer)

    async def _admit(self, context: _Context, need: Need | None, path: str) -> Caller:
        method = path.rpartition("/")[2]
        if need is None:  # written and not yet decided upon: for nobody
            raise PlatformError(Reason.FORBIDDEN, f"{method} is for nobody yet.", needs="", has="")
        caller = await self._gate.identify(token_of(context), peer_of(context.peer()))
        self._gate.rules.verify(caller, need, method)
        if need is Need.OPERATE:
            _log.info("operator calls", extra={"method": path, "by": caller.name})
        set_caller(caller)
        return caller


def token_of(context: _Context) -> str:
    """The token that a call carries; empty if it carries none. Raises as `parse_bearer`."""
    for key, value in context.invocation_metadata() or ():
        if key == "authorization":
            return parse_bearer(value if isinstance(value, str) else "")
    return ""


def _guard_unary(behavior: Callable[..., Awaitable[Any]], admit: _Admit) -> Callable[..., Awaitable[Any]]:
    async def guarded(request: Any, context: _Context) -> Any:
        await admit(context)
        return await behavior(request, context)

    return guarded


def _guard_stream(
    behavior: Callable[..., AsyncGenerator[Any, None]], admit: _Admit, gate: Gate
) -> Callable[..., AsyncIterator[Any]]:
    async def guarded(request: Any, context: _Context) -> AsyncIterator[Any]:
        caller = await admit(context)
        with gate.watch(caller) as ended:  # before anything else has its turn: no end goes unheard
            async for response in until_ended(behavior(request, context), ended, token_unknown):
                yield response

    return guarded
