"""Channels to the platform, and what their errors mean to a user."""

from __future__ import annotations

import grpc
import grpc.aio
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2

from bots_sdk.client.diagnosis import diagnose
from bots_sdk.client.tls import Tls
from bots_sdk.errors import ERROR_DOMAIN, ArenaError, Refused, Unreachable, make_refused

MESSAGE_LIMIT = 64 << 20
"""The largest message read: what a match service sends at once is far below."""
_PING_MS = 10_000
_STATUS_DETAILS = "grpc-status-details-bin"
_SILENT_CODES = frozenset({grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED, grpc.StatusCode.DEADLINE_EXCEEDED})


_OPTIONS = (
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_retries", 0),
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.max_reconnect_backoff_ms", 2_000),
    ("grpc.max_receive_message_length", MESSAGE_LIMIT),
    ("grpc.max_send_message_length", MESSAGE_LIMIT),
    ("grpc.keepalive_time_ms", _PING_MS),
    ("grpc.keepalive_timeout_ms", _PING_MS),
    # Without it a half-open connection is noticed after a minute, whatever the keepalive.
    ("grpc.http2.ping_timeout_ms", _PING_MS),
)


def open_channel(address: str, tls: Tls | None = None) -> grpc.aio.Channel:
    """A new channel to HOST:PORT, in plain text without `tls`; nothing is connected yet.

    A fresh channel with subchannels of its own is back in a tenth of a second after a restart of the server, where an
    old one sits out its backoff.

    Raises:
        TlsFailed: the files of `tls` are not in order.
    """
    if tls is None:
        return grpc.aio.insecure_channel(address, options=_OPTIONS)
    return grpc.aio.secure_channel(address, tls.credentials(), options=_OPTIONS)


async def explain(error: grpc.aio.AioRpcError, address: str, tls: Tls | None) -> ArenaError:
    """As `error_of`, for a call of which nothing was heard: it is found out whether TLS is to blame.

    Returns:
        `TlsFailed` if it is.
    """
    plain = error_of(error, address)
    if isinstance(plain, Unreachable) and error.code() is grpc.StatusCode.UNAVAILABLE:
        return await diagnose(address, tls) or plain
    return plain


def error_of(error: grpc.aio.AioRpcError, address: str) -> ArenaError:
    """The SDK's error for a call that failed.

    Returns:
        A `Refused` (or a kind of it) if the platform said why, else `Unreachable`.
    """
    info = _error_info(error)
    said = error.details() or ""
    if info is not None:
        return make_refused(info.reason, said, info.metadata)
    code = error.code()
    if code in _SILENT_CODES:
        # What gRPC says changes from attempt to attempt and helps nobody, but for one case.
        if "resolving" in said or "DNS" in said:
            return Unreachable(f"there is no host of the name in {address}")
        return Unreachable(f"nobody answers at {address}, or the connection broke")
    if code is grpc.StatusCode.RESOURCE_EXHAUSTED and "larger than max" in said:
        # gRPC's own limit, on whichever side: it says no reason that a program could read.
        return make_refused("REASON_TOO_LARGE", f"a message to or from {address} is larger than the other side reads")
    if code is grpc.StatusCode.UNIMPLEMENTED:
        return Unreachable(f"what answers at {address} is no baohuang server, or one of another version")
    return Refused("REASON_UNSPECIFIED", f"{address} ended the call: {code.name}, {_first_line(said)}")


def _error_info(error: grpc.aio.AioRpcError) -> error_details_pb2.ErrorInfo | None:
    for key, value in error.trailing_metadata() or ():
        if key != _STATUS_DETAILS or not isinstance(value, bytes):
            continue
        try:
            details = status_pb2.Status.FromString(value).details
            for detail in details:
                info = error_details_pb2.ErrorInfo()
                if detail.Unpack(info) and info.domain == ERROR_DOMAIN:
                    return info
        except DecodeError:
            return None
    return None


def _first_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 200 else f"{line[:200]}…"
