"""The gateway as clients meet it: gRPC with health, reflection and typed errors, and the pages; without Ray."""

from __future__ import annotations

import asyncio
import json
import socket
import urllib.request
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest
from google.rpc import error_details_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from grpc_status import rpc_status

from baohuang.lobby.v1 import lobby_service_pb2, lobby_service_pb2_grpc
from baohuang.tournament.v1 import tournament_service_pb2 as pb
from baohuang.tournament.v1 import tournament_service_pb2_grpc as pb_grpc
from bots_sdk.client.channel import error_of
from bots_sdk.errors import Refused
from services.access.operator import OPERATOR_FILE, provide_operator_token
from services.common.clock import SystemClock
from services.common.errors import REMEDIES, Reason, SetupError
from services.common.metrics import LedgerMetrics, LobbyMetrics
from services.common.settings import Settings
from services.common.targets import Role, Target
from services.common.tickets import TokenEnd
from services.gateway.gateway import (
    Addresses,
    Gateway,
    GatewayMetrics,
)
from services.ledger.ledger import Ledger
from services.ledger.values import TournamentState
from services.lobby.attendance import MatchServiceInfo
from services.tournament.director import DirectorStatus
from services.tournament.director.status import Board

SPEC = "name: cup\nprofile: qingdao\nbots: ['house:greedy']\nschedule: {kind: full}\ndeals: 2\n"


class WaitingDirector:
    """A director that waits for its bots for ever."""

    def __init__(self) -> None:
        self._board = Board(5)

    async def target(self) -> Target:
        return Target(Role.DIRECTOR, "cup", "127.0.0.1:3")

    async def status(self, known: int, wait: float) -> DirectorStatus:
        return await self._board.see(known, wait)

    async def pause(self, reason: str) -> bool:
        return True

    async def resume(self) -> bool:
        return True

    async def cancel(self) -> bool:
        return True

    async def heed(self) -> bool:
        return True

    async def requeue(self, number: int, reason: str) -> bool:
        return True

    async def suspend(self, grace: float) -> bool:
        self._board.put(DirectorStatus(0, TournamentState.PAUSED, "", 5))
        return True

    def close(self) -> None: ...


@dataclass
class Running:
    gateway: Gateway
    addresses: Addresses
    channel: grpc.aio.Channel
    dismissed: list[TokenEnd]
    operator: tuple[tuple[str, str], ...]


def make_gateway(
    data: Path, port: int = 0, dismiss: Callable[[TokenEnd], None] = lambda end: None
) -> tuple[Gateway, Ledger]:
    metrics = GatewayMetrics(LobbyMetrics(), LedgerMetrics())
    ledger = Ledger.open(data / "ledger.db", metrics=metrics.ledger)
    settings = Settings(data_dir=data, port=port, http_port=0)
    launch = lambda name: WaitingDirector()  # noqa: E731
    gateway = Gateway(settings, ledger, b"k" * 32, launch, metrics=metrics, clock=SystemClock(), dismiss=dismiss)
    return gateway, ledger


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[Running]:
    dismissed: list[TokenEnd] = []
    gateway, ledger = make_gateway(tmp_path, dismiss=dismissed.append)
    provide_operator_token(ledger, tmp_path)
    token = (tmp_path / OPERATOR_FILE).read_text().strip()
    addresses = await gateway.start()
    async with grpc.aio.insecure_channel(addresses.grpc) as channel:
        yield Running(gateway, addresses, channel, dismissed, (("authorization", f"Bearer {token}"),))
    await gateway.suspend(0)
    await gateway.stop()
    ledger.close()


def reason_of(error: grpc.aio.AioRpcError) -> str:
    status = rpc_status.from_call(error)  # type: ignore[arg-type]
    info = error_details_pb2.ErrorInfo()
    assert status is not None
    assert status.details[0].Unpack(info)
    return info.reason


async def read(url: str) -> str:
    def fetch() -> str:
        with urllib.request.urlopen(url) as response:
            return str(response.read().decode())

    return await asyncio.to_thread(fetch)


async def test_health_tells_each_service_and_the_end(running: Running) -> None:
    stub: Any = health_pb2_grpc.HealthStub(running.channel)
    for service in (
        "",
        "baohuang.access.v1.AccessService",
        "baohuang.lobby.v1.LobbyService",
        "baohuang.tournament.v1.TournamentService",
    ):
        answer = await stub.Check(health_pb2.HealthCheckRequest(service=service))
        assert answer.status == health_pb2.HealthCheckResponse.SERVING
    await running.gateway.suspend(0)
    answer = await stub.Check(health_pb2.HealthCheckRequest(service=""))
    assert answer.status == health_pb2.HealthCheckResponse.NOT_SERVING


