"""The lobby over a real connection: what a bot author's client sees, and what happens when it goes away."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, timedelta
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from baohuang.lobby.v1 import lobby_service_pb2 as pb
from baohuang.lobby.v1 import lobby_service_pb2_grpc as pb_grpc
from bots_sdk.client import LobbyClient
from services.access.callers import bot_key
from services.access.gate import Gate
from services.access.interceptor import AccessInterceptor
from services.access.needs import AccessRules
from services.common.clock import SystemClock
from services.common.errors import ErrorInterceptor
from services.common.metrics import LobbyMetrics
from services.common.tickets import TokenEnd, verify_ticket
from services.ledger.ledger import Ledger
from services.lobby.attendance import LobbyTerms, MatchServiceInfo
from services.lobby.lobby import Lobby
from services.lobby.presence import Presence
from services.lobby.servicer import LobbyServicer

KEY = bytes(range(32))
ONE = MatchServiceInfo("match-1", "127.0.0.1:7501")
TWO = MatchServiceInfo("match-2", "127.0.0.1:7502")
TERMS = LobbyTerms(
    ticket_life=timedelta(seconds=60), sign_of_life=timedelta(seconds=20), silence_limit=timedelta(seconds=45)
)

ATTENDING_PROCESS = """
import sys, grpc
from baohuang.lobby.v1 import lobby_service_pb2 as pb, lobby_service_pb2_grpc as pb_grpc
channel = grpc.insecure_channel(sys.argv[1])
call = pb_grpc.LobbyServiceStub(channel).Attend(
    pb.AttendRequest(sdk="test", protocol_version=1, tables=2), metadata=[("authorization", "Bearer " + sys.argv[2])]
)
for _ in call:
    print("in", flush=True)
"""


@dataclass(slots=True)
class House:
    """A running lobby, and a client of it."""

    lobby: Lobby
    address: str
    stub: Any  # the generated async stub is a type only a checker knows

    async def register(self, name: str = "alpha") -> tuple[str, str]:
        """A new bot: its id and its token."""
        made = await self.stub.RegisterBot(pb.RegisterBotRequest(name=name, owner="ann", version="1.0"))
        return made.bot_id, made.token

    def attend(self, token: str, **changes: Any) -> Any:
        asked: dict[str, Any] = {"sdk": "python/0.1.0", "protocol_version": 1, "tables": 4} | changes
        return self.stub.Attend(pb.AttendRequest(**asked), metadata=bearer(token))

    async def seen(self, bot_id: str, presence: Presence) -> None:
        """Returns once the lobby sees the bot so."""
        async with asyncio.timeout(60):
            while (sighting := self.lobby.sighting(bot_id)) is None or sighting.presence is not presence:  # noqa: ASYNC110
                await asyncio.sleep(0.005)


@asynccontextmanager
async def running(path: Path, terms: LobbyTerms = TERMS) -> AsyncIterator[House]:
    ledger = await asyncio.to_thread(Ledger.open, path)
    gate = Gate(ledger, AccessRules(), SystemClock(), LobbyMetrics())
    ended: Callable[[TokenEnd], None] = lambda end: gate.end(bot_key(end.bot_id))  # noqa: E731
    lobby = Lobby(ledger, KEY, clock=SystemClock(), terms=terms, token_ended=ended)
    server = grpc.aio.server(interceptors=[ErrorInterceptor(), AccessInterceptor(gate)])
    pb_grpc.add_LobbyServiceServicer_to_server(LobbyServicer(lobby), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield House(lobby, f"127.0.0.1:{port}", pb_grpc.LobbyServiceStub(channel))
    finally:
        await server.stop(0)
        await asyncio.to_thread(ledger.close)


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with asyncio.timeout(100), running(tmp_path / "arena.db") as started:
        yield started


def bearer(token: str) -> list[tuple[str, str]]:
    return [("authorization", f"Bearer {token}")]


async def refusal(awaited: Awaitable[object]) -> tuple[grpc.StatusCode, error_details_pb2.ErrorInfo]:
    """How a call was refused: its status code, and the detail for programs."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await awaited
    status = rpc_status.from_call(caught.value)  # type: ignore[arg-type]  # the typing knows synchronous calls only
    assert status is not None
    info = error_details_pb2.ErrorInfo()
    assert status.details[0].Unpack(info)
    assert info.domain == "baohuang.arena"
    return caught.value.code(), info


