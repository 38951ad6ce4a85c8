"""A real gateway for tests, open or closed, with callers of every kind and what they have to show."""

from __future__ import annotations

import asyncio
import base64
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from baohuang.access.v1 import access_service_pb2 as access_pb
from baohuang.access.v1.access_service_pb2_grpc import AccessServiceStub
from baohuang.lobby.v1 import lobby_service_pb2 as lobby_pb
from baohuang.lobby.v1.lobby_service_pb2_grpc import LobbyServiceStub
from baohuang.tournament.v1 import tournament_service_pb2 as pb
from baohuang.tournament.v1.tournament_service_pb2_grpc import TournamentServiceStub
from services.access.operator import OPERATOR_FILE, provide_operator_token
from services.common.buckets import Rate
from services.common.clock import SystemClock
from services.common.metrics import LedgerMetrics, LobbyMetrics
from services.common.settings import Registration, Settings
from services.common.tickets import TokenEnd
from services.gateway.gateway import Addresses, Gateway, GatewayMetrics
from services.ledger.ledger import Ledger
from tests.integration.gateway.test_gateway import WaitingDirector

OPEN = Settings(port=0, http_port=0)
CLOSED = Settings(port=0, http_port=0, registration=Registration.OPERATORS, read_requires_token=True)

STREAMS = {"Attend", "WatchTournament"}
REFUSED = {"REASON_UNAUTHENTICATED", "REASON_FORBIDDEN", "REASON_TOKEN_UNKNOWN"}

REQUESTS: dict[str, Message] = {
    "Attend": lobby_pb.AttendRequest(sdk="test", protocol_version=1, tables=1),
    "RegisterBot": lobby_pb.RegisterBotRequest(name="new"),
}
"""What is asked for; in other calls nothing, so that they are refused for that, if they come through at all."""


KNOWN = {"operator", "reader", "bot"}
CALLERS = (*sorted(KNOWN), "nobody", "stranger", "revoked operator", "rotated operator", "revoked bot", "rotated bot")


@dataclass
class House:
    """A gateway, and what callers of every kind have to show."""

    gateway: Gateway
    addresses: Addresses
    channel: grpc.aio.Channel
    metrics: LobbyMetrics
    tokens: dict[str, str] = field(default_factory=dict)
    ended: list[TokenEnd] = field(default_factory=list)

    @property
    def access(self) -> Any:
        return AccessServiceStub(self.channel)

    @property
    def lobby(self) -> Any:
        return LobbyServiceStub(self.channel)

    @property
    def tournaments(self) -> Any:
        return TournamentServiceStub(self.channel)

    def shown(self, who: str) -> tuple[tuple[str, str], ...]:
        """The metadata of a caller; of nobody: none."""
        return (("authorization", f"Bearer {self.tokens[who]}"),) if who != "nobody" else ()

    async def call(self, service: str, method: str, who: str) -> str:
        """The reason for which a call is refused, or nothing; whatever else it says is no matter."""
        stub: Any = {"Access": self.access, "Lobby": self.lobby, "Tournament": self.tournaments}[
            service.rpartition(".")[2].removesuffix("Service")
        ]
        module = {"Access": access_pb, "Lobby": lobby_pb, "Tournament": pb}[
            service.rpartition(".")[2].removesuffix("Service")
        ]
        described = module.DESCRIPTOR.services_by_name[service.rpartition(".")[2]].methods_by_name[method]
        request = REQUESTS.get(method) or GetMessageClass(described.input_type)()
        try:
            made = getattr(stub, method)(request, metadata=self.shown(who))
            await (made.read() if method in STREAMS else made)
            made.cancel()
        except grpc.aio.AioRpcError as error:
            return reason_of(error)
        return ""


def reason_of(error: grpc.aio.AioRpcError) -> str:
    return info_of(error).reason


