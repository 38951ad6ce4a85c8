"""Answers Prometheus: `/metrics` of one process, over HTTP or HTTPS, from a thread of its own."""

from __future__ import annotations

import contextlib
import socket
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from socketserver import ThreadingMixIn
from threading import Thread
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import CollectorRegistry, make_wsgi_app

from services.common.errors import SetupError
from services.common.live_tls import LiveTls
from services.common.targets import format_address

PATIENCE = 10.0
"""Seconds for a client to do its part, all of it: a handshake, a request, reading an answer."""

CLIENTS_LIMIT = 16
"""At the same time: each has a thread. Whoever wants to keep Prometheus out can; the process goes on."""


@dataclass(frozen=True, slots=True)
class MetricsServer:
    """A thread that answers Prometheus at `address` ("host:port") until it is closed."""

    address: str
    close: Callable[[], None]


def serve_metrics(
    registry: CollectorRegistry,
    host: str,
    port: int = 0,
    *,
    reachable_host: str = "",
    tls: LiveTls | None = None,
    patience: float = PATIENCE,
) -> MetricsServer:
    """Serve `/metrics`; port 0: any free one. `reachable_host`: what others are told instead of `host`.

    Raises SetupError when the address cannot be listened on.
    """
    context = None if tls is None else tls.http_context()
    try:
        family, _, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]

        class Server(_Server):
            address_family = family

        server = make_server(str(place[0]), port, make_wsgi_app(registry), Server, _SilentHandler)
    except OSError as error:
        address = format_address(host, port)
        sentence = f"Metrics cannot be served at {address} ({error.strerror}): choose another host or port."
        raise SetupError(sentence, address=address) from None
    server.context = context
    server.patience = patience
    thread = Thread(target=server.serve_forever, name="metrics", daemon=True)
    thread.start()
    return MetricsServer(
        format_address(reachable_host or host, server.server_port), lambda: _close(server, thread.join)
    )


class _Server(ThreadingMixIn, WSGIServer):
    """A thread for each client, for its handshake too: whoever is slow with it keeps nobody else waiting."""

    daemon_threads = True
    context: ssl.SSLContext | None = None
    patience = PATIENCE

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # By the socket that was accepted: the one that is read from, and when that has to be over.
        self._clients: dict[int, tuple[socket.socket, float]] = {}

    def process_request(self, request: Any, client_address: Any) -> None:
        if len(self._clients) >= CLIENTS_LIMIT:
            self.shutdown_request(request)
            return
        request.settimeout(self.patience)
        self._clients[id(request)] = (request, time.monotonic() + self.patience)
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        accepted = request
        try:
            if self.context is not None:
                request = self.context.wrap_socket(accepted, server_side=True, do_handshake_on_connect=False)
                self._clients[id(accepted)] = (request, self._clients[id(accepted)][1])
                request.do_handshake()
            super().process_request_thread(request, client_address)
        except OSError:  # no handshake
            self.shutdown_request(request)
        finally:
            del self._clients[id(accepted)]

    def service_actions(self) -> None:
        """Twice a second: ends what takes too long, also what always does a little."""
        now = time.monotonic()
        for client, until in list(self._clients.values()):
            if now > until:
                with contextlib.suppress(OSError):  # its thread was just done with it
                    socket.socket.shutdown(client, socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is nobody's fault; the default prints a traceback."""


class _SilentHandler(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Scrapes are no news."""


def _close(server: WSGIServer, join: Callable[[], None]) -> None:
    server.shutdown()
    join()
    server.server_close()
