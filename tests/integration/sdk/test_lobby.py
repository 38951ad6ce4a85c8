"""Calls to the lobby, over real gRPC against a lobby that does what a test says."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import AsyncIterator

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from baohuang.lobby.v1 import lobby_service_pb2 as pb
from bots_sdk.client import LobbyClient, Ticket
from bots_sdk.errors import ProtocolBroken, Refused, TokenRejected, Unreachable
from bots_sdk.testing.fake_lobby import FakeLobby


@pytest.fixture
async def lobby() -> AsyncIterator[FakeLobby]:
    async with FakeLobby() as fake:
        yield fake


@pytest.fixture
async def client(lobby: FakeLobby) -> AsyncIterator[LobbyClient]:
    async with LobbyClient(lobby.address) as made:
        yield made


async def test_a_bot_is_registered_once(client: LobbyClient) -> None:
    made = await client.register("mine", "me", "1.0")
    assert (made.name, made.bot_id, made.token) == ("mine", "bot-1", "token-1")
    with pytest.raises(Refused, match=r"the name 'mine' is taken\. Choose another name") as caught:
        await client.register("mine")
    assert (caught.value.reason, caught.value.metadata) == ("REASON_NAME_TAKEN", {"name": "mine"})
    assert caught.value.next_step == "Choose another name."


async def test_all_pages_of_bots_are_listed(client: LobbyClient) -> None:
    for name in "edcba":
        await client.register(name)
    assert [bot.name for bot in await client.list_bots()] == list("abcde")


async def test_attending_tells_match_services_and_changes(lobby: FakeLobby, client: LobbyClient) -> None:
    token = (await client.register("mine")).token
    async with contextlib.aclosing(client.attend(token, tables=5)) as answers:
        assert await anext(answers) == []
        assert (lobby.attended[0].tables, lobby.attended[0].protocol_version) == (5, 1)
        lobby.name_services(pb.MatchServiceTicket(name="ms-1", address="h:1", ticket="t", tables=3))
        assert await anext(answers) == [Ticket("ms-1", "h:1", "t", 3)]
    await lobby.gone(token)  # going away is noticed


async def test_a_token_that_is_not_known_is_a_token_rejected(client: LobbyClient) -> None:
    with pytest.raises(TokenRejected, match=r"no such token\. Check the token"):
        await anext(client.attend("guessed", 1))


async def test_a_token_revoked_while_attending_is_a_token_rejected(lobby: FakeLobby, client: LobbyClient) -> None:
    token = (await client.register("mine")).token
    async with contextlib.aclosing(client.attend(token, 1)) as answers:
        await anext(answers)
        lobby.revoke(token)
        with pytest.raises(TokenRejected):
            await anext(answers)


async def test_a_token_is_replaced_and_ended(client: LobbyClient) -> None:
    old = (await client.register("mine")).token
    new = await client.rotate_token(old)
    with pytest.raises(TokenRejected):
        await client.rotate_token(old)
    await client.revoke_token(new)
    with pytest.raises(TokenRejected):
        await client.revoke_token(new)


async def test_silence_of_the_lobby_ends_the_call(lobby: FakeLobby, client: LobbyClient) -> None:
    lobby.silence_limit_s = 1
    token = (await client.register("mine")).token
    async with contextlib.aclosing(client.attend(token, 1)) as answers:
        await anext(answers)
        with pytest.raises(Unreachable, match="nothing was heard of the lobby"):
            await anext(answers)


async def test_a_match_service_without_an_address_makes_no_sense(lobby: FakeLobby, client: LobbyClient) -> None:
    token = (await client.register("mine")).token
    lobby.name_services(pb.MatchServiceTicket(name="ms-1"))
    with pytest.raises(ProtocolBroken, match="without a name or an address"):
        await anext(client.attend(token, 1))


class OddLobby(FakeLobby):
    """Its list of bots is what the test says, page after page."""

    def __init__(self, page: pb.ListBotsResponse) -> None:
        super().__init__()
        self.page = page

    async def ListBots(self, request: pb.ListBotsRequest, context: object) -> pb.ListBotsResponse:
        return self.page


@pytest.mark.parametrize(
    ("page", "said"),
    [
        (pb.ListBotsResponse(bots=[pb.Bot(name="x", since=Timestamp(seconds=2**62))]), "no time that a calendar has"),
        (pb.ListBotsResponse(bots=[pb.Bot(name="x")], next_page_token="more"), "lists bots without end"),
    ],
)
async def test_a_list_of_bots_that_makes_no_sense_is_said(
    page: pb.ListBotsResponse, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bots_sdk.client.lobby.MOST_PAGES", 3)
    async with OddLobby(page) as lobby, LobbyClient(lobby.address) as client:
        with pytest.raises(ProtocolBroken, match=said):
            await client.list_bots()


async def test_more_match_services_than_can_be_make_no_sense(lobby: FakeLobby, client: LobbyClient) -> None:
    token = (await client.register("mine")).token
    lobby.name_services(*(pb.MatchServiceTicket(name=f"ms-{n}", address="127.0.0.1:1") for n in range(1_001)))
    with pytest.raises(ProtocolBroken, match="named 1001 match services"):
        await anext(client.attend(token, 1))


async def test_nobody_at_the_address_is_unreachable() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{unused.getsockname()[1]}"
        async with LobbyClient(address) as client:
            with pytest.raises(Unreachable, match=f"nobody answers at {address}"):
                await client.register("mine")


async def test_a_host_that_does_not_exist_is_said() -> None:
    async with LobbyClient("no.such.host.invalid:7400") as client:
        with pytest.raises(Unreachable, match=r"no host of the name in no\.such\.host\.invalid:7400"):
            await client.register("mine")


async def test_something_else_at_the_address_is_said(lobby: FakeLobby) -> None:
    from bots_sdk.testing.fake_match_service import FakeMatchService

    async with FakeMatchService() as other, LobbyClient(other.address) as client:
        with pytest.raises(Unreachable, match="is no baohuang server"):
            await client.register("mine")


@pytest.mark.parametrize("token", ["保皇", "a\x00b", "bh_\x7f"])
async def test_a_token_that_cannot_be_sent_is_rejected(client: LobbyClient, token: str) -> None:
    with pytest.raises(TokenRejected, match="characters that no token has"):
        await client.rotate_token(token)
