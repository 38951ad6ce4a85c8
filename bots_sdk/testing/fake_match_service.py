"""A match service that does what a test says, over real gRPC: every stream a client opens is handed to the test."""

from __future__ import annotations

import asyncio
import contextlib
from types import TracebackType
from typing import Any, NoReturn

import grpc
import grpc.aio
from google.protobuf import any_pb2
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

from baohuang.match.v1 import match_service_pb2 as pb
from bots_sdk.errors import ERROR_DOMAIN

SERVICE = "baohuang.match.v1.MatchService"
_Context = grpc.aio.ServicerContext[Any, Any]


class FakeStream:
    """The service's end of one stream.

    Attributes:
        hello: how the client introduced itself, once it has been read.
        sent: how many messages were sent.
        confirmed: how many of them the client says it has read.
    """

    def __init__(self, context: _Context) -> None:
        self.hello: pb.Hello | None = None
        self.sent = 0
        self.confirmed = 0
        self.over = asyncio.Event()
        self.ended: asyncio.Future[_End] = asyncio.get_running_loop().create_future()
        self._context = context
        self._records: list[pb.ClientRecord] = []

    async def read(self) -> pb.PlayRequest | None:
        """The client's next message, or None when its side of the stream is over."""
        data = await self._context.read()
        if data is grpc.aio.EOF:
            return None
        message = pb.PlayRequest.FromString(data)
        self.confirmed = max(self.confirmed, message.confirmed)
        return message

    async def record(self, *kinds: str) -> pb.ClientRecord:
        """The client's next record of one of these kinds, whatever comes before it.

        Raises:
            EOFError: the stream is over.
        """
        while True:
            while self._records:
                record = self._records.pop(0)
                if record.WhichOneof("record") in kinds:
                    return record
            message = await self.read()
            if message is None:
                raise EOFError("the client has ended the stream")
            self._records.extend(message.records)

    async def welcome(self, *, resumed: int = 0, heartbeat_ms: int = 5000, **more: Any) -> pb.Hello:
        """Read hello and say welcome."""
        self.hello = (await self.record("hello")).hello
        settings = {"protocol_version": 1, "window": 1, "tables": self.hello.tables, "message_limit": 1 << 20, **more}
        await self.send(welcome=pb.Welcome(resumed=resumed, heartbeat_ms=heartbeat_ms, **settings))
        return self.hello

    async def send(self, *records: pb.ServerRecord, **record: Any) -> None:
        """Send one message of these records, or of one given by its kind: `send(heartbeat=pb.Heartbeat())`."""
        message = pb.PlayResponse(records=records)
        if record:
            message.records.add(**record)
        await self.send_bytes(message.SerializeToString())

    async def send_bytes(self, data: bytes) -> None:
        """Send whatever these bytes are."""
        self.sent += 1
        await self._context.write(data)

    async def gone(self) -> None:
        """Wait until the client has left."""
        with contextlib.suppress(asyncio.CancelledError, grpc.aio.AioRpcError, grpc.aio.UsageError):
            while await self.read() is not None:
                pass

    def end(self) -> None:
        """End the stream without a word."""
        self._end_with(_End())

    def refuse(
        self, reason: str, message: str, code: grpc.StatusCode = grpc.StatusCode.UNAVAILABLE, **metadata: str
    ) -> None:
        """End the stream as the platform does when it refuses something; `reason` as in `REASON_SILENT`."""
        self._end_with(_End(code, message, reason, metadata))

    def _end_with(self, end: _End) -> None:
        if not self.ended.done():
            self.ended.set_result(end)


class _End:
    def __init__(
        self,
        code: grpc.StatusCode | None = None,
        message: str = "",
        reason: str = "",
        metadata: dict[str, str] | None = None,
    ) -> None:
        self.code = code
        self.message = message
        self.reason = reason
        self.metadata = metadata or {}


def listen(server: grpc.aio.Server, address: str, credentials: grpc.ServerCredentials | None) -> int:
    """Let the server listen there, with TLS if there are credentials; the port."""
    if credentials is None:
        return server.add_insecure_port(address)
    return server.add_secure_port(address, credentials)


class FakeMatchService:
    """Listens on a free port of this machine; to be used with `async with`.

    Attributes:
        address: HOST:PORT.
        streams: every stream that has been opened, in order.
        credentials: with which it listens when it is started; None: in plain text.
    """

    def __init__(self, credentials: grpc.ServerCredentials | None = None) -> None:
        self.address = ""
        self.credentials = credentials
        self.streams: list[FakeStream] = []
        self._opened: asyncio.Queue[FakeStream] = asyncio.Queue()
        self._server: grpc.aio.Server | None = None
        self._port = 0

    async def __aenter__(self) -> FakeMatchService:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def start(self) -> None:
        """Listen, on the same port as before if it was stopped."""
        server = grpc.aio.server(options=[("grpc.so_reuseport", 0), ("grpc.http2.max_ping_strikes", 0)])
        handler: grpc.RpcMethodHandler[Any, Any] = grpc.stream_stream_rpc_method_handler(self._play)
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, {"Play": handler}),))
        self._port = listen(server, f"127.0.0.1:{self._port}", self.credentials)
        self.address = f"127.0.0.1:{self._port}"
        await server.start()
        self._server = server

    async def stop(self) -> None:
        """Cut every stream and stop listening."""
        if self._server is not None:
            await self._server.stop(grace=None)
            self._server = None

    async def next_stream(self) -> FakeStream:
        """The next stream that a client opens."""
        return await self._opened.get()

    async def _play(self, _requests: object, context: _Context) -> None:
        stream = FakeStream(context)
        self.streams.append(stream)
        self._opened.put_nowait(stream)
        try:
            end = await stream.ended
        finally:
            stream.over.set()
        if end.code is not None:
            await abort(context, end.code, end.reason, end.message, end.metadata)


async def abort(
    context: _Context, code: grpc.StatusCode, reason: str, message: str, metadata: dict[str, str]
) -> NoReturn:
    """End a call as the platform does: a rich status with an `ErrorInfo`."""
    detail = any_pb2.Any()
    detail.Pack(error_details_pb2.ErrorInfo(reason=reason, domain=ERROR_DOMAIN, metadata=metadata))
    status = status_pb2.Status(code=code.value[0], message=message, details=[detail])
    await context.abort_with_status(rpc_status.to_status(status))
    raise AssertionError("abort_with_status always raises")