async def test_a_revoked_token_sends_the_bot_away_from_the_match_services(running: Running) -> None:
    stub = lobby_service_pb2_grpc.LobbyServiceStub(running.channel)
    bot = await stub.RegisterBot(lobby_service_pb2.RegisterBotRequest(name="ann"))
    await stub.RevokeToken(lobby_service_pb2.RevokeTokenRequest(), metadata=(("authorization", f"Bearer {bot.token}"),))
    assert [end.bot_id for end in running.dismissed] == [bot.bot_id]
    assert 'baohuang_calls_refused_total{reason="token_unknown"} 0.0' in await read(
        f"http://{running.addresses.http}/metrics"
    )
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await stub.RotateToken(
            lobby_service_pb2.RotateTokenRequest(), metadata=(("authorization", f"Bearer {bot.token}"),)
        )
    assert reason_of(refused.value) == "REASON_TOKEN_UNKNOWN"
    assert 'baohuang_calls_refused_total{reason="token_unknown"} 1.0' in await read(
        f"http://{running.addresses.http}/metrics"
    )


async def test_reflection_lists_the_services(running: Running) -> None:
    stub: Any = reflection_pb2_grpc.ServerReflectionStub(running.channel)  # type: ignore[arg-type]
    request = reflection_pb2.ServerReflectionRequest(list_services="")
    names = set()
    async for answer in stub.ServerReflectionInfo(iter([request])):
        names |= {service.name for service in answer.list_services_response.service}
    assert names == {
        "baohuang.access.v1.AccessService",
        "baohuang.lobby.v1.LobbyService",
        "baohuang.tournament.v1.TournamentService",
        "grpc.health.v1.Health",
        "grpc.reflection.v1alpha.ServerReflection",
    }


async def test_a_tournament_is_made_listed_and_watched(running: Running) -> None:
    stub = pb_grpc.TournamentServiceStub(running.channel)
    plan = (await stub.PlanTournament(pb.PlanTournamentRequest(spec_yaml=SPEC))).plan
    assert (plan.matches, plan.deals, len(plan.entrants)) == (5, 10, 5)
    made = (
        await stub.CreateTournament(pb.CreateTournamentRequest(spec_yaml=SPEC), metadata=running.operator)
    ).tournament
    assert (made.name, made.state, made.plan) == ("cup", pb.STATE_RUNNING, plan)
    listed = (await stub.ListTournaments(pb.ListTournamentsRequest())).tournaments
    assert [one.name for one in listed] == ["cup"]
    async for response in stub.WatchTournament(pb.WatchTournamentRequest(name="cup")):
        assert response.tournament.name == "cup"
        break
    standings = await stub.GetStandings(pb.GetStandingsRequest(name="cup"))
    assert [line.deals for line in standings.standings] == [0] * 5
    assert (await stub.ListMatches(pb.ListMatchesRequest(name="cup"))).matches == []


async def test_what_an_operator_decides_is_told_to_everybody(running: Running) -> None:
    stub = pb_grpc.TournamentServiceStub(running.channel)
    await stub.CreateTournament(pb.CreateTournamentRequest(spec_yaml=SPEC), metadata=running.operator)
    out = pb.ExcludeBotRequest(
        name="cup", bot="house:random", results=pb.EXCLUDED_RESULTS_ANNULLED, reason="two of a kind"
    )
    await stub.ExcludeBot(out, metadata=running.operator)
    await stub.SetInFlight(pb.SetInFlightRequest(name="cup", in_flight=3), metadata=running.operator)
    seen = (await stub.GetTournament(pb.GetTournamentRequest(name="cup"))).tournament
    (exclusion,) = seen.exclusions
    assert (exclusion.bot, exclusion.results) == ("house:random", pb.EXCLUDED_RESULTS_ANNULLED)
    assert (exclusion.reason, seen.in_flight) == ("two of a kind", 3)
    assert (exclusion.HasField("excluded_at"), exclusion.excluded_at.seconds > 0) == (True, True)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await stub.ExcludeBot(out)
    assert reason_of(caught.value) == "REASON_UNAUTHENTICATED"


