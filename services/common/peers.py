"""Peers: whom to blame for what comes before anybody has said who it is, and how many streams each may hold open."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import grpc
import grpc.aio

from services.common.errors import rate_limited

STREAMS_OF_PEER = 200
STREAMS_IN_ALL = 2_000
"""Streams that whoever likes may open, such as watching a tournament or health: some 20 KiB each."""
RETRY_S = 1.0

_PORT = re.compile(r":\d+$")
_NETWORK_GROUPS = 4  # of an IPv6 address; a single customer commonly has 2^64 of them

_Context = grpc.aio.ServicerContext[Any, Any]


def peer_of(address: str) -> str:
    """Whom to blame for what comes from `address` (as gRPC names it): the host, of IPv6 the network."""
    kind, _, rest = address.partition(":")
    if kind == "ipv4":
        return _PORT.sub("", rest)
    if kind == "ipv6":
        return network_of(_PORT.sub("", rest.replace("%5B", "[").replace("%5D", "]")).strip("[]"))
    return kind  # a socket in the file system, for example: whoever may open it


def network_of(host: str) -> str:
    """The first half of an IPv6 address, anything else as it is."""
    if ":" not in host:
        return host
    address = host.partition("%")[0]
    if address.startswith("::ffff:") and "." in address:  # IPv4 in the clothes of IPv6
        return address.removeprefix("::ffff:")
    head, _, tail = address.partition("::")
    groups = head.split(":") if head else []
    if "::" in address:
        after = tail.split(":") if tail else []
        groups += ["0"] * (8 - len(groups) - len(after)) + after
    return ":".join(group.lstrip("0").lower() or "0" for group in groups[:_NETWORK_GROUPS]) + "::"


class Crowd:
    """So many at the same time, of one peer and in all."""

    __slots__ = ("_by_peer", "_in_all", "_of_peer", "_sentence", "_total")

    def __init__(self, of_peer: int, in_all: int, sentence: str) -> None:
        self._of_peer = of_peer
        self._in_all = in_all
        self._sentence = sentence
        self._by_peer: Counter[str] = Counter()
        self._total = 0

    def __len__(self) -> int:
        return self._total

    @contextmanager
    def place(self, peer: str) -> Iterator[None]:
        """One more, while the context lasts. Raises PlatformError RATE_LIMITED if there are too many already."""
        if self._total >= self._in_all or self._by_peer[peer] >= self._of_peer:
            raise rate_limited(self._sentence, RETRY_S)
        self._by_peer[peer] += 1
        self._total += 1
        try:
            yield
        finally:
            self._total -= 1
            self._by_peer[peer] -= 1
            if not self._by_peer[peer]:
                del self._by_peer[peer]


class StreamsInterceptor(grpc.aio.ServerInterceptor):
    """Bounds the streams that are open at the same time; to stand within `ErrorInterceptor`.

    Those in `others`, full paths, have bounds of their own.
    """

    def __init__(self, others: frozenset[str], crowd: Crowd | None = None) -> None:
        self._others = others
        usual = Crowd(STREAMS_OF_PEER, STREAMS_IN_ALL, "Too many streams are open already.")
        self.crowd = usual if crowd is None else crowd

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Any]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Any:
        """The handler of the call, wrapped if it is a stream; None where there is no such method."""
        handler = await continuation(handler_call_details)
        if handler is None or not handler.response_streaming or handler_call_details.method in self._others:
            return handler
        kind = "stream_stream" if handler.request_streaming else "unary_stream"
        behavior = getattr(handler, kind)
        bound = _bound_generator if inspect.isasyncgenfunction(behavior) else _bound_coroutine
        make: Any = getattr(grpc, f"{kind}_rpc_method_handler")
        return make(bound(behavior, self.crowd), handler.request_deserializer, handler.response_serializer)


def _bound_generator(behavior: Callable[..., AsyncGenerator[Any, None]], crowd: Crowd) -> Callable[..., Any]:
    async def bounded(request: Any, context: _Context) -> AsyncIterator[Any]:
        with crowd.place(peer_of(context.peer())):
            async for response in behavior(request, context):
                yield response

    return bounded


def _bound_coroutine(behavior: Callable[..., Awaitable[Any]], crowd: Crowd) -> Callable[..., Any]:
    async def bounded(request: Any, context: _Context) -> Any:
        with crowd.place(peer_of(context.peer())):
            return await behavior(request, context)

    return bounded
