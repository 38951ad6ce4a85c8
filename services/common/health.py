"""gRPC's health service. The one of its own package lets whoever watches, and reads nothing, hold up every change.

It writes to a watcher while it has the lock that a change needs: a stranger could keep a server from draining.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
import grpc.aio
from grpc_health.v1 import health_pb2 as pb
from grpc_health.v1.health_pb2_grpc import HealthServicer as _HealthServicer

_Context = grpc.aio.ServicerContext[Any, Any]
_untyped: Any = pb  # its stubs lack the messages of `List`


class HealthServicer(_HealthServicer):
    """Tells how it stands with each service that `set` was called for; `""` stands for all of them."""

    def __init__(self) -> None:
        self._status: dict[str, int] = {"": pb.HealthCheckResponse.SERVING}
        self._change = asyncio.Event()

    def set(self, service: str, status: int) -> None:
        """It stands so from now on; whoever watches is told, in their own time."""
        self._status[service] = status
        self._change.set()
        self._change = asyncio.Event()

    async def Check(self, request: pb.HealthCheckRequest, context: _Context) -> pb.HealthCheckResponse:
        status = self._status.get(request.service)
        if status is None:
            await context.abort(grpc.StatusCode.NOT_FOUND, "There is no such service here.")
        return _response(status)

    async def List(self, request: Any, context: _Context) -> Any:
        return _untyped.HealthListResponse(statuses={name: _response(status) for name, status in self._status.items()})

    async def Watch(self, request: pb.HealthCheckRequest, context: _Context) -> AsyncIterator[pb.HealthCheckResponse]:
        told = None
        while True:
            change = self._change
            status = self._status.get(request.service, pb.HealthCheckResponse.SERVICE_UNKNOWN)
            if status != told:
                told = status
                yield _response(status)
                continue  # it may have changed meanwhile
            await change.wait()


def _response(status: int | None) -> pb.HealthCheckResponse:
    return pb.HealthCheckResponse(status=pb.HealthCheckResponse.ServingStatus.ValueType(status or 0))
