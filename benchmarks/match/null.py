"""The null referee: the same server, servicer, streams, credit and records, and no rules.

It has its place behind the real servicer, where the floor stands otherwise, and it plays matches by their scripts: an
answer is looked at for its table and the number of its request, and what follows was written down before. There is no
deal, no check, no clock, no record of the match and nothing to encode. All that one seat is told at a time is one piece
for its session, put together by a single `join` for all seats that are told the same. Nothing in here is slower than it
must be: the real service is judged by how near it comes.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import cast

from baohuang.match.v1 import match_service_pb2 as pb
from benchmarks.match.load import SERVICE, script_of
from benchmarks.match.scripts import ENDED, REQUEST, Record, Script, pieces_of
from bots_sdk.convert.varints import varint
from services.common.clock import Clock
from services.common.matches import DealScore, Ending, MatchOrder, MatchOutcome, SeatFaults
from services.common.metrics import MatchMetrics
from services.match.floor import Floor, Later
from services.match.service import MatchService, MatchServiceSettings
from services.match.sessions import Session
from services.match.table import Table

Pieces = tuple[bytes, ...]
Group = tuple[Pieces, tuple[int, ...], bool]
"""What some seats are told, these seats, and whether it must leave at once."""


class Step:
    """A stage for tables whose numbers take so many bytes."""

    __slots__ = ("groups", "last", "request")

    def __init__(self, request: int, last: int, groups: tuple[Group, ...]) -> None:
        self.request = request
        self.last = last
        self.groups = groups


class Play:
    """A script for tables whose numbers take so many bytes."""

    __slots__ = ("opening", "outcome", "script", "seated", "steps")

    def __init__(self, script: Script, width: int) -> None:
        nobody = SeatFaults()
        self.script = script
        self.seated = tuple(pieces_of((record,), width) for record in script.seated)
        self.opening = _groups(script.opening, width)
        self.steps = tuple(
            Step(stage.requests[0][1], stage.requests[-1][1], _groups(stage.told, width)) for stage in script.stages
        )
        score = DealScore(number=0, points=script.points, places=(), emperor=None, guard=None, solo=None)
        self.outcome = MatchOutcome(
            tournament="",
            number=0,
            attempt="",
            ending=Ending.COMPLETED,
            blamed=(),
            message="",
            deals=(score,),
            faults=(nobody, nobody, nobody, nobody, nobody),
            decisions=len(script.answers) - 1,
            started_at=datetime.fromtimestamp(0, UTC),
            ended_at=datetime.fromtimestamp(0, UTC),
        )


def _groups(told: Sequence[tuple[Record, ...]], width: int) -> tuple[Group, ...]:
    seats: dict[tuple[Record, ...], list[int]] = {}
    for seat, records in enumerate(told):
        if records:
            seats.setdefault(records, []).append(seat)
    return tuple(
        (pieces_of(records, width), tuple(same), any(record.field in (REQUEST, ENDED) for record in records))
        for records, same in seats.items()
    )


class NullSeat:
    """A seat, as the servicer's floor needs it: the table, and who sits there."""

    __slots__ = ("index", "table")

    def __init__(self, table: NullTable, index: int) -> None:
        self.table = table
        self.index = index


