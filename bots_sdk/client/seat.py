"""A bot's seat in one match, as its client keeps it: the bot, its view, the open request."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta

from baohuang.match.v1 import match_service_pb2 as pb
from bots_sdk.bot import AnyBot, Seating
from bots_sdk.convert import event_from_proto, options_from_proto
from bots_sdk.convert.fields import five_from_wire, seat_from_wire
from bots_sdk.errors import Malformed, ProtocolBroken
from bots_sdk.rules.cards import SEATS
from bots_sdk.rules.events import Event
from bots_sdk.rules.phases import SEALED_PHASES, Phase
from bots_sdk.rules.view import View

LEAST_MARGIN_S = 0.02
"""An answer by default is sent at least so long before the time is up."""


@dataclass(frozen=True, slots=True)
class TimeLeft:
    """The time for one decision in seconds: its limit, and the bank; None: the clock is off."""

    limit: float | None
    bank: float


class EventGap(ProtocolBroken):
    """An event is missing, or does not fit what was known: the seat has to be told everything anew."""


class TableSeat:
    """One seat. `request` is the open request that has not been answered, 0 if there is none.

    `view` is folded in the event loop. `sees` says that the bot wants to be told of every event. What else belongs to a
    way of thinking (`thinking.py`, `threads.py`) is in `mind`.
    """

    __slots__ = (
        "bot",
        "deadline",
        "is_ready",
        "is_taken_over",
        "last_event",
        "last_request",
        "margin",
        "mind",
        "request",
        "retried",
        "seating",
        "sees",
        "table",
        "time",
        "view",
    )

    def __init__(self, seated: pb.Seated) -> None:
        self.table = seated.table
        self.seating = seating_from_proto(seated)
        self.margin = max(LEAST_MARGIN_S, seated.clock.suggested_margin_ms / 1000)
        self.view = View(self.seating.options, self.seating.seat)
        self.bot: AnyBot | None = None
        self.mind: object = None
        self.sees = True
        self.last_event = 0
        self.request = 0
        self.last_request = 0
        self.retried = False
        self.is_ready = False
        self.is_taken_over = False
        self.time = TimeLeft(None, 0.0)
        self.deadline: asyncio.TimerHandle | None = None

    def fold(self, number: int, event: Event) -> bool:
        """Take an event in; False if it was known already.

        Raises:
            EventGap: one is missing, or it does not fit.
        """
        if number != self.last_event + 1:
            if number <= self.last_event:
                return False
            raise EventGap(f"table {self.table}: event {number} came after event {self.last_event}")
        try:
            self.view.apply(event)
        except Exception as error:
            raise EventGap(f"table {self.table}: event {number} does not fit what was known before") from error
        self.last_event = number
        return True

    def restart(self, resumed: pb.Resumed) -> list[Event]:
        """Begin the deal anew from a snapshot.

        Returns:
            The events in it that had not been seen.

        Raises:
            EventGap: the snapshot does not fit together.
        """
        known = self.last_event
        self.view = View(self.seating.options, self.seating.seat)
        new: list[Event] = []
        if resumed.events:
            self.last_event = resumed.events[0].number - 1
        for message in resumed.events:
            event = event_from_proto(message)
            if self.fold(message.number, event) and message.number > known:
                new.append(event)
        self.request = 0
        self.retried = False
        if not resumed.HasField("request") and self.view.phase in SEALED_PHASES:
            self.view.note_answered()
        return new

    def open(self, request: pb.Request) -> None:
        """Note a request.

        Raises:
            EventGap: it rests on events that have not come, or the seat is not asked as far as it knows.
        """
        if request.event > self.last_event:
            raise EventGap(f"table {self.table}: asked about event {request.event}, the last one was {self.last_event}")
        if request.request == self.last_request:
            # Asked again after coming back: whatever was answered has not arrived.
            self.view.answered = False
        if not self.view.asked:
            raise EventGap(f"table {self.table}: asked although it is not this seat's turn")
        self.request = self.last_request = request.request
        self.retried = False
        limit = request.limit_ms / 1000 if self.seating.limit is not None else None
        self.time = TimeLeft(limit, request.bank_ms / 1000)

    @property
    def seconds_to_default(self) -> float | None:
        """How long to wait for the bot before the default is sent for it; None: for ever."""
        if self.time.limit is None:
            return None
        whole = self.time.limit + self.time.bank
        return max(whole - self.margin, whole / 2)

    def close(self) -> None:
        """Nothing is open any more."""
        self.request = 0
        self.cancel_deadline()

    def cancel_deadline(self) -> None:
        """Stop the timer of the open request."""
        if self.deadline is not None:
            self.deadline.cancel()
            self.deadline = None


def seating_from_proto(seated: pb.Seated) -> Seating:
    """What a bot is told of its seat.

    Raises:
        Malformed: a seat, an option or a number of names that cannot be.
    """
    if len(seated.names) != SEATS:
        raise Malformed("seated.names", f"five names, one for each seat, and not {len(seated.names)}")
    clock = seated.clock
    return Seating(
        match_id=seated.match_id,
        seat=seat_from_wire(seated.seat, "seated.seat"),
        options=options_from_proto(seated.options),
        deals=seated.deals,
        names=tuple(seated.names),
        limit=timedelta(milliseconds=clock.limit_ms) if clock.limit_ms else None,
        bank=timedelta(milliseconds=clock.bank_ms),
        increment=timedelta(milliseconds=clock.increment_ms),
        limits=_limits_from_proto(clock),
    )


_PHASES = {phase.value: phase for phase in Phase if phase <= Phase.PLAY}


def _limits_from_proto(clock: pb.Clock) -> tuple[tuple[Phase, timedelta], ...]:
    """What is not known is left out: a newer server may have kinds that this client is never asked."""
    told = ((_PHASES.get(one.phase), timedelta(milliseconds=one.limit_ms)) for one in clock.limits)
    return tuple((phase, limit) for phase, limit in told if phase is not None)


def points_from_proto(ended: pb.MatchEnded) -> tuple[int, ...]:
    """The points of a match by seat; empty where none are told.

    Raises:
        Malformed: not five of them.
    """
    return five_from_wire(ended.points, "match_ended.points") if ended.points else ()
