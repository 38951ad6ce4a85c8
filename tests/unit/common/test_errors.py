"""The table of errors is complete, and clients get exactly what it says."""

from __future__ import annotations

import asyncio
import logging
import pickle
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import grpc
import grpc.aio
import pytest
from google.rpc import error_details_pb2, status_pb2

from baohuang.error.v1 import reason_pb2
from services.common.errors import (
    DOMAIN,
    MESSAGE_LIMIT,
    REMEDIES,
    ErrorInterceptor,
    PlatformError,
    Reason,
    SetupError,
    shorten,
    status_of,
)

Context = grpc.aio.ServicerContext[bytes, bytes]
SECRET = "the text of an exception"


def test_reasons_are_those_of_the_protocol() -> None:
    published = {name: number for name, number in reason_pb2.Reason.items() if number}
    assert {reason.wire_name: int(reason) for reason in Reason} == published


def test_every_reason_has_a_code_and_a_next_step() -> None:
    assert list(REMEDIES) == list(Reason)
    for remedy in REMEDIES.values():
        assert remedy.code not in (grpc.StatusCode.OK, grpc.StatusCode.UNKNOWN)
        assert remedy.next_step.endswith(".")


def test_status_carries_reason_domain_and_metadata() -> None:
    error = PlatformError(Reason.NAME_TAKEN, "The name greedy is taken.", name="greedy")
    status, info = _status_and_info(status_of(error))
    assert (status.code, status.message) == (grpc.StatusCode.ALREADY_EXISTS.value[0], "The name greedy is taken.")
    assert (info.reason, info.domain, dict(info.metadata)) == ("REASON_NAME_TAKEN", DOMAIN, {"name": "greedy"})


def test_errors_survive_pickling() -> None:
    for error in (PlatformError(Reason.SPEC_INVALID, "bots: too few", key="bots"), SetupError("No.", key="port")):
        copy = pickle.loads(pickle.dumps(error))
        assert type(copy) is type(error)
        assert (copy.reason, copy.message, copy.metadata) == (error.reason, error.message, error.metadata)
        assert str(copy) == str(error)


class Gone:
    """A context whose client has gone: what is to be said to it fails as it does in gRPC."""

    async def abort_with_status(self, status: object) -> None:
        raise grpc.aio.InternalError("Failed execute_batch")


async def test_a_client_that_has_gone_is_told_nothing_and_is_no_fault() -> None:
    async def refuse(_request: bytes, _context: Context) -> bytes:
        raise PlatformError(Reason.MALFORMED, "no")

    async def continuation(_details: grpc.HandlerCallDetails) -> Any:
        return grpc.unary_unary_rpc_method_handler(refuse)

    details: Any = SimpleNamespace(method="/test/Refuse")
    handler = await ErrorInterceptor().intercept_service(continuation, details)
    with pytest.raises(asyncio.CancelledError):
        await handler.unary_unary(b"", Gone())


@pytest.mark.parametrize("text", ["short", "保皇" * 10, "a" * 31, "é保" * 7])
def test_shorten_keeps_to_the_limit_and_says_when_it_cut(text: str) -> None:
    for limit in range(40):
        short = shorten(text, limit)
        assert len(short.encode()) <= limit
        assert short == text or short == "" or (short.endswith("…") and text.startswith(short[:-1]))
    assert shorten(text, 1000) == text


async def _raise_refusal(request: bytes, context: Context) -> bytes:
    raise PlatformError(Reason.BOT_UNKNOWN, "There is no bot called 保皇.", name="保皇")


async def _raise_fault(request: bytes, context: Context) -> bytes:
    raise KeyError(SECRET)


async def _raise_setup_error(request: bytes, context: Context) -> bytes:
    raise SetupError(SECRET)


async def _raise_huge(request: bytes, context: Context) -> bytes:
    raise PlatformError(Reason.SPEC_INVALID, "皇" * 10_000, key="帝" * 10_000, more="王" * 10_000)


