"""A client that is running against the fake match service, for tests to look into."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from baohuang.match.v1 import match_service_pb2 as pb
from bots_sdk.bot import MatchResult, Seating
from bots_sdk.client import (
    ClientStatistics,
    PlayClient,
    Thinker,
    Ticket,
)
from bots_sdk.house import GreedyBot
from bots_sdk.rules.events import DealEnded, Event
from bots_sdk.rules.view import View
from bots_sdk.testing.fake_match_service import FakeMatchService, FakeStream
from bots_sdk.testing.hosted_match import HostedMatch


class Played(GreedyBot):
    """Plays like greedy, takes notes, and is shared by all seats of a test."""

    def __init__(self) -> None:
        super().__init__()
        self.seatings: list[Seating] = []
        self.events: list[Event] = []
        self.ended: list[DealEnded] = []
        self.results: list[MatchResult] = []

    def seated(self, seating: Seating) -> None:
        self.seatings.append(seating)

    def event_seen(self, event: Event, view: View) -> None:
        self.events.append(event)

    def deal_ended(self, result: DealEnded, view: View) -> None:
        self.ended.append(result)

    def match_ended(self, result: MatchResult) -> None:
        self.results.append(result)


class Running:
    """A client that is running, and what it said."""

    def __init__(self, service: FakeMatchService, thinker: Thinker) -> None:
        self.service = service
        self.said: list[str] = []
        self.statistics = ClientStatistics()
        ticket = Ticket("ms-1", service.address, "a ticket", 16)
        self.client = PlayClient(ticket, thinker, self.statistics, self.said.append)
        self.task = asyncio.create_task(self.client.run())

    async def stream(self) -> FakeStream:
        return await self.service.next_stream()

    async def until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            assert not self.task.done(), self.task.exception()
            await asyncio.sleep(0.005)


Start = Callable[..., Running]


async def seated_at(stream: FakeStream, match: HostedMatch) -> pb.Request:
    """Seat the client and play on until its first request; returns that."""
    await stream.welcome()
    await stream.send(seated=match.seated())
    await stream.record("ready")
    records = match.start()
    await stream.send(*records)
    return records[-1].request


async def play_on(stream: FakeStream, match: HostedMatch) -> None:
    while not match.match.over:
        decision = (await stream.record("decision")).decision
        if decision.request == match.request:
            await stream.send(*match.decide(decision))
