"""Metrics of one process, asked for by somebody who means no good: a thread for each, but few, and none for long."""

from __future__ import annotations

import socket
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from services.common.metrics import make_registry
from services.common.scraping import CLIENTS_LIMIT, MetricsServer, serve_metrics
from services.common.targets import Role

PATIENCE = 1.0


@pytest.fixture
def server() -> Iterator[MetricsServer]:
    server = serve_metrics(make_registry(Role.DIRECTOR), "127.0.0.1", patience=PATIENCE)
    yield server
    server.close()


def connect(server: MetricsServer) -> socket.socket:
    host, _, port = server.address.rpartition(":")
    client = socket.create_connection((host, int(port)))
    client.settimeout(60)
    return client


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def is_closed(client: socket.socket) -> bool:
    try:
        return client.recv(1) == b""
    except ConnectionError:
        return True


def test_many_silent_connections_take_few_threads_and_end_by_themselves(server: MetricsServer) -> None:
    threads = threading.active_count()
    with ExitStack() as stack:
        clients = [stack.enter_context(connect(server)) for _ in range(5 * CLIENTS_LIMIT)]
        assert all(is_closed(client) for client in clients[CLIENTS_LIMIT:])
        assert threading.active_count() <= threads + CLIENTS_LIMIT
        assert all(is_closed(client) for client in clients)
    until(lambda: threading.active_count() <= threads)
    with urllib.request.urlopen(f"http://{server.address}/metrics", timeout=60) as response:
        assert b"baohuang_build_info" in response.read()


def test_a_request_that_trickles_has_no_more_time_than_another(server: MetricsServer) -> None:
    threads = threading.active_count()
    with connect(server) as client:
        client.sendall(b"GET /metrics HTTP/1.0\r\n")
        until(lambda: threading.active_count() > threads)

        def is_over() -> bool:
            try:
                client.sendall(b"X: y\r\n")
            except ConnectionError:
                return True
            time.sleep(PATIENCE / 20)
            return False

        until(is_over)
    until(lambda: threading.active_count() <= threads)
