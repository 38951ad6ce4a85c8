"""The gRPC service for operators: decodes, calls the desk, encodes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import grpc.aio

from baohuang.tournament.v1 import tournament_service_pb2 as pb
from baohuang.tournament.v1 import tournament_service_pb2_grpc as pb_grpc
from services.access.callers import Caller, current_caller
from services.common.errors import PlatformError, Reason
from services.common.scopes import Scope
from services.ledger import tournaments
from services.ledger.values import Side, Tournament, TournamentState
from services.tournament.servicer import messages
from services.tournament.servicer.desk import Desk
from services.tournament.servicer.scopes import verify_stage
from services.tournament.servicer.stopping import parse_decided_groups
from services.tournament.servicer.views import TournamentView

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
        view = await self._desk.create(request.spec_yaml, messages.beginning_from_proto(request.state))
        return pb.CreateTournamentResponse(tournament=messages.tournament_to_proto(view))

    async def EditTournament(self, request: pb.EditTournamentRequest, context: _Context) -> pb.EditTournamentResponse:
        view = await self._desk.edit(request.spec_yaml)
        return pb.EditTournamentResponse(tournament=messages.tournament_to_proto(view))

    async def OpenTournament(self, request: pb.OpenTournamentRequest, context: _Context) -> pb.OpenTournamentResponse:
        view = await self._desk.open(request.name)
        return pb.OpenTournamentResponse(tournament=messages.tournament_to_proto(view))

    async def EnterBot(self, request: pb.EnterBotRequest, context: _Context) -> pb.EnterBotResponse:
        view = await self._desk.enter(request.name, *whose(request.bot, current_caller()))
        return pb.EnterBotResponse(tournament=messages.tournament_to_proto(view))

    async def WithdrawBot(self, request: pb.WithdrawBotRequest, context: _Context) -> pb.WithdrawBotResponse:
        view = await self._desk.withdraw(request.name, *whose(request.bot, current_caller()))
        return pb.WithdrawBotResponse(tournament=messages.tournament_to_proto(view))

    async def StartTournament(
        self, request: pb.StartTournamentRequest, context: _Context
    ) -> pb.StartTournamentResponse:
        view = await self._desk.start(request.name)
        return pb.StartTournamentResponse(tournament=messages.tournament_to_proto(view))

    async def PlanTournament(self, request: pb.PlanTournamentRequest, context: _Context) -> pb.PlanTournamentResponse:
        plan = await self._desk.plan(request.spec_yaml)
        return pb.PlanTournamentResponse(plan=messages.plan_to_proto(plan))

    async def ListTournaments(
        self, request: pb.ListTournamentsRequest, context: _Context
    ) -> pb.ListTournamentsResponse:
        hidden = () if sees_drafts(current_caller()) else (TournamentState.DRAFT,)
        page = await self._desk.page(request.page_token, _page_size(request.page_size), hidden)
        return pb.ListTournamentsResponse(
            tournaments=map(messages.tournament_to_proto, page.items), next_page_token=page.after
        )

    async def GetTournament(self, request: pb.GetTournamentRequest, context: _Context) -> pb.GetTournamentResponse:
        view = await self._view(request.name)
        return pb.GetTournamentResponse(tournament=messages.tournament_to_proto(view))

    async def WatchTournament(
        self, request: pb.WatchTournamentRequest, context: _Context
    ) -> AsyncIterator[pb.WatchTournamentResponse]:
        caller = current_caller()
        async for view in self._desk.watch(request.name):
            verify_seen(view.tournament, caller)
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
        view = await self._view(request.name)
        order, stage, stages = messages.order_from_proto(request.order), request.stage, 1
        if view.plan is not None:
            stage = verify_stage(request.name, view.plan.schedule, stage)
            stages = len(view.plan.schedule.stages)
        standings = await self._desk.standings(request.name, order, stage)
        qualified = frozenset(one.name for one in view.tournament.qualified if one.plays)
        return pb.GetStandingsResponse(
            standings=[messages.standing_to_proto(standing, qualified) for standing in standings],
            progress=messages.progress_to_proto(view),
            stage=stage,
            stages=stages,
        )

    async def GetRecord(self, request: pb.GetRecordRequest, context: _Context) -> pb.GetRecordResponse:
        await self._view(request.name)
        return pb.GetRecordResponse(record=await self._desk.record(request.name, request.number))

    async def ListMatches(self, request: pb.ListMatchesRequest, context: _Context) -> pb.ListMatchesResponse:
        size = _page_size(request.page_size)
        after = _number(request.page_token)
        view = await self._view(request.name)
        if view.plan is None:
            return pb.ListMatchesResponse()
        plan, decided = view.plan, parse_decided_groups(view.message)
        results = await self._desk.results(request.name, after, size + 1)
        # A final may have got its line-up since the plan was looked at.
        results = [result for result in results if result.number < plan.schedule.known]
        return pb.ListMatchesResponse(
            matches=[
                messages.match_to_proto(result, plan, decided)
                for result in await self._desk.released(request.name, results[:size])
            ],
            next_page_token=str(results[size - 1].number) if len(results) > size else "",
        )

    async def _view(self, name: str) -> TournamentView:
        view = await self._desk.view(name)
        verify_seen(view.tournament, current_caller())
        return view


def sees_drafts(caller: Caller) -> bool:
    """Whether drafts are anything to the caller."""
    return Scope.OPERATE in caller.scopes


def verify_seen(tournament: Tournament, caller: Caller) -> None:
    """Raises PlatformError TOURNAMENT_UNKNOWN for a draft that the caller is not to know of."""
    if tournament.state is TournamentState.DRAFT and not sees_drafts(caller):
        raise tournaments.unknown(tournament.name)


def whose(named: str, caller: Caller) -> tuple[str, Side]:
    """The bot that enters or is withdrawn, and whose word it is: a bot speaks for itself alone.

    Raises PlatformError FORBIDDEN for another bot, MALFORMED without a name from an operator.
    """
    if caller.bot is None:
        if not named:
            message = "bot: an operator has to say which bot, as in `baohuang tournament enter NAME BOT`."
            raise PlatformError(Reason.MALFORMED, message, field="bot")
        return named, Side.OPERATOR
    if named not in ("", caller.bot.name):
        raise PlatformError(
            Reason.FORBIDDEN,
            f"The token is that of {caller.bot.name!r}: it enters and withdraws this bot alone, not {named!r}.",
            needs=Scope.OPERATE,
            has=Scope.PLAY,
        )
    return caller.bot.name, Side.BOT


def _page_size(asked: int) -> int:
    return min(asked or PAGE, LARGEST_PAGE)


def _number(token: str) -> int:
    if token and not (token.isascii() and token.isdigit() and len(token) < 19):
        raise PlatformError(Reason.MALFORMED, "page_token is not one that this platform gave out.", field="page_token")
    return int(token) if token else -1