async def test_a_bot_registers_attends_and_gets_tickets_that_match_services_accept(house: House) -> None:
    house.lobby.set_match_services([ONE, TWO])
    bot_id, token = await house.register()
    told = await house.attend(token, tables=5).read()
    assert told.silence_limit_s == 45
    assert [(given.name, given.address, given.tables) for given in told.match_services] == [
        ("match-1", "127.0.0.1:7501", 3),
        ("match-2", "127.0.0.1:7502", 2),
    ]
    for given in told.match_services:
        ticket = verify_ticket(KEY, given.ticket, given.name, SystemClock().now())
        assert (ticket.bot_id, ticket.bot_name, ticket.tables) == (bot_id, "alpha", given.tables)
        assert given.expires_at.ToDatetime(UTC) == ticket.expires_at


async def test_an_attending_bot_hears_of_changes_at_once(house: House) -> None:
    _, token = await house.register()
    call = house.attend(token)
    assert list((await call.read()).match_services) == []
    for services in ([ONE], [ONE, TWO], [replace(ONE, address="127.0.0.1:7999"), TWO]):
        house.lobby.set_match_services(services)
        told = await call.read()
        assert [given.address for given in told.match_services] == [service.address for service in services]
        assert sum(given.tables for given in told.match_services) == 4


async def test_signs_of_life_come_by_themselves_and_tickets_before_the_old_ones_end(tmp_path: Path) -> None:
    quick = LobbyTerms(
        ticket_life=timedelta(milliseconds=100),
        sign_of_life=timedelta(milliseconds=10),
        silence_limit=timedelta(seconds=1),
    )
    async with asyncio.timeout(100), running(tmp_path / "arena.db", quick) as house:
        house.lobby.set_match_services([ONE])
        _, token = await house.register()
        call = house.attend(token)
        tickets = [(await call.read()).match_services[0] for _ in range(20)]
    ends = [given.expires_at.ToDatetime(UTC) for given in tickets]
    assert len(set(ends)) > 1
    assert ends == sorted(ends)


# ----------------------------------------------------------------------------------------------------------- presence


async def test_a_bot_that_hangs_up_is_away_at_once(house: House) -> None:
    bot_id, token = await house.register()
    call = house.attend(token)
    await call.read()
    assert house.lobby.here().keys() == {bot_id}
    call.cancel()
    await house.seen(bot_id, Presence.AWAY)
    listed = (await house.stub.ListBots(pb.ListBotsRequest())).bots
    assert [(bot.name, bot.presence) for bot in listed] == [("alpha", pb.PRESENCE_AWAY)]
    house.lobby._presence._gone_after = timedelta(0)
    async with LobbyClient(house.address) as client:
        (shown,) = await client.list_bots()
    assert (shown.here, shown.presence, shown.since is not None) == (False, "gone", True)


async def test_a_bot_whose_connection_ends_is_away_at_once(house: House) -> None:
    bot_id, token = await house.register()
    async with grpc.aio.insecure_channel(house.address) as channel:
        stub: Any = pb_grpc.LobbyServiceStub(channel)
        request = pb.AttendRequest(protocol_version=1, tables=1)
        await stub.Attend(request, metadata=bearer(token)).read()
        await house.seen(bot_id, Presence.HERE)
    await house.seen(bot_id, Presence.AWAY)


async def test_a_bot_that_is_killed_is_away_at_once_and_may_come_back(house: House) -> None:
    bot_id, token = await house.register()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", ATTENDING_PROCESS, house.address, token, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"in\n"
    await house.seen(bot_id, Presence.HERE)
    process.send_signal(signal.SIGKILL)
    await house.seen(bot_id, Presence.AWAY)
    await process.wait()
    await house.attend(token).read()
    await house.seen(bot_id, Presence.HERE)


async def test_a_second_attendance_supersedes_the_first(house: House) -> None:
    bot_id, token = await house.register()
    first = house.attend(token)
    await first.read()
    second = house.attend(token)
    await second.read()
    code, info = await refusal(first.read())
    assert (code, info.reason) == (grpc.StatusCode.ABORTED, "REASON_SUPERSEDED")
    assert house.lobby.here().keys() == {bot_id}
    house.lobby.set_match_services([ONE])
    assert len((await second.read()).match_services) == 1