async def _abort(request: bytes, context: Context) -> bytes:
    await context.abort(grpc.StatusCode.CANCELLED, "enough")


async def _echo(request: bytes, context: Context) -> bytes:
    return request


async def _generate_then_raise(request: bytes, context: Context) -> AsyncIterator[bytes]:
    yield b"one"
    raise PlatformError(Reason.DRAINING, "The service is stopping.")


async def _generate_then_fail(request: bytes, context: Context) -> AsyncIterator[bytes]:
    yield b"one"
    raise RuntimeError(SECRET)


async def _read_write_raise(requests: AsyncIterator[bytes], context: Context) -> None:
    await context.write(await context.read())
    raise PlatformError(Reason.SUPERSEDED, "A newer stream took over.")


async def _read_all_raise(requests: AsyncIterator[bytes], context: Context) -> bytes:
    async for _ in requests:
        pass
    raise PlatformError(Reason.MALFORMED, "Cannot be decoded.")


HANDLERS: dict[str, Any] = {
    "refusal": grpc.unary_unary_rpc_method_handler(_raise_refusal),
    "fault": grpc.unary_unary_rpc_method_handler(_raise_fault),
    "setup": grpc.unary_unary_rpc_method_handler(_raise_setup_error),
    "huge": grpc.unary_unary_rpc_method_handler(_raise_huge),
    "abort": grpc.unary_unary_rpc_method_handler(_abort),
    "echo": grpc.unary_unary_rpc_method_handler(_echo),
    "decoded": grpc.unary_unary_rpc_method_handler(_echo, request_deserializer=status_pb2.Status.FromString),
    "decoded_stream": grpc.unary_stream_rpc_method_handler(
        _generate_then_raise, request_deserializer=status_pb2.Status.FromString
    ),
    "generator": grpc.unary_stream_rpc_method_handler(_generate_then_raise),
    "generator_fault": grpc.unary_stream_rpc_method_handler(_generate_then_fail),
    "read_write": grpc.stream_stream_rpc_method_handler(_read_write_raise),
    "stream_unary": grpc.stream_unary_rpc_method_handler(_read_all_raise),
}


@asynccontextmanager
async def _channel(refused: Callable[[Reason], None] | None = None) -> AsyncIterator[Any]:
    server = grpc.aio.server(interceptors=[ErrorInterceptor(refused) if refused else ErrorInterceptor()])
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("test.Service", HANDLERS),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield channel
    finally:
        await server.stop(None)


async def _fail(call: Callable[[Any], Awaitable[Any]]) -> grpc.aio.AioRpcError:
    async with _channel() as channel:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call(channel)
    return caught.value


def _status_and_info(status: status_pb2.Status) -> tuple[status_pb2.Status, error_details_pb2.ErrorInfo]:
    info = error_details_pb2.ErrorInfo()
    assert status.details[0].Unpack(info)
    return status, info


def _rich(error: grpc.aio.AioRpcError) -> tuple[status_pb2.Status, error_details_pb2.ErrorInfo]:
    metadata = dict(error.trailing_metadata())
    status = status_pb2.Status.FromString(metadata["grpc-status-details-bin"])
    assert status.code == error.code().value[0]
    assert status.message == error.details()
    return _status_and_info(status)


def _unary(name: str) -> Callable[[Any], Awaitable[Any]]:
    return lambda channel: channel.unary_unary(f"/test.Service/{name}")(b"x")


async def test_a_refusal_reaches_the_client_as_a_rich_status() -> None:
    error = await _fail(_unary("refusal"))
    status, info = _rich(error)
    assert error.code() is grpc.StatusCode.NOT_FOUND
    assert status.message == "There is no bot called 保皇."
    assert (info.reason, dict(info.metadata)) == ("REASON_BOT_UNKNOWN", {"name": "保皇"})


