"""The gateway's gRPC server: its settings, health and reflection."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import grpc.aio
from grpc_health.v1 import health_pb2
from grpc_health.v1.health import SERVICE_NAME as HEALTH
from grpc_health.v1.health_pb2_grpc import add_HealthServicer_to_server
from grpc_reflection.v1alpha import reflection

from services.common.errors import ErrorInterceptor, Reason, SetupError
from services.common.health import HealthServicer
from services.common.live_tls import LiveTls, listen
from services.common.peers import StreamsInterceptor
from services.common.requests import RequestsInterceptor
from services.common.revocation import revocation_interceptors
from services.common.targets import format_address
from services.common.wire_limits import MESSAGE_LIMIT, server_options

ATTEND = "/baohuang.lobby.v1.LobbyService/Attend"
"""One for each bot, and the newest wins."""

GOODBYE = 0.5
"""Seconds that calls may go on when the server stops."""


class GrpcServer:
    """Serves some services by their full names, with health for each, and reflection over all.

    `refused` counts what is refused, and `access` decides what is answered.
    """

    def __init__(
        self,
        services: Mapping[str, Callable[[grpc.aio.Server], None]],
        keepalive: float,
        refused: Callable[[Reason], None],
        access: grpc.aio.ServerInterceptor,
        tls: LiveTls | None = None,
    ) -> None:
        self._tls = tls
        self._server = grpc.aio.server(
            interceptors=[
                ErrorInterceptor(refused=refused),
                RequestsInterceptor(frozenset(), MESSAGE_LIMIT),
                *revocation_interceptors(tls),
                StreamsInterceptor(frozenset({ATTEND})),
                access,
            ],
            options=server_options(keepalive),
        )
        self._health = HealthServicer()
        self._names = [*services, ""]
        for add in services.values():
            add(self._server)
        add_HealthServicer_to_server(self._health, self._server)
        reflection.enable_server_reflection((*services, HEALTH, reflection.SERVICE_NAME), self._server)

    async def start(self, host: str, port: int) -> int:
        """Begin to listen; the port. Raises SetupError when it is taken."""
        address = format_address(host, port)
        try:
            bound = listen(self._server, address, self._tls)
        except RuntimeError:
            raise SetupError(f"{address} cannot be listened on: is the port in use?", address=address) from None
        await self._server.start()
        self._say(health_pb2.HealthCheckResponse.SERVING)
        return bound

    async def drain(self) -> None:
        """Tell whoever asks for health that the end is near."""
        self._say(health_pb2.HealthCheckResponse.NOT_SERVING)

    async def stop(self) -> None:
        """End all calls and close."""
        await self._server.stop(GOODBYE)

    def _say(self, status: int) -> None:
        for name in self._names:
            self._health.set(name, status)
