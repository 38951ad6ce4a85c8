"""Requests come whole and soon: whoever begins one and does not go on holds memory here meanwhile.

gRPC waits for a request as long as its connection lives, before any handler of ours is asked, and keeps what has come
of it, up to the limit of a message. So a single request is read here, within a bounded time and by a bounded number of
callers at once.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import grpc
import grpc.aio

from services.common.errors import PlatformError, Reason, decode_request, verify_size
from services.common.peers import Crowd, peer_of

REQUEST_S = 10.0
"""A request of a single message has so long to come."""
PAUSE_S = 60.0
"""So long whoever likes may say nothing on a stream of requests."""
REQUESTS_OF_PEER = 500
REQUESTS_IN_ALL = 2_000
"""Requests that have begun and are not here yet: an honest one is for a moment."""

_Context = grpc.aio.ServicerContext[Any, Any]
_Read = Callable[[_Context], Awaitable[Any]]


class RequestsInterceptor(grpc.aio.ServerInterceptor):
    """Reads the requests of single messages itself, of at most `message_limit` bytes; within `ErrorInterceptor`.

    On the wire they are the same as streams that happen to have one message. The calls in `others`, full paths, read
    for themselves.
    """

    def __init__(self, others: frozenset[str], message_limit: int, crowd: Crowd | None = None) -> None:
        self._others = others
        self._message_limit = message_limit
        usual = Crowd(REQUESTS_OF_PEER, REQUESTS_IN_ALL, "Too many requests have begun and not ended.")
        self.crowd = usual if crowd is None else crowd

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Any]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Any:
        """The handler of the call, wrapped; None where there is no such method."""
        handler = await continuation(handler_call_details)
        if handler is None or handler_call_details.method in self._others:
            return handler
        answers = "stream" if handler.response_streaming else "unary"
        behavior = getattr(handler, f"{'stream' if handler.request_streaming else 'unary'}_{answers}")
        is_generator = inspect.isasyncgenfunction(behavior)
        make: Any = getattr(grpc, f"stream_{answers}_rpc_method_handler")
        if handler.request_streaming:
            pausing = _pausing_generator if is_generator else _pausing_coroutine
            return make(pausing(behavior), handler.request_deserializer, handler.response_serializer)
        read = self._reader(handler.request_deserializer)
        reading = _reading_generator if is_generator else _reading_coroutine
        return make(reading(behavior, read), None, handler.response_serializer)

    def _reader(self, decode: Callable[[bytes], Any] | None) -> _Read:
        async def read(context: _Context) -> Any:
            with self.crowd.place(peer_of(context.peer())):
                try:
                    async with asyncio.timeout(REQUEST_S):
                        data = await context.read()
                except TimeoutError:
                    raise PlatformError(Reason.SILENT, f"The request did not come within {REQUEST_S:g} s.") from None
            if data is grpc.aio.EOF:
                raise PlatformError(Reason.MALFORMED, "The call ended before its request.")
            verify_size(len(data), self._message_limit)
            return data if decode is None else decode_request(data, decode)

        return read


def _reading_generator(behavior: Callable[..., AsyncIterator[Any]], read: _Read) -> Callable[..., Any]:
    async def whole(_requests: object, context: _Context) -> AsyncIterator[Any]:
        async for response in behavior(await read(context), context):
            yield response

    return whole


def _reading_coroutine(behavior: Callable[..., Awaitable[Any]], read: _Read) -> Callable[..., Any]:
    async def whole(_requests: object, context: _Context) -> Any:
        return await behavior(await read(context), context)

    return whole


def _pausing_generator(behavior: Callable[..., AsyncIterator[Any]]) -> Callable[..., Any]:
    async def pausing(requests: AsyncIterator[Any], context: _Context) -> AsyncIterator[Any]:
        async for response in behavior(_soon(requests), context):
            yield response

    return pausing


def _pausing_coroutine(behavior: Callable[..., Awaitable[Any]]) -> Callable[..., Any]:
    async def pausing(requests: AsyncIterator[Any], context: _Context) -> Any:
        return await behavior(_soon(requests), context)

    return pausing


async def _soon(requests: AsyncIterator[Any]) -> AsyncIterator[Any]:
    """The requests of a stream, as long as they come."""
    coming = aiter(requests)
    while True:
        try:
            async with asyncio.timeout(PAUSE_S):
                request = await anext(coming)
        except StopAsyncIteration:
            return
        except TimeoutError:
            raise PlatformError(Reason.SILENT, f"Nothing was asked for {PAUSE_S:g} s.") from None
        yield request