async def end_of(call: Any) -> grpc.aio.AioRpcError:
    """The error with which a stream ends, whatever comes before."""
    while True:
        try:
            assert await call.read() is not grpc.aio.EOF, "it ended in order"
        except grpc.aio.AioRpcError as error:
            return error


def info_of(error: grpc.aio.AioRpcError) -> error_details_pb2.ErrorInfo:
    status = rpc_status.from_call(error)  # type: ignore[arg-type]  # the typing knows synchronous calls only
    info = error_details_pb2.ErrorInfo()
    assert status is not None
    assert status.details[0].Unpack(info)
    return info


@asynccontextmanager
async def house_of(data: Path, settings: Settings) -> AsyncIterator[House]:
    """With an operator, a reader, a bot, and tokens of each that hold no longer."""
    metrics = GatewayMetrics(LobbyMetrics(), LedgerMetrics())
    ended: list[TokenEnd] = []
    with Ledger.open(data / "ledger.db", metrics=metrics.ledger) as ledger:
        provide_operator_token(ledger, data)
        gateway = Gateway(
            settings,
            ledger,
            b"k" * 32,
            lambda name: WaitingDirector(),
            metrics=metrics,
            clock=SystemClock(),
            dismiss=ended.append,
        )
        addresses = await gateway.start()
        try:
            async with asyncio.timeout(110), grpc.aio.insecure_channel(addresses.grpc) as channel:
                house = House(gateway, addresses, channel, metrics.lobby, ended=ended)
                await fill(house, (data / OPERATOR_FILE).read_text().strip())
                yield house
        finally:
            await gateway.suspend(0)
            await gateway.stop()


async def fill(house: House, operator: str) -> None:
    house.tokens |= {"operator": operator, "stranger": "bh_nobody"}
    as_operator = house.shown("operator")

    async def create(name: str, scope: access_pb.Scope.ValueType) -> str:
        request = access_pb.CreateTokenRequest(name=name, scopes=[scope])
        return str((await house.access.CreateToken(request, metadata=as_operator)).token)

    async def register(name: str) -> str:
        request = lobby_pb.RegisterBotRequest(name=name)
        return str((await house.lobby.RegisterBot(request, metadata=as_operator)).token)

    house.tokens["reader"] = await create("reader", access_pb.SCOPE_READ)
    house.tokens["bot"] = await register("bot")
    for name, scope in (("revoked operator", access_pb.SCOPE_OPERATE), ("rotated operator", access_pb.SCOPE_OPERATE)):
        house.tokens[name] = await create(name.replace(" ", "-"), scope)
    for name in ("revoked bot", "rotated bot"):
        house.tokens[name] = await register(name.replace(" ", "-"))
    await house.access.RevokeToken(access_pb.RevokeTokenRequest(name="revoked-operator"), metadata=as_operator)
    await house.access.RotateToken(access_pb.RotateTokenRequest(name="rotated-operator"), metadata=as_operator)
    await house.lobby.RevokeBotToken(lobby_pb.RevokeBotTokenRequest(name="revoked-bot"), metadata=as_operator)
    await house.lobby.RotateBotToken(lobby_pb.RotateBotTokenRequest(name="rotated-bot"), metadata=as_operator)


GUESSES = Rate(per_second=0.001, burst=5)
"""So few in the long run that no machine is slow enough to be let in again meanwhile."""


@dataclass(frozen=True)
class Reply:
    status: int
    headers: dict[str, str]
    text: str


async def fetch(url: str, authorization: str = "") -> Reply:
    def get() -> Reply:
        request = urllib.request.Request(url, headers={"Authorization": authorization} if authorization else {})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return Reply(answer.status, dict(answer.headers), answer.read().decode())
        except urllib.error.HTTPError as error:
            return Reply(error.code, dict(error.headers), error.read().decode())

    return await asyncio.to_thread(get)


def basic(token: str) -> str:
    return "Basic " + base64.b64encode(f"anybody:{token}".encode()).decode()
