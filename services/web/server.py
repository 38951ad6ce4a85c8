"""Serves an ASGI application inside a running event loop, beside everything else that lives there."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import socket
from collections.abc import Iterator
from typing import Any

import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol

from services.common.errors import SetupError
from services.common.live_tls import LiveTls
from services.common.targets import format_address

GRACE_SECONDS = 2
"""How long requests may go on when the server is closed."""

BACKLOG = 128

PATIENCE_SECONDS = 30.0
"""A connection on which no answer is finished in this time is closed: nothing else ends one that says nothing."""

CONNECTIONS = 500
"""At the same time; the process needs its files for bots and for the ledger."""


class WebServer:
    """A running server; `address` is where it listens ("host:port")."""

    def __init__(self, address: str, server: uvicorn.Server, task: asyncio.Task[None]) -> None:
        self.address = address
        self._server = server
        self._task = task

    async def close(self) -> None:
        """Stop listening, let running requests end for a moment, return when all is closed."""
        self._server.should_exit = True
        await self._task


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Ctrl-C belongs to whoever runs the loop."""
        yield


class _Connection(H11Protocol):
    """One connection, with an end to the patience with it."""

    def __init__(self, *args: Any, patience: float, limit: int, tls: LiveTls | None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._patience = patience
        self._limit = limit
        self._tls = tls
        self._answers = 0
        self._look: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self._limit:
            transport.abort()
        else:
            self._look = self.loop.call_later(self._patience, self._look_again, 0)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._look is not None:
            self._look.cancel()

    def on_response_complete(self) -> None:
        self._answers += 1
        super().on_response_complete()

    def _look_again(self, answers: int) -> None:
        if self._answers == answers or self._is_revoked():
            self.transport.abort()
        else:
            self._look = self.loop.call_later(self._patience, self._look_again, self._answers)

    def _is_revoked(self) -> bool:
        """A handshake would be refused by now, but a connection that goes on asking has none."""
        if self._tls is None or not self._tls.watches_clients:
            return False
        certificate = self.transport.get_extra_info("ssl_object").getpeercert(binary_form=True)
        return self._tls.is_revoked(certificate)


async def serve_web(
    app: Starlette,
    host: str,
    port: int = 0,
    *,
    tls: LiveTls | None = None,
    patience: float = PATIENCE_SECONDS,
    connections: int = CONNECTIONS,
) -> WebServer:
    """Serve `app` in the running loop; port 0: any free one.

    Raises SetupError when the address cannot be listened on.
    """
    context = None if tls is None else tls.http_context()
    listening = _listen(host, port)
    config = uvicorn.Config(
        app,
        http=functools.partial(_Connection, patience=patience, limit=connections, tls=tls),  # type: ignore[arg-type]
        log_config=None,
        access_log=False,
        lifespan="off",
        ws="none",
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
        ssl_context_factory=None if context is None else lambda _config, _make: context,
    )
    server = _Server(config)
    task = asyncio.create_task(server.serve(sockets=[listening]), name="web server")
    while not server.started:
        if task.done():
            listening.close()
            await task
            raise SetupError("The web server ended before it had begun.")
        await asyncio.sleep(0)
    return WebServer(format_address(host, listening.getsockname()[1]), server, task)


def _listen(host: str, port: int) -> socket.socket:
    address = format_address(host, port)
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except socket.gaierror as error:
        raise SetupError(f"The host {host} cannot be found ({error.strerror}): choose another.", host=host) from None
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(place)
        # At once, so that a taken port is known here and not in a task.
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        sentence = (
            f"The page cannot be served at {address} ({error.strerror}): choose another with --host or --http-port."
        )
        raise SetupError(sentence, address=address) from None
    listening.setblocking(False)
    return listening
