"""The gRPC service for operators: decodes, calls the desk, encodes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import grpc.aio

from baohuang.tournament.v1 import tournament_service_pb2 as pb
from baohuang.tournament.v1 import tournament_service_pb2_grpc as pb_grpc
from services.common.errors import PlatformError, Reason
from services.tournament.servicer import messages
from services.tournament.servicer.desk import Desk
from services.tournament.servicer.stopping import parse_decided_groups

SERVICE_NAME = "baohuang.tournament.v1.TournamentService"

PAGE = 100
LARGEST_PAGE = 1000

_Context = grpc.aio.ServicerContext[Any, Any]


class TournamentServicer(pb_grpc.TournamentServiceServicer):
    """What operators call."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def CreateTournament(
        self, request: pb.CreateTournamentRequest, context: _Context
    ) -> pb.CreateTournamentResponse:
        view = await self._desk.create(request.spec_yaml)
        return pb.CreateTournamentResponse(tournament=messages.tournament_to_proto(view))

    async def PlanTournament(self, request: pb.PlanTournamentRequest, context: _Context) -> pb.PlanTournamentResponse:
        plan = await self._desk.plan(request.spec_yaml)
        return pb.PlanTournamentResponse(plan=messages.plan_to_proto(plan))

    async def ListTournaments(
        self, request: pb.ListTournamentsRequest, context: _Context
    ) -> pb.ListTournamentsResponse:
        page = await self._desk.page(request.page_token, _page_size(request.page_size))
        return pb.ListTournamentsResponse(
            tournaments=map(messages.tournament_to_proto, page.items), next_page_token=page.after
        )

    async def GetTournament(self, request: pb.GetTournamentRequest, context: _Context) -> pb.GetTournamentResponse:
        view = await self._desk.view(request.name)
        return pb.GetTournamentResponse(tournament=messages.tournament_to_proto(view))

    async def WatchTournament(
        self, request: pb.WatchTournamentRequest, context: _Context
    ) -> AsyncIterator[pb.WatchTournamentResponse]:
        async for view in self._desk.watch(request.name):
            yield pb.WatchTournamentResponse(tournament=messages.tournament_to_proto(view))

    async def PauseTournament(
        self, request: pb.PauseTournamentRequest, context: _Context
    ) -> pb.PauseTournamentResponse:
        view = await self._desk.pause(request.name)
        return pb.PauseTournamentResponse(tournament=messages.tournament_to_proto(view))

    async def ResumeTournament(
        self, request: pb.ResumeTournamentRequest, context: _Context
    ) -> pb.ResumeTournamentResponse:
        view = await self._desk.resume(request.name)
        return pb.ResumeTournamentResponse(tournament=messages.tournament_to_proto(view))

    async def CancelTournament(
        self, request: pb.CancelTournamentRequest, context: _Context
    ) -> pb.CancelTournamentResponse:
        view = await self._desk.cancel(request.name)
        return pb.CancelTournamentResponse(tournament=messages.tournament_to_proto(view))

    async def ExcludeBot(self, request: pb.ExcludeBotRequest, context: _Context) -> pb.ExcludeBotResponse:
        annulled = messages.annulled_from_proto(request.results)
        view = await self._desk.exclude(request.name, request.bot, annulled=annulled, reason=request.reason)
        return pb.ExcludeBotResponse(tournament=messages.tournament_to_proto(view))

    async def RequeueMatch(self, request: pb.RequeueMatchRequest, context: _Context) -> pb.RequeueMatchResponse:
        view = await self._desk.requeue(request.name, request.number, request.reason)
        return pb.RequeueMatchResponse(tournament=messages.tournament_to_proto(view))

    async def SetInFlight(self, request: pb.SetInFlightRequest, context: _Context) -> pb.SetInFlightResponse:
        view = await self._desk.set_in_flight(request.name, request.in_flight or None)
        return pb.SetInFlightResponse(tournament=messages.tournament_to_proto(view))

    async def GetStandings(self, request: pb.GetStandingsRequest, context: _Context) -> pb.GetStandingsResponse:
        view = await self._desk.view(request.name)
        standings = await self._desk.standings(request.name, messages.order_from_proto(request.order))
        return pb.GetStandingsResponse(
            standings=map(messages.standing_to_proto, standings), progress=messages.progress_to_proto(view)
        )

    async def GetRecord(self, request: pb.GetRecordRequest, context: _Context) -> pb.GetRecordResponse:
        return pb.GetRecordResponse(record=await self._desk.record(request.name, request.number))

    async def ListMatches(self, request: pb.ListMatchesRequest, context: _Context) -> pb.ListMatchesResponse:
        size = _page_size(request.page_size)
        after = _number(request.page_token)
        view = await self._desk.view(request.name)
        results = await self._desk.results(request.name, after, size + 1)
        decided = parse_decided_groups(view.message)
        return pb.ListMatchesResponse(
            matches=[
                messages.match_to_proto(result, view.plan, decided)
                for result in await self._desk.released(request.name, results[:size])
            ],
            next_page_token=str(results[size - 1].number) if len(results) > size else "",
        )


def _page_size(asked: int) -> int:
    return min(asked or PAGE, LARGEST_PAGE)


def _number(token: str) -> int:
    if token and not (token.isascii() and token.isdigit() and len(token) < 19):
        raise PlatformError(Reason.MALFORMED, "page_token is not one that this platform gave out.", field="page_token")
    return int(token) if token else -1
