"""One seat at one table: who sits there, the wire to it, its clock, its open request, what it did wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from bots_sdk.bot import Bot
from services.common.matches import ClockRules, Entrant, SeatFaults
from services.match.clocks import SeatClock


class Wire(Protocol):
    """The way to a remote bot, as a table sees it."""

    list_legal: bool

    @property
    def push(self) -> Callable[[bytes], None]:
        """Sends a record that may wait a few milliseconds for company."""

    def push_now(self, record: bytes) -> None:
        """Sends a record without delay."""

    def push_request(self, record: bytes, seat: Seat) -> None:
        """Sends a request without delay; the seat's clock is told when it is written."""


class Seat:
    """The mutable state of one seat; the table owns it, and it knows nothing of the table: a table that is over is gone
    at once, without waiting for the collector of circles.

    `request` is the number of the open request, 0 when none is open. `house` is set where the platform plays: from the
    start for a house bot, later when one takes over. `watched` says that a deadline of the seat is being watched.
    `late` counts answers that came too late; a client that is slow sends one for each timeout, and no more.
    `owed` are records that leave with the next events: what an answer of a sealed phase was charged must not travel
    alone, or others could see by what they are sent themselves that it came. It is empty outside of sealed phases.
    `deal_faults` and `spoils` are of the current deal: what the seat did wrong, and that the platform decided for it.
    """

    __slots__ = (
        "clock",
        "deal_faults",
        "disconnects",
        "entrant",
        "house",
        "illegal_answers",
        "illegal_now",
        "index",
        "late",
        "owed",
        "ready",
        "request",
        "spoils",
        "taken_over",
        "timeouts",
        "timeouts_in_a_row",
        "watched",
        "wire",
    )

    def __init__(self, index: int, entrant: Entrant, rules: ClockRules) -> None:
        self.index = index
        self.entrant = entrant
        self.wire: Wire | None = None
        self.house: Bot | None = None
        self.clock = SeatClock(rules)
        self.ready = False
        self.request = 0
        self.watched = False
        self.illegal_now = 0
        self.illegal_answers = 0
        self.timeouts = 0
        self.timeouts_in_a_row = 0
        self.late = 0
        self.disconnects = 0
        self.taken_over = False
        self.owed = b""
        self.deal_faults = 0
        self.spoils = False

    def excuse_late(self) -> bool:
        """An answer came too late; True if it is one for a request that timed out."""
        self.late += 1
        return self.late <= self.timeouts

    @property
    def faults(self) -> SeatFaults:
        """What the seat did wrong so far."""
        return SeatFaults(self.timeouts, self.illegal_answers, self.disconnects, self.taken_over)
