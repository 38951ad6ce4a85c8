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
from typing import Any, cast

from baohuang.match.v1 import match_service_pb2 as pb
from benchmarks.match.load import SERVICE, script_of
from benchmarks.match.scripts import ENDED, REQUEST, Record, Script, pieces_of
from bots_sdk.convert.varints import varint
from services.common.clock import Clock
from services.common.matches import DealScore, Ending, MatchOrder, MatchOutcome, SeatFaults
from services.common.metrics import MatchMetrics
from services.match.inbox import Inboxes
from services.match.service import MatchService, MatchServiceSettings
from services.match.sessions import Session

Pieces = tuple[bytes, ...]
Group = tuple[Pieces, tuple[int, ...], bool]
"""What some seats are told, these seats, and whether it must leave at once."""


class Step:
    """A stage for tables whose numbers take so many bytes."""

    __slots__ = ("charged", "groups", "last", "request")

    def __init__(self, request: int, last: int, charged: tuple[Pieces, ...], groups: tuple[Group, ...]) -> None:
        self.request = request
        self.last = last
        self.charged = charged
        self.groups = groups


class Play:
    """A script for tables whose numbers take so many bytes."""

    __slots__ = ("opening", "outcome", "script", "seated", "steps")

    def __init__(self, script: Script, width: int) -> None:
        nobody = SeatFaults()
        self.script = script
        self.seated = tuple(pieces_of((record,), width) for record in script.seated)
        self.opening = _groups(script.opening, width)
        self.steps = tuple(_step(stage.requests, stage.charged, stage.told, width) for stage in script.stages)
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


def _step(
    requests: Sequence[tuple[int, int]],
    charged: Sequence[Record],
    told: Sequence[tuple[Record, ...]],
    width: int,
) -> Step:
    first, last = requests[0][1], requests[-1][1]
    if len(requests) > 1:
        return Step(first, last, tuple(pieces_of((record,), width) for record in charged), _groups(told, width))
    seat = requests[0][0]
    with_charge = [(charged[0], *records) if index == seat else records for index, records in enumerate(told)]
    return Step(first, last, (), _groups(with_charge, width))


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

    def decide(self, seat: int, request: int) -> None:
        step = self.at
        if step is None:
            return
        if request != step.request if not step.charged else not self.seal(step, seat, request):
            return
        following = next(self.left, None)
        if following is None:
            self.floor.ended(self)
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

    def seal(self, step: Step, seat: int, request: int) -> bool:
        """One of several answers that are open together; True for the last of them. Nobody answers twice here."""
        if not step.request <= request <= step.last:
            return False
        self.wires[seat].push(self.name.join(step.charged[request - step.request]))
        self.ready += 1
        if self.ready < len(step.charged):
            return False
        self.ready = 0
        return True

    def tell(self, groups: tuple[Group, ...]) -> None:
        for pieces, seats, _ in groups:
            told = self.name.join(pieces)
            for index in seats:
                self.wires[index].push_now(told)

    def attach(self, seat: int, wire: Session) -> None:
        """A stream takes over from what was there before the bots came: its seat, and the request if there is one."""
        self.wires[seat] = wire
        again = pb.Resumed()
        again.seated.table = self.number
        again.seated.match_id = self.order.attempt
        if self.at is None:
            again.ready_expected = True
        else:
            for asked, request in self.play.script.stages[self.play.steps.index(self.at)].requests:
                if asked == seat:
                    again.request.table = self.number
                    again.request.request = request
        wire.push_now(pb.PlayResponse(records=[pb.ServerRecord(resumed=again)]).SerializeToString())


class NullFloor:
    """What the servicer and the service around it ask of a floor."""

    def __init__(self, metrics: MatchMetrics, scripts: Sequence[Script]) -> None:
        self.inboxes = Inboxes()
        self.sessions: dict[str, Session] = {}
        self.lag = 0.0
        self.later: Any = None
        self._metrics = metrics
        self._scripts = scripts
        self._plays: dict[tuple[int, int], Play] = {}
        self._seats: dict[str, dict[int, NullSeat]] = {}
        self._numbers = itertools.count(1)
        self._tables = 0

    # ---- for the servicer

    def seats_of(self, bot_id: str) -> dict[int, Any]:
        return self._seats.setdefault(bot_id, {})

    def enter(self, session: Session, now: float) -> None:
        self.sessions[session.terms.bot_id] = session
        self._metrics.sessions_live = len(self.sessions)
        for seat in cast("dict[int, NullSeat]", session.seats).values():
            seat.table.attach(seat.index, session)
        if self.later is not None:
            self.later.entered()

    def leave(self, session: Session, now: float) -> None:
        """Nobody leaves before the end."""

    def observe(self, now: float) -> None:
        """There are no clocks."""

    def decide(self, session: Session, decision: pb.Decision, now: float) -> None:
        seat = cast("NullSeat | None", session.seats.get(decision.table))
        if seat is not None:
            seat.table.decide(seat.index, decision.request)

    def ready(self, session: Session, table: int, now: float) -> None:
        seat = cast("NullSeat | None", session.seats.get(table))
        if seat is not None:
            seat.table.ready += 1
            if seat.table.ready == len(seat.table.wires):
                seat.table.ready = 0
                seat.table.start()

    # ---- for the service

    def submit(self, orders: list[MatchOrder], now: float) -> None:
        for order in orders:
            number = next(self._numbers)
            wires = [self.sessions[entrant.bot_id] for entrant in order.seats]
            table = NullTable(self, number, order, self._play(script_of(order.attempt), number), wires)
            for index, wire in enumerate(wires):
                cast("dict[int, NullSeat]", wire.seats)[number] = NullSeat(table, index)
            self._tables += 1
            table.open()
        self._metrics.tables_live = self._tables

    def ended(self, table: NullTable) -> None:
        order = table.order
        for wire in table.wires:
            del wire.seats[table.number]
        self._tables -= 1
        self._metrics.tables_live = self._tables
        outcome = replace(table.play.outcome, tournament=order.tournament, number=order.number, attempt=order.attempt)
        self.inboxes.put(outcome, SERVICE)

    @property
    def is_idle(self) -> bool:
        return not self._tables

    def sweep(self, now: float, interval: float) -> None:
        """Nothing is ever overdue."""

    def tidy(self, now: float, silence: float) -> None:
        """Everybody behaves."""

    def _play(self, script: int, number: int) -> Play:
        width = len(varint(number))
        found = self._plays.get((script, width))
        if found is None:
            found = self._plays[script, width] = Play(self._scripts[script], width)
        return found

    def prepare(self, widths: Sequence[int]) -> None:
        """Makes all scripts ready beforehand for tables whose numbers take so many bytes."""
        for script, width in itertools.product(range(len(self._scripts)), widths):
            self._plays[script, width] = Play(self._scripts[script], width)


class NullService(MatchService):
    """The match service with the null referee."""

    def __init__(
        self, settings: MatchServiceSettings, metrics: MatchMetrics, clock: Clock, scripts: Sequence[Script]
    ) -> None:
        super().__init__(settings, metrics, clock)
        floor = NullFloor(metrics, scripts)
        floor.inboxes.on_put = self._wake_collector
        floor.later = self
        self._floor = cast(Any, floor)