@pytest.mark.parametrize("name", ["fault", "setup"])
async def test_a_fault_shows_the_client_nothing_but_an_incident(name: str, caplog: pytest.LogCaptureFixture) -> None:
    error = await _fail(_unary(name))
    _, info = _rich(error)
    assert (error.code(), info.reason) == (grpc.StatusCode.INTERNAL, "REASON_INTERNAL")
    assert SECRET not in f"{error.details()} {error.debug_error_string()} {error.trailing_metadata()}"
    logged = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert [record.getMessage() for record in logged] == [f"incident {info.metadata['incident']}"]
    assert SECRET in caplog.text, "the log tells what happened"


async def test_every_reason_that_is_sent_can_be_counted() -> None:
    refused: list[Reason] = []
    async with _channel(refused.append) as channel:
        for name in ("refusal", "fault", "abort"):
            with pytest.raises(grpc.aio.AioRpcError):
                await channel.unary_unary(f"/test.Service/{name}")(b"x")
    assert refused == [Reason.BOT_UNKNOWN, Reason.INTERNAL]


async def test_a_huge_message_is_cut_instead_of_lost() -> None:
    _, info = _rich(await _fail(_unary("huge")))
    assert info.reason == "REASON_SPEC_INVALID"
    assert 0 < len(info.metadata["key"].encode()) <= MESSAGE_LIMIT


async def test_an_abort_of_the_handler_itself_passes() -> None:
    error = await _fail(_unary("abort"))
    assert (error.code(), error.details()) == (grpc.StatusCode.CANCELLED, "enough")


async def test_unknown_methods_and_answers_pass_untouched() -> None:
    assert (await _fail(_unary("nothing"))).code() is grpc.StatusCode.UNIMPLEMENTED
    async with _channel() as channel:
        assert await channel.unary_unary("/test.Service/echo")(b"hello") == b"hello"


@pytest.mark.parametrize("method", ["decoded", "decoded_stream"])
async def test_a_request_that_cannot_be_decoded_is_refused_like_any_other(method: str) -> None:
    async def call(channel: Any) -> None:
        if method == "decoded":
            await channel.unary_unary(f"/test.Service/{method}")(b"\xff\xff")
        else:
            async for _ in channel.unary_stream(f"/test.Service/{method}")(b"\xff\xff"):
                pass

    error = await _fail(call)
    status, info = _rich(error)
    assert (error.code(), info.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "REASON_MALFORMED")
    assert status.message == "The request is none of this method: it cannot be decoded."


@pytest.mark.parametrize(("name", "reason"), [("generator", "REASON_DRAINING"), ("generator_fault", "REASON_INTERNAL")])
async def test_a_generator_gives_what_it_had_and_then_the_refusal(name: str, reason: str) -> None:
    got: list[bytes] = []

    async def call(channel: Any) -> None:
        async for response in channel.unary_stream(f"/test.Service/{name}")(b"x"):
            got.append(response)

    error = await _fail(call)
    assert got == [b"one"]
    assert _rich(error)[1].reason == reason
    assert SECRET not in str(error)


async def test_a_handler_that_reads_and_writes_itself_is_guarded_too() -> None:
    got: list[bytes] = []

    async def call(channel: Any) -> None:
        stream = channel.stream_stream("/test.Service/read_write")()
        await stream.write(b"ping")
        async for response in stream:
            got.append(response)

    error = await _fail(call)
    assert (got, _rich(error)[1].reason) == ([b"ping"], "REASON_SUPERSEDED")


async def test_a_stream_of_requests_is_guarded_too() -> None:
    error = await _fail(lambda channel: channel.stream_unary("/test.Service/stream_unary")(iter([b"a", b"b"])))
    assert _rich(error)[1].reason == "REASON_MALFORMED"


def test_a_refusal_that_comes_out_of_an_actor_keeps_its_reason() -> None:
    from ray.exceptions import RayTaskError  # the class alone: nothing is started

    cause = PlatformError(Reason.STATE_CONFLICT, "It is over.", state="done")
    error = RayTaskError("pause", "Traceback …", cause).as_instanceof_cause()
    assert isinstance(error, PlatformError)
    assert status_of(error) == status_of(cause)
