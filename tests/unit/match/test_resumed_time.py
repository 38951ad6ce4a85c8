"""What a bot that comes back is told of its time: what is truly left, and never that there is no clock."""

from __future__ import annotations

from datetime import timedelta

import pytest

from services.common.matches import ClockRules, FaultRules
from tests.unit.match.fakes import FakeWire, Play

CLOCK = ClockRules(limit=timedelta(seconds=2), bank=timedelta(seconds=60), grace=timedelta(milliseconds=200))


def told_after(seconds: float, clock: ClockRules = CLOCK) -> tuple[int, int]:
    """Limit and bank, in milliseconds, that a bot is told which comes back so long after it was asked."""
    play = Play(clock=clock, faults=FaultRules()).open()
    play.table.detach(play.table.seats[0], play.host.now)
    play.host.advance(seconds)
    back = FakeWire(play.host, play.order.options)
    play.table.attach(play.table.seats[0], back, play.host.now)
    request = back.last("resumed").resumed.request
    assert request.request
    return request.limit_ms, request.bank_ms


def test_of_the_bank_what_is_left_after_the_limit_is_used_up() -> None:
    limit_ms, bank_ms = told_after(32.0)
    assert bank_ms == pytest.approx(30_000, abs=2)
    # 0 would say that there is no clock (`Request.limit_ms`)
    assert limit_ms == 1


def test_of_the_bank_everything_before_that() -> None:
    limit_ms, bank_ms = told_after(1.5)
    assert limit_ms == pytest.approx(500, abs=2)
    assert bank_ms == 60_000


def test_what_was_told_is_what_the_clock_then_bears() -> None:
    """With what it is told it is in time, and by no more than the grace later it is not."""
    for over in (False, True):
        play = Play(clock=CLOCK, faults=FaultRules()).open()
        play.host.advance(32.0)
        play.table.detach(play.table.seats[0], play.host.now)
        back = play.wires[0] = FakeWire(play.host, play.order.options)
        play.table.attach(play.table.seats[0], back, play.host.now)
        request = back.last("resumed").resumed.request
        play.host.advance((request.limit_ms + request.bank_ms) / 1000 + (0.25 if over else -0.01))
        assert (play.host.observer.timeouts > 0) == over


def test_without_a_clock_there_is_none() -> None:
    assert told_after(1000.0, ClockRules(limit=None)) == (0, 0)
