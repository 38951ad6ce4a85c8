"""The one table of what can go wrong, and the one way in which it reaches a client.

    PlatformError     refused, with a reason that a client can act upon; its message is one sentence for people
    └── SetupError    the platform cannot start as it was told to; never sent to a client

Servicers raise; `ErrorInterceptor` turns what is raised into a `google.rpc.Status`.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import math
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from enum import IntEnum
from typing import Any, NamedTuple, NoReturn

import grpc
import grpc.aio
from google.protobuf import any_pb2
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

_log = logging.getLogger(__name__)

_Context = grpc.aio.ServicerContext[Any, Any]

DOMAIN = "baohuang.arena"
"""The `domain` of every `ErrorInfo` of this platform."""

MESSAGE_LIMIT = 1200
"""The most bytes of a message, and of all metadata together, that are sent: clients refuse headers beyond 8 kB, and a
message travels twice, once with three bytes for each that is not ASCII."""


class Reason(IntEnum):
    """Why a call or a stream was refused; numbers and names are those of `baohuang.error.v1.Reason`."""

    MALFORMED = 1
    UNAUTHENTICATED = 2
    TOKEN_UNKNOWN = 3
    TICKET_INVALID = 4
    VERSION_UNSUPPORTED = 5
    HELLO_EXPECTED = 6
    SUPERSEDED = 7
    SILENT = 8
    DRAINING = 9
    RATE_LIMITED = 10
    NAME_TAKEN = 11
    NAME_INVALID = 12
    BOT_UNKNOWN = 13
    SPEC_INVALID = 14
    TOURNAMENT_UNKNOWN = 15
    TOURNAMENT_EXISTS = 16
    STATE_CONFLICT = 17
    LEDGER_LOCKED = 18
    LEDGER_VERSION = 19
    LEDGER_UNWRITABLE = 20
    INTERNAL = 21
    UNREACHABLE = 22
    TOO_LARGE = 23
    FORBIDDEN = 24
    ACCESS_TOKEN_UNKNOWN = 25
    LEDGER_UNREACHABLE = 26
    CERTIFICATE_REVOKED = 27

    @property
    def wire_name(self) -> str:
        """The name in the protocol, for example `REASON_MALFORMED`."""
        return f"REASON_{self.name}"


class Remedy(NamedTuple):
    """What a reason means to a client: the gRPC status code, and what to do next in one sentence."""

    code: grpc.StatusCode
    next_step: str


_CODE = grpc.StatusCode
REMEDIES: dict[Reason, Remedy] = {
    Reason.MALFORMED: Remedy(_CODE.INVALID_ARGUMENT, "Mend the field that the message names and send it again."),
    Reason.UNAUTHENTICATED: Remedy(
        _CODE.UNAUTHENTICATED,
        "Send a token as `authorization: Bearer TOKEN` to the platform, and the lobby's ticket to a match service.",
    ),
    Reason.TOKEN_UNKNOWN: Remedy(
        _CODE.UNAUTHENTICATED, "Check the token for missing characters; ask an operator for a new one if it was ended."
    ),
    Reason.TICKET_INVALID: Remedy(
        _CODE.UNAUTHENTICATED,
        "Attend at the lobby again and use the fresh ticket for exactly the match service it names.",
    ),
    Reason.VERSION_UNSUPPORTED: Remedy(
        _CODE.FAILED_PRECONDITION, "Install the version of the SDK that the message names; asking again will not help."
    ),
    Reason.HELLO_EXPECTED: Remedy(
        _CODE.FAILED_PRECONDITION, "Open a new stream and send `hello` as its first record, once."
    ),
    Reason.SUPERSEDED: Remedy(
        _CODE.ABORTED, "Do not come back: a newer stream of the same bot plays on; stop one of the two processes."
    ),
    Reason.SILENT: Remedy(
        _CODE.UNAVAILABLE, "Open a new stream and send heartbeats as often as `welcome` asks; the seats are kept."
    ),
    Reason.DRAINING: Remedy(
        _CODE.UNAVAILABLE, "Stay with the lobby: it names another match service, or the same one when it is back."
    ),
    Reason.RATE_LIMITED: Remedy(_CODE.RESOURCE_EXHAUSTED, "Wait as long as `retry_after_ms` says, then ask again."),
    Reason.NAME_TAKEN: Remedy(
        _CODE.ALREADY_EXISTS, "Choose another name, or use the token that was given for this one."
    ),
    Reason.NAME_INVALID: Remedy(_CODE.INVALID_ARGUMENT, "Choose a name of the form that the message describes."),
    Reason.BOT_UNKNOWN: Remedy(_CODE.NOT_FOUND, "Check the spelling of the bot's name, or register it first."),
    Reason.SPEC_INVALID: Remedy(
        _CODE.INVALID_ARGUMENT, "Mend the key that the message names; it says what is allowed there."
    ),
    Reason.TOURNAMENT_UNKNOWN: Remedy(_CODE.NOT_FOUND, "See which tournaments there are: `baohuang tournament list`."),
    Reason.TOURNAMENT_EXISTS: Remedy(
        _CODE.ALREADY_EXISTS, "Go on with the old one (`baohuang tournament resume`), or give the new one another name."
    ),
    Reason.STATE_CONFLICT: Remedy(
        _CODE.FAILED_PRECONDITION, "See the tournament's state (`baohuang tournament show`) and ask for what it allows."
    ),
    Reason.LEDGER_LOCKED: Remedy(
        _CODE.FAILED_PRECONDITION, "Stop the other process that has the ledger open, or use another data directory."
    ),
    Reason.LEDGER_VERSION: Remedy(
        _CODE.FAILED_PRECONDITION,
        "Use the version of the platform that wrote the ledger, or migrate it as the message says.",
    ),
    Reason.LEDGER_UNWRITABLE: Remedy(
        _CODE.RESOURCE_EXHAUSTED,
        "Make room or give the right to write where the ledger lies; nothing finished is lost.",
    ),
    Reason.INTERNAL: Remedy(
        _CODE.INTERNAL, "Ask again once; if it stays, report the `incident`, under which the log tells more."
    ),
    Reason.UNREACHABLE: Remedy(
        _CODE.UNAVAILABLE, "Check address and port, and that `baohuang serve` is running there."
    ),
    Reason.TOO_LARGE: Remedy(_CODE.RESOURCE_EXHAUSTED, "Send less at once; `welcome` names the limit of a message."),
    Reason.FORBIDDEN: Remedy(_CODE.PERMISSION_DENIED, "Use a token with the scope that `needs` names."),
    Reason.ACCESS_TOKEN_UNKNOWN: Remedy(_CODE.NOT_FOUND, "See which tokens there are: `baohuang token list`."),
    Reason.LEDGER_UNREACHABLE: Remedy(
        _CODE.UNAVAILABLE,
        "See to it that the server of the database runs and can be reached, then ask again; nothing finished is lost.",
    ),
    Reason.CERTIFICATE_REVOKED: Remedy(
        _CODE.UNAUTHENTICATED,
        "Ask the operator for another certificate, and put it in place of the old one.",
    ),
}
"""The table: for every reason its gRPC status code and what to do next. `docs/errors.md` is made from it."""


class PlatformError(Exception):
    """A refusal that a client can act upon.

    Attributes:
        reason: one of the closed set of reasons.
        message: one sentence for people: what was wrong, where, what is allowed. No secret, no path of the server.
        metadata: every variable part of the sentence, for programs.
    """

    def __init__(self, reason: Reason, message: str, **metadata: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.metadata = metadata

    def __reduce__(self) -> tuple[object, ...]:
        # Errors cross between actors; the default would call the class with the message alone.
        return _rebuild, (type(self), self.reason, self.message, self.metadata)

    @property
    def code(self) -> grpc.StatusCode:
        """The gRPC status code of the reason."""
        return REMEDIES[self.reason].code

    @property
    def next_step(self) -> str:
        """What to do next, one sentence."""
        return REMEDIES[self.reason].next_step


class SetupError(PlatformError):
    """The platform cannot start as it was told to: a setting is wrong, or an address is taken.

    It is for whoever typed the command. Should one surface within a call, the client learns no more than an incident.
    """

    def __init__(self, message: str, **metadata: str) -> None:
        super().__init__(Reason.INTERNAL, message, **metadata)

    @property
    def next_step(self) -> str:
        """What to do next, one sentence."""
        return "Change what the message names and start again."


def rate_limited(sentence: str, seconds: float) -> PlatformError:
    """The refusal of what came too often; `retry_after_ms` in its metadata says when to come again, never too early."""
    milliseconds = math.ceil(seconds * 1000) + 1
    return PlatformError(
        Reason.RATE_LIMITED,
        f"{sentence} Come again in {milliseconds / 1000:.1f} s.",
        retry_after_ms=str(milliseconds),
    )


def _rebuild(cls: type[PlatformError], reason: Reason, message: str, metadata: dict[str, str]) -> PlatformError:
    error = cls.__new__(cls)
    PlatformError.__init__(error, reason, message, **metadata)
    return error


def verify_size(size: int, limit: int) -> None:
    """Raises PlatformError TOO_LARGE if a message of `size` bytes is larger than `limit`."""
    if size > limit:
        raise PlatformError(
            Reason.TOO_LARGE,
            f"The message has {size} bytes; at most {limit} are read at once.",
            size=str(size),
            limit=str(limit),
        )


def status_of(error: PlatformError) -> status_pb2.Status:
    """What a client gets: code, message, and one `ErrorInfo` with reason, domain and metadata, within header limits."""
    info = error_details_pb2.ErrorInfo(reason=error.reason.wire_name, domain=DOMAIN)
    left = MESSAGE_LIMIT
    for key, value in error.metadata.items():
        short = shorten(value, max(0, left - len(key)))
        left -= len(key) + len(short.encode())
        if left < 0:
            break
        info.metadata[key] = short
    detail = any_pb2.Any()
    detail.Pack(info)
    code: int = REMEDIES[error.reason].code.value[0]
    return status_pb2.Status(code=code, message=shorten(error.message, MESSAGE_LIMIT), details=[detail])


def shorten(text: str, limit: int) -> str:
    """The text, cut to at most `limit` bytes of UTF-8; an ellipsis shows that something is missing."""
    data = text.encode("utf-8", "replace")
    if len(data) <= limit:
        return data.decode()
    ellipsis = "…"
    kept = data[: max(0, limit - len(ellipsis.encode()))].decode("utf-8", "ignore")
    return kept + ellipsis if limit >= len(ellipsis.encode()) else ""


def _ignore(reason: Reason) -> None:
    """Count nothing."""


class ErrorInterceptor(grpc.aio.ServerInterceptor):
    """Ends every failed call of a grpc.aio server with a rich status, and tells nobody the text of an exception.

    `PlatformError` becomes the status of its reason. Whatever else is raised is a fault of the platform: it is logged
    with an incident id, and the client gets that id and nothing more. `refused`, if given, is called with every
    reason sent.
    """

    def __init__(self, refused: Callable[[Reason], None] = _ignore) -> None:
        self._refused = refused

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Any]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Any:
        """The handler of the call, wrapped; None where there is no such method."""
        handler = await continuation(handler_call_details)
        if handler is None:
            return None
        kind = f"{_shape(handler.request_streaming)}_{_shape(handler.response_streaming)}"
        behavior = getattr(handler, kind)
        guard = _guard_generator if inspect.isasyncgenfunction(behavior) else _guard_coroutine
        end_call = _CallEnd(handler_call_details.method, self._refused)
        make_handler = getattr(grpc, f"{kind}_rpc_method_handler")
        decode: Any = handler.request_deserializer
        if handler.request_streaming or decode is None:
            return make_handler(guard(behavior, _untouched, end_call), decode, handler.response_serializer)
        # Decoded within the guard: gRPC itself would tell the client the text of the exception.
        return make_handler(guard(behavior, decode, end_call), None, handler.response_serializer)


def _shape(streaming: bool) -> str:
    return "stream" if streaming else "unary"


_Decode = Callable[[Any], Any]


def _untouched(request: Any) -> Any:
    return request


def decode_request(request: Any, decode: Callable[[Any], Any]) -> Any:
    """The request, decoded. Raises PlatformError MALFORMED."""
    try:
        return decode(request)
    except DecodeError:
        raise PlatformError(Reason.MALFORMED, "The request is none of this method: it cannot be decoded.") from None


def _guard_coroutine(
    behavior: Callable[..., Awaitable[Any]], decode: _Decode, end_call: _CallEnd
) -> Callable[..., Awaitable[Any]]:
    async def guarded(request: Any, context: _Context) -> Any:
        try:
            return await behavior(decode_request(request, decode), context)
        except Exception as error:
            await end_call(error, context)

    return guarded


def _guard_generator(
    behavior: Callable[..., AsyncIterator[Any]], decode: _Decode, end_call: _CallEnd
) -> Callable[..., Any]:
    async def guarded(request: Any, context: _Context) -> AsyncIterator[Any]:
        try:
            async for response in behavior(decode_request(request, decode), context):
                yield response
        except Exception as error:
            await end_call(error, context)

    return guarded


class _CallEnd(NamedTuple):
    """Ends a call of one method with the status of an error."""

    method: str
    refused: Callable[[Reason], None]

    async def __call__(self, error: Exception, context: _Context) -> NoReturn:
        if isinstance(error, grpc.aio.AbortError):  # the handler has ended the call itself
            raise error
        if isinstance(error, PlatformError) and not isinstance(error, SetupError):
            refusal: PlatformError = error
            _log.info("refused", extra={"method": self.method, "reason": refusal.reason.wire_name})
        else:
            incident = uuid.uuid4().hex[:12]
            _log.error("incident %s", incident, exc_info=error, extra={"method": self.method, "incident": incident})
            sentence = f"The platform failed in {self.method}; its log tells more under the incident {incident}."
            refusal = PlatformError(Reason.INTERNAL, sentence, incident=incident)
        self.refused(refusal.reason)
        try:
            await context.abort_with_status(rpc_status.to_status(status_of(refusal)))
        except grpc.aio.InternalError:
            # The client has gone meanwhile, and there is nobody to be told. gRPC would log this as a fault, traceback
            # and all, and whatever keeps the log keeps the whole stream.
            raise asyncio.CancelledError from None