class NullTable:
    """A match that follows its script."""

    __slots__ = ("at", "floor", "left", "name", "number", "order", "play", "ready", "wires")

    def __init__(self, floor: NullFloor, number: int, order: MatchOrder, play: Play, wires: list[Session]) -> None:
        self.floor = floor
        self.number = number
        self.name = varint(number)
        self.order = order
        self.play = play
        self.wires = wires
        self.ready = 0
        self.at: Step | None = None
        self.left = iter(play.steps)

    def open(self) -> None:
        for wire, pieces in zip(self.wires, self.play.seated, strict=True):
            wire.push_now(self.name.join(pieces))

    def start(self) -> None:
        self.at = next(self.left)
        self.tell(self.play.opening)

    def decide(self, request: int) -> None:
        step = self.at
        if step is None:
            return
        if request != step.request if step.request == step.last else not self.seal(step, request):
            return
        following = next(self.left, None)
        if following is None:
            self.floor.finish(self)
        else:
            self.at = following
        name, wires = self.name, self.wires
        for pieces, seats, now in step.groups:
            told = name.join(pieces)
            if now:
                for index in seats:
                    wires[index].push_now(told)
            else:
                for index in seats:
                    wires[index].push(told)

    def seal(self, step: Step, request: int) -> bool:
        """One of several answers that are open together; True for the last of them. Nobody answers twice here."""
        if not step.request <= request <= step.last:
            return False
        self.ready += 1
        if self.ready <= step.last - step.request:
            return False
        self.ready = 0
        return True

    def detach(self, seat: NullSeat, now: float) -> None:
        """A stream has ended; nobody comes back in a benchmark."""

    def tell(self, groups: tuple[Group, ...]) -> None:
        for pieces, seats, _ in groups:
            told = self.name.join(pieces)
            for index in seats:
                self.wires[index].push_now(told)

    def attach(self, seat: NullSeat, wire: Session, _now: float) -> None:
        """A stream takes over from what was there before the bots came: its seat, and the request if there is one."""
        self.wires[seat.index] = wire
        again = pb.Resumed()
        again.seated.table = self.number
        again.seated.match_id = self.order.attempt
        if self.at is None:
            again.ready_expected = True
        else:
            for asked, request in self.play.script.stages[self.play.steps.index(self.at)].requests:
                if asked == seat.index:
                    again.request.table = self.number
                    again.request.request = request
        wire.push_now(pb.PlayResponse(records=[pb.ServerRecord(resumed=again)]).SerializeToString())


class NullFloor(Floor):
    """A floor whose tables follow their scripts; streams and sessions are the real floor's business."""

    def __init__(self, metrics: MatchMetrics, clock: Clock, later: Later, scripts: Sequence[Script]) -> None:
        super().__init__(SERVICE, clock, metrics, later)
        self._scripts = scripts
        self._plays: dict[tuple[int, int], Play] = {}
        self._numbers = itertools.count(1)
        self._live = 0

    # ---- for the servicer

    def observe(self, now: float) -> None:
        """There are no clocks."""

    def decide(self, session: Session, decision: pb.Decision, now: float) -> bool:
        seat = cast("NullSeat | None", session.seats.get(decision.table))
        if seat is not None:
            seat.table.decide(decision.request)
        return True

    def ready(self, session: Session, table: int, now: float) -> bool:
        seat = cast("NullSeat | None", session.seats.get(table))
        if seat is not None:
            seat.table.ready += 1
            if seat.table.ready == len(seat.table.wires):
                seat.table.ready = 0
                seat.table.start()
        return True

    # ---- for the service

    def submit(self, orders: list[MatchOrder], now: float) -> None:
        for order in orders:
            number = next(self._numbers)
            wires = [self.sessions[entrant.bot_id] for entrant in order.seats]
            table = NullTable(self, number, order, self._play(script_of(order.attempt), number), wires)
            for index, wire in enumerate(wires):
                cast("dict[int, NullSeat]", wire.seats)[number] = NullSeat(table, index)
            self._tables[number] = cast("Table", table)
            self._live += 1
            table.open()
        self._metrics.tables_live = self._live

    def finish(self, table: NullTable) -> None:
        """A match has come to its end."""
        order = table.order
        for wire in table.wires:
            del wire.seats[table.number]
        del self._tables[table.number]
        self._live -= 1
        self._metrics.tables_live = self._live
        outcome = replace(table.play.outcome, tournament=order.tournament, number=order.number, attempt=order.attempt)
        self.inboxes.put(outcome, SERVICE)

    @property
    def is_idle(self) -> bool:
        return not self._live

    def _play(self, script: int, number: int) -> Play:
        width = len(varint(number))
        found = self._plays.get((script, width))
        if found is None:
            found = self._plays[script, width] = Play(self._scripts[script], width)
        return found


class NullService(MatchService):
    """The match service with the null referee."""

    def __init__(
        self, settings: MatchServiceSettings, metrics: MatchMetrics, clock: Clock, scripts: Sequence[Script]
    ) -> None:
        super().__init__(settings, metrics, clock)
        self._floor = NullFloor(metrics, clock, self, scripts)
        self._floor.inboxes.on_put = self._wake_collector
