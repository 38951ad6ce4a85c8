"""A match played on one stream of the fake match service: the client's bot in one seat, house bots in the others."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from baohuang.match.v1 import match_service_pb2 as pb
from bots_sdk.bot import Bot
from bots_sdk.convert import decision_from_proto, event_to_proto, options_to_proto, phase_to_proto
from bots_sdk.house import make_house_bot
from bots_sdk.rules.events import DealStarted, Event, HandDealt
from bots_sdk.rules.match import Match
from bots_sdk.rules.options import Options
from bots_sdk.rules.profiles import PROFILES
from bots_sdk.rules.shuffle import deck_order
from bots_sdk.testing.fake_match_service import FakeStream


class HostedMatch:
    """The records of one match for one seat, without clocks.

    Args:
        table: its number.
        seat: of the client's bot.
        options: the rules.
        deals: how many.
        secret: what the shuffles come from.
        limit_ms: the limit that is told; nobody watches it.
    """

    def __init__(
        self,
        table: int = 1,
        seat: int = 0,
        *,
        options: Options = PROFILES["qingdao"],
        deals: int = 1,
        secret: bytes = b"hosted",
        limit_ms: int = 2000,
    ) -> None:
        self.table = table
        self.seat = seat
        self.match = Match(options, deals, partial(deck_order, options, secret))
        self.request = 0
        self.number = 0
        self.events: list[pb.ServerRecord] = []
        self._limit_ms = limit_ms
        self._others: dict[int, Bot] = {other: make_house_bot("greedy") for other in range(5) if other != seat}

    def seated(self) -> pb.Seated:
        """The seat, as it is told first."""
        return pb.Seated(
            table=self.table,
            match_id=f"match-{self.table}",
            seat=self.seat,
            options=options_to_proto(self.match.options),
            clock=pb.Clock(limit_ms=self._limit_ms, suggested_margin_ms=20),
            deals=self.match.deals,
            names=[f"player-{seat}" for seat in range(5)],
            ready_ms=30_000,
        )

    def start(self) -> list[pb.ServerRecord]:
        """What is sent when the bot is ready: up to its first request, or the end."""
        return self._tell(self.match.start()) + self.advance()

    def decide(self, decision: pb.Decision) -> list[pb.ServerRecord]:
        """What is sent after a decision for the open request.

        Raises:
            IllegalAnswer: it is not legal.
            Malformed: it is no answer.
        """
        answer = decision_from_proto(decision)
        events = self.match.answer(self.seat, answer)
        charged = pb.ServerRecord(charged=pb.Charged(table=self.table, request=self.request, charged_us=100))
        return [charged, *self._tell(events), *self.advance()]

    def advance(self) -> list[pb.ServerRecord]:
        """Let the others play until the bot is asked or the match is over."""
        records: list[pb.ServerRecord] = []
        while True:
            deal = self.match.deal
            if deal.result is not None:
                if self.match.over:
                    return [*records, pb.ServerRecord(match_ended=self.ended())]
                records += self._tell(self.match.next_deal())
                continue
            others = [seat for seat in deal.asked if seat != self.seat]
            if not others:
                self.request += 1
                return [*records, pb.ServerRecord(request=self.open_request())]
            seat = others[0]
            records += self._tell(self.match.answer(seat, self._others[seat].answer(deal.view(seat))))

    def open_request(self) -> pb.Request:
        """The open request."""
        phase = phase_to_proto(self.match.deal.phase)
        return pb.Request(
            table=self.table, request=self.request, phase=phase, limit_ms=self._limit_ms, event=self.number
        )

    def ended(self) -> pb.MatchEnded:
        """The record that ends the match."""
        return pb.MatchEnded(
            table=self.table, match_id=f"match-{self.table}", ending=pb.ENDING_COMPLETED, points=self.match.points
        )

    def resumed(self) -> pb.Resumed:
        """What a bot that comes back is told while a request is open."""
        events = [record.event for record in self.events]
        return pb.Resumed(seated=self.seated(), events=events, request=self.open_request())

    def _tell(self, events: Sequence[Event]) -> list[pb.ServerRecord]:
        records = []
        for event in events:
            if isinstance(event, DealStarted):
                self.events = []
            records.append(self._record(event))
            if isinstance(event, DealStarted):
                records.append(self._record(HandDealt(self.match.deal.hand(self.seat))))
        return records

    def _record(self, event: Event) -> pb.ServerRecord:
        self.number += 1
        record = pb.ServerRecord(event=event_to_proto(event, self.table, self.number))
        self.events.append(record)
        return record


async def host(stream: FakeStream, *matches: HostedMatch) -> None:
    """Say welcome on a new stream, seat its bot at the matches, and play them to their end."""
    await stream.welcome()
    by_table = {match.table: match for match in matches}
    await stream.send(*(pb.ServerRecord(seated=match.seated()) for match in matches))
    while by_table:
        record = await stream.record("ready", "decision")
        if record.WhichOneof("record") == "ready":
            match = by_table[record.ready.table]
            await stream.send(*match.start())
        else:
            match = by_table[record.decision.table]
            if record.decision.request == match.request:
                await stream.send(*match.decide(record.decision))
        if match.match.over:
            del by_table[match.table]
