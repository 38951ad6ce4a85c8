"""Laws of what waits to be sent: since when each clock runs, over messages that are split and streams that are lost."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from bots_sdk.rules.phases import Phase
from services.common.matches import ClockRules, Entrant
from services.match import sessions
from services.match.clocks import WRITE_PATIENCE
from services.match.seat import Seat
from services.match.sessions import Session, SessionTerms

BYTES = 40
SEATS = 6
RULES = ClockRules(limit=timedelta(seconds=5), grace=timedelta(0))


@dataclass
class Open:
    """A request as the law sees it: when it was asked, its bytes, and when time must have begun to run."""

    asked: float
    record: bytes
    start: float = field(init=False)
    is_settled: bool = False

    def __post_init__(self) -> None:
        self.start = self.asked + WRITE_PATIENCE

    def begin(self, now: float) -> None:
        """It is on the wire, or the wire is broken."""
        if not self.is_settled:
            self.is_settled = True
            self.start = min(self.start, now)


class Departures(RuleBasedStateMachine):
    """One bot with some seats; no lag, so every second counts."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.number = 0
        self.seats = {index: Seat(index, Entrant(f"b-{index}", "b"), RULES) for index in range(SEATS)}
        self.open: dict[int, Open] = {}
        self.woken = self.waits = False
        self.session: Session | None = None
        self.come()

    def record(self, size: int) -> bytes:
        self.number += 1
        return f"<{self.number}>".encode().ljust(size, b".")

    # ---- what happens

    @rule(seconds=st.sampled_from([0.0, 0.125, 0.5, 1.0, 1.5]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @precondition(lambda self: self.session is not None)
    @rule(size=st.integers(6, 30))
    def something_happens(self, size: int) -> None:
        assert self.session is not None
        self.session.push(self.record(size))

    @rule(index=st.integers(0, SEATS - 1), size=st.integers(6, 60))
    def ask(self, index: int, size: int) -> None:
        if index in self.open:
            return
        self.open[index] = one = Open(self.now, self.record(size))
        seat = self.seats[index]
        seat.clock.ask(self.now, 0.0, Phase.PLAY)
        if self.session is None:
            seat.clock.unreachable(self.now)
        if self.session is None:
            one.begin(self.now)
        else:
            self.session.push_request(one.record, seat)

    @rule(index=st.integers(0, SEATS - 1))
    def decide(self, index: int) -> None:
        if index in self.open:
            elapsed = self.seats[index].clock.stop(self.now, 0.0).elapsed
            assert elapsed == max(0.0, self.now - self.open.pop(index).start)

    @precondition(lambda self: self.session is not None and (self.woken or self.session.can_send))
    @rule()
    def write(self) -> None:
        assert self.session is not None
        self.woken = False
        message = self.session.take(self.now, 0.0)
        for one in self.open.values():
            if message is not None and one.record in message:
                one.begin(self.now)

    @precondition(lambda self: self.session is not None)
    @rule(of=st.floats(0, 1))
    def confirm(self, of: float) -> None:
        assert self.session is not None
        self.session.heard(self.now, round(self.session.sent * of))

    @precondition(lambda self: self.waits and self.session is not None)
    @rule()
    def hurry(self) -> None:
        assert self.session is not None
        self.waits = False
        if self.session.can_send:
            self.session.hurry()

    @precondition(lambda self: self.session is not None)
    @rule()
    def go(self) -> None:
        self.session, self.woken, self.waits = None, False, False
        for index, one in self.open.items():
            self.seats[index].clock.unreachable(self.now)
            one.begin(self.now)

    @rule()
    def come(self) -> None:
        """A stream, perhaps in the place of another, which is not told of anything any more."""

        def wake() -> None:
            self.woken = True

        def wait(session: Session) -> None:
            self.waits = True

        terms = SessionTerms("b", "b", SEATS, list_legal=False, window=2)
        self.woken = self.waits = False
        self.session = Session(terms, self.seats, self.now, wake, wait)
        for index, one in self.open.items():
            one.record = self.record(12)
            self.session.push_request(one.record, self.seats[index])

    # ---- what holds

    @invariant()
    def every_clock_is_right(self) -> None:
        for index, one in self.open.items():
            assert self.seats[index].clock.due(0.0) == one.start + 5.0

    @invariant()
    def what_can_be_sent_is_sent_by_somebody(self) -> None:
        if self.session is not None and self.session.can_send:
            assert self.woken or self.waits, "it would wait for ever"

    @invariant()
    def a_request_never_waits_with_credit(self) -> None:
        if self.session is not None and self.session.can_send and any(not one.is_settled for one in self.open.values()):
            assert self.woken, "the writer sleeps"


def test_clocks_run_from_the_message_with_the_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "MESSAGE_BYTES", BYTES)
    run_state_machine_as_test(Departures, settings=settings(max_examples=200, stateful_step_count=40, deadline=None))