@pytest.mark.parametrize(
    ("call", "request_", "reason"),
    [
        ("CreateTournament", pb.CreateTournamentRequest(spec_yaml="name: cup\n"), "SPEC_INVALID"),
        ("PlanTournament", pb.PlanTournamentRequest(spec_yaml="{"), "SPEC_INVALID"),
        ("GetTournament", pb.GetTournamentRequest(name="x"), "TOURNAMENT_UNKNOWN"),
        ("GetStandings", pb.GetStandingsRequest(name="x"), "TOURNAMENT_UNKNOWN"),
        ("PauseTournament", pb.PauseTournamentRequest(name="x"), "TOURNAMENT_UNKNOWN"),
        ("ResumeTournament", pb.ResumeTournamentRequest(name="x"), "TOURNAMENT_UNKNOWN"),
        ("CancelTournament", pb.CancelTournamentRequest(name="x"), "TOURNAMENT_UNKNOWN"),
        ("ExcludeBot", pb.ExcludeBotRequest(name="x", bot="house:greedy"), "TOURNAMENT_UNKNOWN"),
        ("ExcludeBot", pb.ExcludeBotRequest(name="x", results=7), "MALFORMED"),  # type: ignore[arg-type]
        ("RequeueMatch", pb.RequeueMatchRequest(name="x"), "TOURNAMENT_UNKNOWN"),
        ("SetInFlight", pb.SetInFlightRequest(name="x", in_flight=3), "TOURNAMENT_UNKNOWN"),
        ("ListTournaments", pb.ListTournamentsRequest(page_token="x"), "TOURNAMENT_UNKNOWN"),
        ("ListMatches", pb.ListMatchesRequest(name="x", page_token="?"), "MALFORMED"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_what_is_refused_is_refused_with_a_reason(
    running: Running, call: str, request_: object, reason: str
) -> None:
    stub = pb_grpc.TournamentServiceStub(running.channel)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await getattr(stub, call)(request_, metadata=running.operator)
    assert reason_of(caught.value) == f"REASON_{reason}"
    assert caught.value.code() is REMEDIES[Reason[reason]].code


async def test_an_unknown_token_is_refused(running: Running) -> None:
    stub = lobby_service_pb2_grpc.LobbyServiceStub(running.channel)
    request = lobby_service_pb2.AttendRequest(sdk="test", protocol_version=1, tables=1)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        async for _ in stub.Attend(request, metadata=(("authorization", "Bearer bh_nobody"),)):
            pass
    assert reason_of(caught.value) == "REASON_TOKEN_UNKNOWN"


async def test_discovery_and_pages_know_every_process(running: Running) -> None:
    service = MatchServiceInfo("match-1", "127.0.0.1:1")
    running.gateway.set_match_services([(service, Target(Role.MATCH_SERVICE, "match-1", "127.0.0.1:2"))])
    stub = pb_grpc.TournamentServiceStub(running.channel)
    await stub.CreateTournament(pb.CreateTournamentRequest(spec_yaml=SPEC), metadata=running.operator)
    async with asyncio.timeout(60):
        async for _ in running.gateway.desk.watch("cup"):
            if running.gateway.desk.targets:
                break
    http = f"http://{running.addresses.http}"
    found = {entry["labels"]["name"]: entry["targets"] for entry in json.loads(await read(f"{http}/sd"))}
    assert found == {"gateway": [running.addresses.http], "match-1": ["127.0.0.1:2"], "cup": ["127.0.0.1:3"]}
    assert "baohuang_ledger_writes_total 2.0" in await read(f"{http}/metrics")
    assert "cup" in await read(f"{http}/")


async def test_a_port_in_use_is_one_sentence(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        gateway, ledger = make_gateway(tmp_path, taken.getsockname()[1])
        with pytest.raises(SetupError, match="cannot be listened on: is the port in use"):
            await gateway.start()
        await gateway.stop()
        ledger.close()


async def test_a_message_that_is_too_large_is_refused_with_the_limit_and_beyond_that_by_grpc(running: Running) -> None:
    stub = pb_grpc.TournamentServiceStub(running.channel)
    for mebibytes, said in ((2, "at most 1048576 are read at once"), (5, "larger than max")):
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await stub.CreateTournament(
                pb.CreateTournamentRequest(spec_yaml="x" * (mebibytes << 20)), metadata=running.operator
            )
        assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert said in (refused.value.details() or "")
        sdk_error = error_of(refused.value, running.addresses.grpc)
        assert isinstance(sdk_error, Refused)
        assert sdk_error.reason == "REASON_TOO_LARGE"
