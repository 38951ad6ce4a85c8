"""What every gRPC server here bears of its clients' connections: liveness, slowness, sizes, numbers.

Whatever gRPC can refuse before a byte reaches Python is refused there. Measured with grpcio 1.85
(`docs/adr/0010-hostile-clients.md`).
"""

from __future__ import annotations

import resource

MESSAGE_LIMIT = 1 << 20
"""Bytes of the largest message that is taken."""
RECEIVE_FACTOR = 4
"""gRPC reads so many times more, so that a message that is too large is refused by us, with a reason."""
HANDSHAKE_S = 10.0
"""A connection has so long to say that it speaks HTTP/2."""
IDLE_S = 120.0
"""A connection without a call is closed after so long; clients open another one when they need it."""
STREAMS_LIMIT = 100
"""Calls at the same time on one connection; the SDK has one."""
CONNECTIONS_LIMIT = 10_000
"""Connections at the same time, unless the process may open fewer files."""


def server_options(heartbeat_s: float, message_limit: int = MESSAGE_LIMIT) -> list[tuple[str, int]]:
    """The options of a grpc.aio server whose wires are looked after every `heartbeat_s`."""
    milliseconds = int(heartbeat_s * 1000)
    return [
        ("grpc.so_reuseport", 0),  # otherwise a second server would share the port in silence
        ("grpc.max_receive_message_length", RECEIVE_FACTOR * message_limit),
        ("grpc.keepalive_time_ms", milliseconds),
        ("grpc.keepalive_timeout_ms", milliseconds),
        ("grpc.http2.ping_timeout_ms", milliseconds),  # without it a half-open wire is noticed after a minute
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.min_ping_interval_without_data_ms", 1000),
        ("grpc.http2.max_ping_strikes", 0),
        ("grpc.server_handshake_timeout_ms", int(HANDSHAKE_S * 1000)),
        ("grpc.max_connection_idle_ms", int(IDLE_S * 1000)),
        ("grpc.max_concurrent_streams", STREAMS_LIMIT),
        ("grpc.max_allowed_incoming_connections", connections_limit()),
    ]


def connections_limit() -> int:
    """How many connections are let in: three of four files that the process may open, the rest is for its own work."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return CONNECTIONS_LIMIT if files == resource.RLIM_INFINITY else min(CONNECTIONS_LIMIT, max(files * 3 // 4, 1))
