"""What nobody has decided upon yet: a call that is not in the table of needs is for nobody."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
import grpc.aio
import pytest

from services.access.gate import Gate
from services.access.interceptor import AccessInterceptor
from services.common.errors import ErrorInterceptor
from tests.integration.gateway.house import House, end_of, reason_of


async def _answer(request: bytes, context: object) -> bytes:
    return b"answered"


async def _answers(request: bytes, context: object) -> AsyncIterator[bytes]:
    yield b"answered"


async def _write(request: bytes, context: object) -> None:
    """Answers in another way than by being a generator."""


@asynccontextmanager
async def _serving(gate: Gate, handlers: dict[str, Any]) -> AsyncIterator[grpc.aio.Channel]:
    server = grpc.aio.server(interceptors=[ErrorInterceptor(), AccessInterceptor(gate)])
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("new.Service", handlers),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield channel
    finally:
        await server.stop(0)


async def test_a_call_that_is_not_in_the_table_is_for_nobody(house: House) -> None:
    handlers: dict[str, Any] = {
        "New": grpc.unary_unary_rpc_method_handler(_answer),
        "NewStream": grpc.unary_stream_rpc_method_handler(_answers),
    }
    async with _serving(house.gateway.gate, handlers) as channel:
        for who in ("nobody", "operator"):
            call: Any = channel.unary_unary("/new.Service/New")
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await call(b"", metadata=house.shown(who))
            assert reason_of(caught.value) == "REASON_FORBIDDEN"
            stream: Any = channel.unary_stream("/new.Service/NewStream")
            assert reason_of(await end_of(stream(b"", metadata=house.shown(who)))) == "REASON_FORBIDDEN"


async def test_a_stream_that_could_not_be_ended_with_its_token_is_not_served(house: House) -> None:
    handlers: dict[str, Any] = {
        "Both": grpc.stream_stream_rpc_method_handler(_answers),
        "Written": grpc.unary_stream_rpc_method_handler(_write),
    }
    async with _serving(house.gateway.gate, handlers) as channel:
        both: Any = channel.stream_stream("/new.Service/Both")
        written: Any = channel.unary_stream("/new.Service/Written")
        for call in (both(), written(b"")):
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await call.read()
            assert caught.value.code() is not grpc.StatusCode.OK