async def test_bots_are_listed_in_pages_with_who_is_in(house: House) -> None:
    for name in ("charlie", "alpha"):
        await house.register(name)
    _, token = await house.register("bravo")
    await house.attend(token).read()
    first = await house.stub.ListBots(pb.ListBotsRequest(page_size=2))
    rest = await house.stub.ListBots(pb.ListBotsRequest(page_size=2, page_token=first.next_page_token))
    assert [(bot.name, bot.owner, bot.version, bot.presence) for bot in (*first.bots, *rest.bots)] == [
        ("alpha", "ann", "1.0", pb.PRESENCE_UNSPECIFIED),
        ("bravo", "ann", "1.0", pb.PRESENCE_HERE),
        ("charlie", "ann", "1.0", pb.PRESENCE_UNSPECIFIED),
    ]
    assert rest.next_page_token == ""


# ------------------------------------------------------------------------------------------------------------- tokens


async def test_a_rotated_token_ends_the_old_one_wherever_it_is_used(house: House) -> None:
    _, old = await house.register()
    call = house.attend(old)
    await call.read()
    new = (await house.stub.RotateToken(pb.RotateTokenRequest(), metadata=bearer(old))).token
    assert (await refusal(call.read()))[1].reason == "REASON_TOKEN_UNKNOWN"
    assert (await refusal(house.attend(old).read()))[1].reason == "REASON_TOKEN_UNKNOWN"
    await house.attend(new).read()


async def test_a_revoked_bot_is_sent_away(house: House) -> None:
    bot_id, token = await house.register()
    call = house.attend(token)
    await call.read()
    await house.stub.RevokeToken(pb.RevokeTokenRequest(), metadata=bearer(token))
    assert (await refusal(call.read()))[1].reason == "REASON_TOKEN_UNKNOWN"
    await house.seen(bot_id, Presence.GONE)
    again = house.stub.RevokeToken(pb.RevokeTokenRequest(), metadata=bearer(token))
    assert (await refusal(again))[1].reason == "REASON_TOKEN_UNKNOWN"


async def test_a_token_holds_after_a_restart(tmp_path: Path) -> None:
    async with asyncio.timeout(100):
        async with running(tmp_path / "arena.db") as house:
            bot_id, token = await house.register()
        async with running(tmp_path / "arena.db") as house:
            await house.attend(token).read()
            assert house.lobby.here().keys() == {bot_id}


# ------------------------------------------------------------------------------------------------------------ refusals


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [
        ([], "REASON_UNAUTHENTICATED"),
        ([("authorization", "Bearer ")], "REASON_UNAUTHENTICATED"),
        ([("authorization", "Basic abc")], "REASON_UNAUTHENTICATED"),
        ([("authorization", "Bearer bh_nobody")], "REASON_TOKEN_UNKNOWN"),
    ],
)
@pytest.mark.parametrize("call", ["RotateToken", "RevokeToken", "Attend"])
async def test_calls_without_a_good_token_are_refused(
    house: House, call: str, metadata: list[tuple[str, str]], reason: str
) -> None:
    request = {"RotateToken": pb.RotateTokenRequest, "RevokeToken": pb.RevokeTokenRequest, "Attend": pb.AttendRequest}
    made = getattr(house.stub, call)(request[call](), metadata=metadata)
    code, info = await refusal(made.read() if call == "Attend" else made)
    assert (code, info.reason) == (grpc.StatusCode.UNAUTHENTICATED, reason)


@pytest.mark.parametrize(
    ("changes", "code", "reason"),
    [
        ({"protocol_version": 2}, grpc.StatusCode.FAILED_PRECONDITION, "REASON_VERSION_UNSUPPORTED"),
        ({"tables": 0}, grpc.StatusCode.INVALID_ARGUMENT, "REASON_MALFORMED"),
    ],
)
async def test_attending_in_a_way_that_cannot_work_is_refused(
    house: House, changes: dict[str, int], code: grpc.StatusCode, reason: str
) -> None:
    _, token = await house.register()
    got, info = await refusal(house.attend(token, **changes).read())
    assert (got, info.reason) == (code, reason)


@pytest.mark.parametrize(
    ("name", "reason"), [("alpha", "REASON_NAME_TAKEN"), ("", "REASON_NAME_INVALID"), ("a b", "REASON_NAME_INVALID")]
)
async def test_a_name_that_cannot_be_had_is_refused(house: House, name: str, reason: str) -> None:
    await house.register("alpha")
    _, info = await refusal(house.register(name))
    assert info.reason == reason


async def test_a_platform_that_stops_says_so_to_those_attending(house: House) -> None:
    _, token = await house.register()
    call = house.attend(token)
    await call.read()
    house.lobby.drain()
    code, info = await refusal(call.read())
    assert (code, info.reason) == (grpc.StatusCode.UNAVAILABLE, "REASON_DRAINING")
