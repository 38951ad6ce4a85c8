"""Entering a tournament that is open, and leaving it again before it is started: a bot with its own token."""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType
from typing import Any

import grpc
import grpc.aio

from baohuang.tournament.v1 import tournament_service_pb2 as pb
from baohuang.tournament.v1.tournament_service_pb2_grpc import TournamentServiceStub
from bots_sdk.client.channel import explain, open_channel
from bots_sdk.client.lobby import CALL_TIMEOUT_S, bearer
from bots_sdk.client.tls import Tls
from bots_sdk.errors import make_refused


@dataclass(frozen=True, slots=True)
class OpenTournament:
    """A tournament that bots may enter.

    Attributes:
        name: its name.
        entrants: who has entered, by name.
        least: so many play at least, or it is not started.
        most: so many play at most.
    """

    name: str
    entrants: tuple[str, ...]
    least: int
    most: int


class EntranceClient:
    """Calls about open tournaments to the platform at one address; to be used with `async with`.

    Args:
        address: HOST:PORT.
        tls: whom to trust; None: plain text.
    """

    def __init__(self, address: str, tls: Tls | None = None) -> None:
        self._address = address
        self._tls = tls
        self._channel = open_channel(address, tls)
        self._stub: Any = TournamentServiceStub(self._channel)

    async def __aenter__(self) -> EntranceClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._channel.close()

    async def enter(self, token: str, tournament: str) -> OpenTournament:
        """Enter the bot whose token it is; said again, nothing changes.

        Raises:
            Refused: there is no such tournament, it is not open, it is full, or the bot is not to enter it.
            Unreachable: nobody answers.
        """
        return await self._call(self._stub.EnterBot, pb.EnterBotRequest, token, tournament)

    async def withdraw(self, token: str, tournament: str) -> OpenTournament:
        """Take the bot out again.

        Raises:
            Refused: it was started already, or the bot has never entered it.
            Unreachable: nobody answers.
        """
        return await self._call(self._stub.WithdrawBot, pb.WithdrawBotRequest, token, tournament)

    async def _call(self, method: Any, make: Any, token: str, tournament: str) -> OpenTournament:
        try:
            request = make(name=tournament)
        except UnicodeEncodeError:
            raise make_refused("REASON_TOURNAMENT_UNKNOWN", "what was typed is no text in UTF-8") from None
        try:
            answer = await method(request, timeout=CALL_TIMEOUT_S, metadata=bearer(token))
        except grpc.aio.AioRpcError as error:
            raise await explain(error, self._address, self._tls) from error
        one = answer.tournament
        names = tuple(entry.bot for entry in one.entries)
        return OpenTournament(one.name, names, one.min_entrants, one.max_entrants)
