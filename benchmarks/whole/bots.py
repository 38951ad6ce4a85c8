"""The bots: real ones of the SDK, some in each process, the same for a platform as for match services alone."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from bots_sdk.client import BotPool, ClientStatistics, InlineThinker, PlayClient, Ticket
from bots_sdk.house import make_house_bot
from bots_sdk.loading import BotSource
from bots_sdk.runner import BotRunner, RunnerSettings

KIND = "greedy"


def _silent(line: str) -> None:
    """What a bot has to say to a person."""


def attend(server: str, tokens: Mapping[str, str], tables: int) -> None:
    """A process: its bots come in at the lobby of a platform, and play until they are killed."""

    async def run() -> None:
        async with asyncio.TaskGroup() as bots:
            for name, token in tokens.items():
                source = BotSource(name, lambda seed: make_house_bot(KIND, str(seed)), is_house=True)
                settings = RunnerSettings(server=server, token=token, tables=tables)
                bots.create_task(BotRunner(source, settings, _silent).run())

    asyncio.run(run())


def play(tickets: Mapping[str, Sequence[Ticket]]) -> None:
    """A process: its bots, with a ticket for each match service, play until they are killed."""

    async def run() -> None:
        async with asyncio.TaskGroup() as bots:
            for name, own in tickets.items():
                pool = BotPool(lambda seed: make_house_bot(KIND, str(seed)), name)
                for ticket in own:
                    thinker = InlineThinker(pool, trusted=True)
                    bots.create_task(PlayClient(ticket, thinker, ClientStatistics(), _silent).run())

    asyncio.run(run())
