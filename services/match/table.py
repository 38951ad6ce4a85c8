"""A table: one match between five seats as a state machine. No sockets, no coroutines; time comes in as an argument.

What the table does by itself follows from four calls: a bot is ready, a bot decides, a decision is overdue, a house bot
has its turn. Everything it wants of its surroundings is in `Host`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from math import trunc
from typing import Protocol

from baohuang.match.v1 import match_service_pb2 as pb
from bots_sdk.bot import Bot
from bots_sdk.convert import decision_from_proto
from bots_sdk.errors import Malformed
from bots_sdk.replay import Cause, RecordBuilder, compress_record
from bots_sdk.rules.answers import Answer
from bots_sdk.rules.errors import IllegalAnswer, Refusal
from bots_sdk.rules.events import Event
from bots_sdk.rules.match import Match
from bots_sdk.rules.phases import Phase
from bots_sdk.rules.shuffle import decks_of
from services.common.matches import HOUSE_PREFIX, DealScore, Ending, IllegalPolicy, MatchOrder, MatchOutcome
from services.match import records
from services.match.clocks import UNTIMED, Charge, Lag
from services.match.log import EventLog
from services.match.seat import Seat, Wire
from services.match.wire import TurnEncoder, encode_record

_ANSWERED = Cause.ANSWERED

TAKEOVER_BOT = "greedy"
"""The house bot that plays on in a seat that has timed out too often."""


class TableObserver(Protocol):
    """What is counted at a table; aggregates only."""

    timeouts: int
    illegal_answers: int
    late_answers: int
    events_sent: int

    def decided(self, kind: int, seconds: float) -> None:
        """One decision of a remote bot, by phase."""


class Host(Protocol):
    """What a table needs of the floor it stands on."""

    @property
    def lag(self) -> Lag:
        """What the service itself was late."""

    @property
    def observer(self) -> TableObserver:
        """Counts."""

    def wall(self) -> datetime:
        """The time of day, with a time zone."""

    def watch(self, table: Table, seat: Seat, due: float) -> None:
        """Calls `Table.overdue` at `due` or a little later."""

    def call_house(self, table: Table) -> None:
        """Calls `Table.play_house` soon."""

    def ended(self, table: Table, outcome: MatchOutcome) -> None:
        """The match is over; the table is not called again."""


class Table:
    """One match. `number` names it on this match service; `now` is always monotonic seconds."""

    # A thousand tables do not fit into the cache: what lies together is found together.
    __slots__ = (
        "__weakref__",
        "_encoder",
        "_host",
        "_house",
        "_house_turns",
        "_lag",
        "_log",
        "_match",
        "_observer",
        "_over",
        "_owing",
        "_playing",
        "_record",
        "_requests",
        "_scores",
        "_started_at",
        "_voided",
        "_wires",
        "number",
        "order",
        "seats",
    )

    def __init__(self, number: int, order: MatchOrder, host: Host, house: Callable[[str, str], Bot]) -> None:
        self.number = number
        self.order = order
        self.seats = tuple(Seat(index, entrant, order.clock) for index, entrant in enumerate(order.seats))
        self._host = host
        self._lag = host.lag
        self._observer = host.observer
        self._house = house
        self._started_at = host.wall()
        self._match = Match(order.options, order.deals, decks_of(order.options, order.secret, order.suits))
        self._playing = False
        self._over = False
        self._requests = 0
        self._scores: list[DealScore] = []
        self._voided = 0
        self._log = EventLog(number)
        self._encoder = TurnEncoder(number)
        self._wires: tuple[Wire, ...] = ()
        self._owing = False
        self._record = RecordBuilder(records.record_head(order))
        self._house_turns: deque[Seat] = deque()
        for seat in self.seats:
            if seat.entrant.is_house:
                self._seat_house(seat, seat.entrant.bot_id.removeprefix(HOUSE_PREFIX))

    # ---- before play

    def open(self, wires: dict[int, Wire], now: float) -> None:
        """Tells the remote bots of their seats and waits for them to be ready."""
        seated = records.seated_of(self.order, self.number, 0)
        for index, wire in wires.items():
            self.seats[index].wire = wire
            seated.seat = index
            wire.push_now(encode_record(seated))
        self._count_wires()
        self._start_if_ready(now)

    def ready(self, seat: Seat, now: float) -> bool:
        """A bot is ready; the last one starts the match. False if the bot had said so before."""
        if seat.ready:
            return False
        seat.ready = True
        if not self._playing:
            self._start_if_ready(now)
        return True

    @property
    def unready(self) -> tuple[Seat, ...]:
        """The seats the match is waiting for; empty once it is played."""
        return () if self._playing else tuple(seat for seat in self.seats if not seat.ready)

    def _start_if_ready(self, now: float) -> None:
        if self.unready:
            return
        self._playing = True
        self._begin_deal(self._match.start(), now)

    # ---- the four calls

    def decide(self, seat: Seat, decision: pb.Decision, now: float) -> bool:
        """A bot's answer has been read. Answers to anything but the open request are dropped and counted.

        False if it was sent in vain: it is illegal, or the bot could know that nobody asks for it.
        """
        # A seat that was taken over is asked too, but its house bot is: its number may be guessed, not answered.
        request = seat.request
        if decision.request != request or not request or seat.house is not None:
            self._observer.late_answers += 1
            return seat.excuse_late()
        clock = seat.clock
        elapsed = clock.elapsed(now, self._lag.total)
        if elapsed > clock.allowed:
            self._time_out(seat, now)
            return seat.excuse_late()
        index = seat.index
        match = self._match
        deal = match.deal
        phase = deal.public.phase
        try:
            answer = decision_from_proto(decision, deal.legal, index)
            events = match.answer(index, answer)
        except IllegalAnswer as refused:
            self._refuse(seat, refused, now)
            return False
        except Malformed as wrong:
            self._refuse(seat, IllegalAnswer(Refusal.MALFORMED, str(wrong)), now)
            return False
        # `trunc` costs a third of what `int` costs.
        elapsed_us = trunc(elapsed * 1e6)
        charged_us = trunc(clock.settle(elapsed) * 1e6)
        self._observer.decided(phase, elapsed)
        self._record.answered(index, phase, answer, _ANSWERED, charged_us, elapsed_us, seat.illegal_now)
        wire = seat.wire
        if wire is not None:
            record = self._encoder.charged(request, elapsed_us, charged_us, clock.bank_ms)
            if events:
                push = wire.push  # fetched first, as in `_go_on`
                push(record)
            else:
                self._owe(seat, record)
        seat.request = seat.illegal_now = seat.timeouts_in_a_row = 0
        if events:
            self._go_on(events, now)
        return True

    def overdue(self, seat: Seat, now: float) -> float | None:
        """A watched deadline has come: the time to look again, or None if nothing is open or it has been dealt with."""
        if not seat.request or seat.house is not None or self._over:
            return None
        due = seat.clock.due(self._lag.total)
        if due is None or due > now:
            return due
        self._time_out(seat, now)
        return None

    def play_house(self, now: float) -> bool:
        """Plays one decision of a house bot; True if there are more."""
        if self._house_turns and not self._over:
            seat = self._house_turns.popleft()
            if seat.house is None:
                raise RuntimeError(f"seat {seat.index} has no house bot")
            view = self._match.deal.view(seat.index)
            seat.request = 0
            cause = Cause.ANSWERED
            if seat.taken_over:
                cause = Cause.TAKEN_OVER
                seat.spoils = True
            self._apply(seat, seat.house.answer(view), cause, now)
        return bool(self._house_turns) and not self._over

    # ---- the wire

    def attach(self, seat: Seat, wire: Wire, now: float) -> None:
        """The bot has a (new) wire: it is told where the seat stands."""
        seat.wire = wire
        self._count_wires()
        seat.owed = b""
        resumed = records.resumed(self.order, self.number, seat, self._match.points)
        request = None
        if seat.request and seat.house is None:
            lag = self._lag.total
            left = seat.clock.left(now, lag), seat.clock.bank_left(now, lag)
            request = records.request_of(self._asking(seat), *left)
            resumed.request.CopyFrom(request)
        record = self._log.resumed(resumed, seat.index)
        if request is None:
            wire.push_now(record)
        else:
            wire.push_request(record, seat)
        if seat.taken_over:
            wire.push_now(records.taken_over(self.number))

    def detach(self, seat: Seat, now: float) -> None:
        """The wire is broken; the clock goes on."""
        seat.wire = None
        seat.owed = b""
        self._count_wires()
        seat.disconnects += 1
        if seat.request:
            seat.clock.unreachable(now)

    def end_early(self, ending: Ending, blamed: tuple[int, ...], message: str) -> None:
        """Ends an attempt that does not count."""
        if not self._over:
            self._finish(ending, blamed, message)

    # ---- inside

    def _seat_house(self, seat: Seat, name: str) -> None:
        seat.house = self._house(name, f"{self.order.tournament}/{self.order.number}/{seat.index}")
        seat.ready = True

    def _refuse(self, seat: Seat, refused: IllegalAnswer, now: float) -> None:
        rules = self.order.faults
        seat.illegal_answers += 1
        seat.deal_faults += 1
        seat.illegal_now += 1
        self._observer.illegal_answers += 1
        retry = rules.illegal is IllegalPolicy.RETRY and seat.illegal_now < rules.illegal_limit
        if seat.wire is not None:
            seat.wire.push_now(records.rejected(self.number, seat, refused, retry=retry))
        if not retry:
            seat.spoils = True
            charge = seat.clock.stop(now, self._lag.total)
            times = seat.illegal_now
            self._close(seat, charge)
            default = self._match.deal.default(seat.index)
            self._apply(seat, default, Cause.ILLEGAL, now, charge, times)

    def _time_out(self, seat: Seat, now: float) -> None:
        charge = seat.clock.stop(now, self._lag.total, overdue=True)
        seat.spoils = True
        seat.deal_faults += 1
        seat.timeouts += 1
        seat.timeouts_in_a_row += 1
        self._observer.timeouts += 1
        refused = seat.illegal_now
        self._close(seat, charge, timed_out=True)
        if 0 < self.order.faults.takeover_after <= seat.timeouts_in_a_row:
            seat.taken_over = True
            seat.deal_faults += 1
            self._seat_house(seat, TAKEOVER_BOT)
            if seat.wire is not None:
                self._owe(seat, records.taken_over(self.number))
        default = self._match.deal.default(seat.index)
        self._apply(seat, default, Cause.TIMED_OUT, now, charge, refused)

    def _close(self, seat: Seat, charge: Charge, *, timed_out: bool = False) -> None:
        if seat.wire is not None:
            bank_ms = seat.clock.bank_ms
            record = self._encoder.charged(seat.request, charge.elapsed_us, charge.charged_us, bank_ms, timed_out)
            self._owe(seat, record)
        seat.request = 0
        seat.illegal_now = 0

    def _apply(
        self, seat: Seat, answer: Answer, cause: Cause, now: float, charge: Charge = UNTIMED, refused: int = 0
    ) -> None:
        phase = self._match.deal.public.phase
        events = self._match.answer(seat.index, answer)
        self._record.answered(seat.index, phase, answer, cause, charge.charged_us, charge.elapsed_us, refused)
        if events:
            self._go_on(events, now)

    def _owe(self, seat: Seat, record: bytes) -> None:
        seat.owed += record
        self._owing = True

    def _pay(self) -> None:
        self._owing = False
        for seat in self.seats:
            if seat.owed and seat.wire is not None:
                seat.wire.push(seat.owed)
            seat.owed = b""

    def _count_wires(self) -> None:
        self._wires = tuple([seat.wire for seat in self.seats if seat.wire is not None])

    def _begin_deal(self, events: list[Event], now: float) -> None:
        public = self._match.deal.public
        told = self._log.begin(events, self._match.deal.hand)
        self._observer.events_sent += len(events) * len(self._wires)
        for seat, record in zip(self.seats, told, strict=True):
            if seat.wire is not None:
                seat.wire.push(record)
        for index in public.asked:
            self._ask(self.seats[index], public.phase, now)

    def _go_on(self, events: list[Event], now: float) -> None:
        """Tells every seat what has happened, and asks who is to answer now; or goes on to the next deal, or ends."""
        if self._owing:
            self._pay()
        told = self._log.add(events)
        wires = self._wires
        self._observer.events_sent += len(events) * len(wires)
        for wire in wires:
            # What is called lies in a slot: called as a method it would be looked for in the class each time.
            push = wire.push
            push(told)
        deal = self._match.deal
        public = deal.public
        seats, phase = self.seats, public.phase
        for index in public.asked:
            self._ask(seats[index], phase, now)
        if deal.result is not None:
            self._end_deal(now)

    def _ask(self, seat: Seat, phase: Phase, now: float) -> None:
        """Asks a seat, once it has been told what has happened before."""
        self._requests = seat.request = request = self._requests + 1
        if seat.house is not None:
            self._house_turns.append(seat)
            self._host.call_house(self)
            return
        wire = seat.wire
        clock = seat.clock
        clock.ask(now, self._lag.total, phase)
        if wire is None:
            clock.unreachable(now)
        else:
            if wire.list_legal:
                record = records.request(self._asking(seat))
            else:
                record = self._encoder.request(request, phase, clock.limit_ms, clock.bank_ms, self._log.number)
            wire.push_request(record, seat)
        if not seat.watched:
            due = clock.soonest(now)
            if due is not None:
                self._host.watch(self, seat, due)

    def _asking(self, seat: Seat) -> records.Asking:
        deal = self._match.deal
        listed = seat.wire is not None and seat.wire.list_legal
        legal = deal.legal(seat.index) if listed else None
        return records.Asking(self.number, seat, deal.public.phase, self._log.number, legal)

    def _end_deal(self, now: float) -> None:
        self._score()
        if self._match.over:
            self._complete()
        else:
            self._begin_deal(self._match.next_deal(), now)

    def _score(self) -> None:
        self._record.end_deal(self._match.deal)
        if len(self._match.results) == len(self._scores):
            self._voided += 1
            return
        result = self._match.results[-1]
        self._scores.append(records.deal_score(self.order, len(self._scores), result, self._voided, self.seats))
        self._voided = 0
        for seat in self.seats:
            seat.deal_faults = 0
            seat.spoils = False

    def _complete(self) -> None:
        blamed = tuple(seat.index for seat in self.seats if seat.faults.total)
        ending = Ending.COMPLETED_WITH_FAULTS if blamed else Ending.COMPLETED
        self._finish(ending, blamed, records.describe_faults(self.seats))

    def _finish(self, ending: Ending, blamed: tuple[int, ...], message: str) -> None:
        outcome = MatchOutcome(
            tournament=self.order.tournament,
            number=self.order.number,
            attempt=self.order.attempt,
            ending=ending,
            blamed=blamed,
            message=message,
            deals=tuple(self._scores),
            faults=(
                self.seats[0].faults,
                self.seats[1].faults,
                self.seats[2].faults,
                self.seats[3].faults,
                self.seats[4].faults,
            ),
            decisions=self._requests - sum(seat.request > 0 for seat in self.seats),
            started_at=self._started_at,
            ended_at=self._host.wall(),
        )
        record = compress_record(self._record.finish(records.record_end(outcome))) if ending.counts else b""
        ended = records.match_ended(self.number, self.order, outcome, self._match.points)
        # From here on nothing fails: what failed before has told nobody, and the match can still be given up.
        self._over = True
        for seat in self.seats:
            seat.request = 0
            if seat.wire is not None:
                seat.wire.push_now(seat.owed + ended)
        self._host.ended(self, replace(outcome, record=record))
