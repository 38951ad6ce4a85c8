"""Certificates of clients that were revoked: they get no answer over gRPC, and their streams end.

gRPC for Python knows no lists of revoked certificates, so whoever is on one gets through the handshake, and no further.
"""

from __future__ import annotations

import asyncio
import inspect
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import grpc
import grpc.aio
from cryptography import x509

from services.common.certificates import Identity, identity_of
from services.common.ending import done_until_ended, until_ended
from services.common.errors import PlatformError, Reason
from services.common.live_tls import LOOK_S, LiveTls

_PEM = "x509_pem_cert"
"""What gRPC calls the certificate of a client."""

_Context = grpc.aio.ServicerContext[Any, Any]


class RevocationInterceptor(grpc.aio.ServerInterceptor):
    """Refuses every call with a certificate that was revoked, with CERTIFICATE_REVOKED; to stand within
    `ErrorInterceptor`, which tells the client. Streams end so within seconds of the revocation."""

    def __init__(self, tls: LiveTls, pause: float = LOOK_S) -> None:
        self._tls = tls
        self._pause = pause
        self._open: dict[Identity, set[asyncio.Event]] = defaultdict(set)
        self._looking: asyncio.Task[None] | None = None

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Any]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Any:
        """The handler of the call, wrapped; None where there is no such method."""
        handler = await continuation(handler_call_details)
        if handler is None:
            return None
        kind = "_".join("stream" if one else "unary" for one in (handler.request_streaming, handler.response_streaming))
        behavior = getattr(handler, kind)
        guard: Callable[..., Any]
        if inspect.isasyncgenfunction(behavior):
            guard = self._guard_generator
        elif handler.request_streaming or handler.response_streaming:
            guard = self._guard_stream
        else:
            guard = self._guard_call
        make: Any = getattr(grpc, f"{kind}_rpc_method_handler")
        return make(guard(behavior), handler.request_deserializer, handler.response_serializer)

    def _guard_call(self, behavior: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def guarded(request: Any, context: _Context) -> Any:
            self._verify(_shown(context))
            return await behavior(request, context)

        return guarded

    def _guard_stream(self, behavior: Callable[..., Coroutine[Any, Any, Any]]) -> Callable[..., Awaitable[Any]]:
        async def guarded(request: Any, context: _Context) -> Any:
            with self._watch(_shown(context)) as ended:
                return await done_until_ended(behavior(request, context), ended, _revoked)

        return guarded

    def _guard_generator(self, behavior: Callable[..., AsyncGenerator[Any, None]]) -> Callable[..., AsyncIterator[Any]]:
        async def guarded(request: Any, context: _Context) -> AsyncIterator[Any]:
            with self._watch(_shown(context)) as ended:
                async for response in until_ended(behavior(request, context), ended, _revoked):
                    yield response

        return guarded

    def _verify(self, identity: Identity) -> None:
        if identity in self._tls.revoked:
            raise _revoked()

    @contextmanager
    def _watch(self, identity: Identity) -> Iterator[asyncio.Event]:
        """What is set when the certificate is revoked while the context lasts."""
        self._verify(identity)
        ended = asyncio.Event()
        self._open[identity].add(ended)
        if self._looking is None:
            self._looking = asyncio.create_task(self._look())
        try:
            yield ended
        finally:
            self._open[identity].discard(ended)
            if not self._open[identity]:
                del self._open[identity]

    async def _look(self) -> None:
        """As long as there are streams: who has one need not shake hands again."""
        while self._open:
            await asyncio.sleep(self._pause)
            for identity in self._tls.revoked & self._open.keys():
                for ended in self._open[identity]:
                    ended.set()
        self._looking = None


def revocation_interceptors(tls: LiveTls | None) -> list[grpc.aio.ServerInterceptor]:
    """One, where certificates may be revoked."""
    return [RevocationInterceptor(tls)] if tls is not None and tls.watches_clients else []


def _shown(context: _Context) -> Identity:
    """The certificate with which the client came; mutual TLS sees to it that there is one."""
    (pem,) = context.auth_context()[_PEM]
    return _identity(bytes(pem))


@lru_cache(maxsize=4096)
def _identity(pem: bytes) -> Identity:
    return identity_of(x509.load_pem_x509_certificate(pem))


def _revoked() -> PlatformError:
    return PlatformError(Reason.CERTIFICATE_REVOKED, "The certificate with which you came was revoked.")
