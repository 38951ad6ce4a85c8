"""A bot that the lobby sends away: it comes back no sooner than it was told, or not at all."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import grpc
import grpc.aio
import pytest

from baohuang.lobby.v1 import lobby_service_pb2 as pb
from bots_sdk.errors import TokenRejected
from bots_sdk.loading import load_bot
from bots_sdk.runner import BotRunner, RunnerSettings
from bots_sdk.testing.fake_lobby import FakeLobby
from bots_sdk.testing.fake_match_service import abort

TOKEN = "token-of-mine"
WAIT_MS = 1_500
"""Longer than the bot waits of its own accord at first."""


class RefusingLobby(FakeLobby):
    """Refuses the first to come in, and notes when who came."""

    def __init__(self, code: grpc.StatusCode, reason: str, metadata: dict[str, str]) -> None:
        super().__init__()
        self.tokens[TOKEN] = "bot-1"
        self.came: list[float] = []
        self.let_in = asyncio.Event()
        self._refusal = (code, reason, "not now", metadata)

    async def Attend(
        self, request: pb.AttendRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> AsyncIterator[pb.AttendResponse]:
        self.came.append(time.monotonic())
        if len(self.came) == 1:
            await abort(context, *self._refusal)
        self.let_in.set()
        async for response in super().Attend(request, context):
            yield response


async def test_a_bot_that_came_too_often_waits_as_long_as_it_is_told() -> None:
    refusal = (grpc.StatusCode.RESOURCE_EXHAUSTED, "REASON_RATE_LIMITED", {"retry_after_ms": str(WAIT_MS)})
    lobby = RefusingLobby(*refusal)
    async with lobby:
        said: list[str] = []
        runner = asyncio.create_task(
            BotRunner(load_bot("greedy"), RunnerSettings(lobby.address, TOKEN, 4), said.append).run()
        )
        await asyncio.wait([asyncio.ensure_future(lobby.let_in.wait()), runner], return_when=asyncio.FIRST_COMPLETED)
        assert not runner.done()
        assert lobby.came[1] - lobby.came[0] >= WAIT_MS / 1000
        runner.cancel()
        await asyncio.wait([runner])
        assert said[0] == "not now; trying again"


async def test_a_token_that_is_not_a_bots_ends_the_run() -> None:
    """It would be refused for ever: somebody gave an operator's token to a bot."""
    refusal = (grpc.StatusCode.PERMISSION_DENIED, "REASON_FORBIDDEN", {"needs": "play", "has": "operate"})
    lobby = RefusingLobby(*refusal)
    async with lobby:
        runner = BotRunner(load_bot("greedy"), RunnerSettings(lobby.address, TOKEN, 4))
        with pytest.raises(TokenRejected, match="Give the token that the bot got when it was registered"):
            await runner.run()
        assert len(lobby.came) == 1
