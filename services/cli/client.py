"""A platform as the operator's commands talk to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import grpc
import grpc.aio

from baohuang.access.v1 import access_service_pb2 as access_pb
from baohuang.access.v1 import access_service_pb2_grpc as access_pb_grpc
from baohuang.lobby.v1 import lobby_service_pb2 as lobby_pb
from baohuang.lobby.v1 import lobby_service_pb2_grpc as lobby_pb_grpc
from baohuang.tournament.v1 import tournament_service_pb2 as pb
from baohuang.tournament.v1 import tournament_service_pb2_grpc as pb_grpc
from bots_sdk.client import Tls
from bots_sdk.client.diagnosis import diagnose

PATIENCE = 30.0
"""Seconds for an answer; planning a large tournament may take some of them."""

REACH = 5.0
"""Seconds to reach the platform at all."""

LARGEST = 64 * 1024 * 1024
"""Bytes of an answer; the record of a match of a thousand deals has some millions."""

LARGEST_PAGE = 1000
"""So many matches one answer has at most."""

ENDED = (pb.STATE_PAUSED, pb.STATE_FINISHED, pb.STATE_CANCELLED)
"""States in which nothing happens any more by itself."""


class Client:
    """The calls of an operator, with a token; empty: none. Each may raise grpc.RpcError."""

    def __init__(self, channel: grpc.aio.Channel, token: str = "") -> None:
        self.token = token
        self._stub = pb_grpc.TournamentServiceStub(channel)
        self._access = access_pb_grpc.AccessServiceStub(channel)
        self._lobby = lobby_pb_grpc.LobbyServiceStub(channel)
        self._shown = (("authorization", f"Bearer {token}"),) if token else ()
        self._terms: Any = {"timeout": PATIENCE, "metadata": self._shown}

    async def plan(self, spec_yaml: str) -> pb.Plan:
        return (await self._stub.PlanTournament(pb.PlanTournamentRequest(spec_yaml=spec_yaml), **self._terms)).plan

    async def create(self, spec_yaml: str, state: pb.State.ValueType = pb.STATE_RUNNING) -> pb.Tournament:
        request = pb.CreateTournamentRequest(spec_yaml=spec_yaml, state=state)
        return (await self._stub.CreateTournament(request, **self._terms)).tournament

    async def edit(self, spec_yaml: str) -> pb.Tournament:
        request = pb.EditTournamentRequest(spec_yaml=spec_yaml)
        return (await self._stub.EditTournament(request, **self._terms)).tournament

    async def open(self, name: str) -> pb.Tournament:
        return (await self._stub.OpenTournament(pb.OpenTournamentRequest(name=name), **self._terms)).tournament

    async def enter(self, name: str, bot: str) -> pb.Tournament:
        """Enter a bot; an empty name is that of the bot whose token it is."""
        return (await self._stub.EnterBot(pb.EnterBotRequest(name=name, bot=bot), **self._terms)).tournament

    async def withdraw(self, name: str, bot: str) -> pb.Tournament:
        """Withdraw a bot; an empty name is that of the bot whose token it is."""
        return (await self._stub.WithdrawBot(pb.WithdrawBotRequest(name=name, bot=bot), **self._terms)).tournament

    async def start(self, name: str) -> pb.Tournament:
        return (await self._stub.StartTournament(pb.StartTournamentRequest(name=name), **self._terms)).tournament

    async def get(self, name: str) -> pb.Tournament:
        return (await self._stub.GetTournament(pb.GetTournamentRequest(name=name), **self._terms)).tournament

    async def list(self) -> list[pb.Tournament]:
        found: list[pb.Tournament] = []
        token = ""
        while True:
            page = await self._stub.ListTournaments(pb.ListTournamentsRequest(page_token=token), **self._terms)
            found += page.tournaments
            token = page.next_page_token
            if not token:
                return found

    async def pause(self, name: str) -> pb.Tournament:
        return (await self._stub.PauseTournament(pb.PauseTournamentRequest(name=name), **self._terms)).tournament

    async def resume(self, name: str) -> pb.Tournament:
        return (await self._stub.ResumeTournament(pb.ResumeTournamentRequest(name=name), **self._terms)).tournament

    async def cancel(self, name: str) -> pb.Tournament:
        return (await self._stub.CancelTournament(pb.CancelTournamentRequest(name=name), **self._terms)).tournament

    async def exclude(self, name: str, bot: str, *, annulled: bool, reason: str) -> pb.Tournament:
        results = pb.EXCLUDED_RESULTS_ANNULLED if annulled else pb.EXCLUDED_RESULTS_KEPT
        request = pb.ExcludeBotRequest(name=name, bot=bot, results=results, reason=reason)
        return (await self._stub.ExcludeBot(request, **self._terms)).tournament

    async def requeue(self, name: str, number: int, reason: str) -> pb.Tournament:
        request = pb.RequeueMatchRequest(name=name, number=number, reason=reason)
        return (await self._stub.RequeueMatch(request, **self._terms)).tournament

    async def set_in_flight(self, name: str, in_flight: int) -> pb.Tournament:
        request = pb.SetInFlightRequest(name=name, in_flight=in_flight)
        return (await self._stub.SetInFlight(request, **self._terms)).tournament

    async def standings(
        self, name: str, order: pb.StandingsOrder.ValueType = pb.STANDINGS_ORDER_BY_POINTS, stage: int = 0
    ) -> pb.GetStandingsResponse:
        """The table of a stage; 0 is the latest."""
        request = pb.GetStandingsRequest(name=name, order=order, stage=stage)
        return await self._stub.GetStandings(request, **self._terms)

    async def matches(self, name: str, limit: int) -> Sequence[pb.Match]:
        """The first `limit` matches with results; 0: all."""
        found: list[pb.Match] = []
        token = ""
        while True:
            size = min(limit - len(found), LARGEST_PAGE) if limit else LARGEST_PAGE
            request = pb.ListMatchesRequest(name=name, page_size=size, page_token=token)
            page = await self._stub.ListMatches(request, **self._terms)
            found += page.matches
            token = page.next_page_token
            if not token or len(found) == limit:
                return found

    async def record(self, name: str, number: int) -> bytes:
        return (await self._stub.GetRecord(pb.GetRecordRequest(name=name, number=number), **self._terms)).record

    async def watch(self, name: str) -> AsyncIterator[pb.Tournament]:
        """The tournament, again after each change, until it is finished, paused or cancelled."""
        async for response in self._stub.WatchTournament(pb.WatchTournamentRequest(name=name), metadata=self._shown):
            yield response.tournament

    # ---- tokens

    async def caller(self) -> access_pb.GetCallerResponse:
        return await self._access.GetCaller(access_pb.GetCallerRequest(), **self._terms)

    async def create_token(self, name: str, scopes: Sequence[str]) -> str:
        """A new token; scopes by their names, such as `read`."""
        numbers = [access_pb.Scope.Value(f"SCOPE_{scope.upper()}") for scope in scopes]
        request = access_pb.CreateTokenRequest(name=name, scopes=numbers)
        return (await self._access.CreateToken(request, **self._terms)).token

    async def tokens(self) -> Sequence[access_pb.AccessToken]:
        found: list[access_pb.AccessToken] = []
        after = ""
        while True:
            request = access_pb.ListTokensRequest(page_token=after)
            page = await self._access.ListTokens(request, **self._terms)
            found += page.tokens
            after = page.next_page_token
            if not after:
                return found

    async def rotate_token(self, name: str) -> str:
        request = access_pb.RotateTokenRequest(name=name)
        return (await self._access.RotateToken(request, **self._terms)).token

    async def revoke_token(self, name: str) -> None:
        request = access_pb.RevokeTokenRequest(name=name)
        await self._access.RevokeToken(request, **self._terms)

    async def rotate_bot_token(self, name: str) -> str:
        request = lobby_pb.RotateBotTokenRequest(name=name)
        return (await self._lobby.RotateBotToken(request, **self._terms)).token

    async def revoke_bot_token(self, name: str) -> None:
        request = lobby_pb.RevokeBotTokenRequest(name=name)
        await self._lobby.RevokeBotToken(request, **self._terms)


class Unreachable(Exception):
    """Nobody answers at an address."""


@asynccontextmanager
async def connect(server: str, tls: Tls | None = None, token: str = "") -> AsyncIterator[Client]:
    """A client of the platform at HOST:PORT, in plain text without `tls`, a stranger without `token`.

    Raises Unreachable when nobody is there, ArenaError when somebody is but TLS fails.
    """
    options = [
        ("grpc.keepalive_time_ms", 10_000),
        ("grpc.keepalive_timeout_ms", 5_000),
        ("grpc.max_receive_message_length", LARGEST),
    ]
    async with _channel(server, tls, options) as channel:
        state = channel.get_state(try_to_connect=True)
        try:
            async with asyncio.timeout(REACH):
                while state is not grpc.ChannelConnectivity.READY:
                    if state is grpc.ChannelConnectivity.TRANSIENT_FAILURE:
                        raise await diagnose(server, tls) or Unreachable(server)
                    await channel.wait_for_state_change(state)
                    state = channel.get_state(try_to_connect=True)
        except TimeoutError:
            raise Unreachable(server) from None
        yield Client(channel, token)


def _channel(server: str, tls: Tls | None, options: Sequence[tuple[str, int]]) -> grpc.aio.Channel:
    if tls is None:
        return grpc.aio.insecure_channel(server, options=options)
    return grpc.aio.secure_channel(server, tls.credentials(), options=options)
