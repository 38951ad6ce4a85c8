"""The clocks: one that runs, one that stands until it is moved."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from services.common.clock import Clock, ManualClock, SystemClock


def test_the_system_clock_runs_and_knows_its_zone() -> None:
    clock: Clock = SystemClock()
    before = clock.monotonic()
    assert abs(clock.now() - datetime.now(UTC)) < timedelta(minutes=1)
    assert clock.now().utcoffset() == timedelta(0)
    assert clock.monotonic() >= before


def test_a_manual_clock_moves_both_of_its_times_together() -> None:
    start = datetime(2026, 5, 1, tzinfo=UTC)
    clock: ManualClock = ManualClock(start)
    assert (clock.monotonic(), clock.now()) == (0.0, start)
    clock.advance(2.5)
    clock.advance(0)
    assert (clock.monotonic(), clock.now()) == (2.5, start + timedelta(seconds=2.5))


def test_a_manual_clock_does_not_go_back() -> None:
    with pytest.raises(ValueError, match="cannot go back by 1 seconds"):
        ManualClock().advance(-1)
