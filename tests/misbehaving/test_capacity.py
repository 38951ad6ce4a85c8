"""No bot gets more tables than it takes in all, also while its tables are shared out anew over match services."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta

from bots_sdk.bot import AsyncBot
from bots_sdk.client import Ticket
from bots_sdk.loading import BotSource
from bots_sdk.rules.answers import Answer
from bots_sdk.rules.view import View
from bots_sdk.runner import BotRunner, RunnerSettings
from services.common.matches import ClockRules
from services.match.service import MatchService
from tests.misbehaving.raw_bot import Arena, arena, order_of, ticket_for

PATIENT = ClockRules(limit=timedelta(seconds=90), ready=timedelta(seconds=90))


class Waiting(AsyncBot):
    """Answers when it is let."""

    let = asyncio.Event()

    async def answer(self, view: View) -> Answer:
        await self.let.wait()
        return view.legal()[0]


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(0.01)


def seats(service: MatchService) -> int:
    return len(service.floor.seats_of("vic"))


def declared(service: MatchService) -> int:
    """How many tables the bot has said it takes; 0 between two of its streams."""
    session = service.floor.sessions.get("vic")
    return session.terms.tables if session else 0


def ticket(here: Arena, name: str, tables: int) -> Ticket:
    return Ticket(name, here.address, ticket_for("vic", service=name, tables=tables), tables)


async def test_a_match_service_that_comes_later_gives_tables_only_as_others_end() -> None:
    Waiting.let = asyncio.Event()
    async with arena() as one, arena(name="m2") as two:
        source = BotSource("waiting", lambda seed: Waiting(), is_house=False, is_async=True)
        runner = BotRunner(source, RunnerSettings("127.0.0.1:1", "token", tables=6), lambda line: None)
        most = 0
        try:
            # given a bot that takes six tables and has them all at the only match service there is
            runner._join([ticket(one, "m1", 6)])
            await until(lambda: "vic" in one.service.floor.sessions)
            await one.service.submit([order_of("vic", attempt=f"a{n}", clock=PATIENT) for n in range(9)])
            await until(lambda: seats(one.service) == 6)
            # when a second one comes, its tables are shared out anew, and that one has matches for it at once
            await two.service.submit([order_of("vic", attempt=f"b{n}", clock=PATIENT) for n in range(9)])
            runner._join([ticket(one, "m1", 3), ticket(two, "m2", 3)])
            await until(lambda: declared(one.service) == 3)
            for _ in range(20):
                assert seats(two.service) == 0
                await asyncio.sleep(0.02)
            # then it gets tables there as those at the first one end, and never more than six in all
            Waiting.let.set()
            finished = 0
            while finished < 18:
                most = max(most, seats(one.service) + seats(two.service))
                finished = len(await one.service.collect("t", 0, 0)) + len(await two.service.collect("t", 0, 0))
                await asyncio.sleep(0)
            assert most <= 6
            await until(lambda: declared(two.service) == 3)
        finally:
            tasks = [task for _, task in runner._clients.values()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
