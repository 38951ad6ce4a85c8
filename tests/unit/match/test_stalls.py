"""The service stands still: its loop is blocked, its machine sleeps. What bots do meanwhile is unread, and not held
against them: nobody is silent, absent, or not ready because of it.
"""

from __future__ import annotations

from services.common.matches import Ending
from tests.unit.match.hall import QUICK, Hall, order_for

LONG = 10 * QUICK.ready.total_seconds()


def stand_still(hall: Hall) -> None:
    """For long; the tidying happens to come first afterwards."""
    hall.clock.advance(LONG)
    hall.floor.tidy(hall.now, 10.0)
    hall.floor.sweep(hall.now, 0.02)
    hall.settle()


def calm(hall: Hall) -> None:
    """Looks in as often as it should for a while."""
    for _ in range(20):
        hall.clock.advance(0.02)
        hall.floor.sweep(hall.now, 0.02)
    hall.floor.tidy(hall.now, 10.0)


def test_nobody_is_silent_meanwhile() -> None:
    hall = Hall()
    visitor = hall.come("ann", 1)
    calm(hall)
    stand_still(hall)
    assert visitor.session.farewell is None


def test_nobody_is_a_no_show_for_a_ready_that_was_not_read() -> None:
    hall = Hall()
    visitor = hall.come("ann", 1)
    calm(hall)
    hall.floor.submit([order_for("ann", attempt="a")], hall.now)
    calm(hall)
    stand_still(hall)
    assert hall.outcomes() == []
    visitor.read()
    visitor.ready()
    assert visitor.in_vain == 0
    # and the time for it goes on after that, for whoever does hang
    hanging = hall.come("ben", 1)
    hall.floor.submit([order_for("ben", attempt="b")], hall.now)
    hanging.read()
    hall.advance(1.2 * QUICK.ready.total_seconds())
    assert [(one.attempt, one.ending) for one in hall.outcomes()] == [("b", Ending.NO_SHOW)]


def test_nobody_is_a_no_show_whose_stream_broke_because_of_it() -> None:
    """Clients notice a service that does not answer, and come back when it does."""
    hall = Hall()
    visitor = hall.come("ann", 1)
    calm(hall)
    visitor.leave()
    hall.floor.submit([order_for("ann", attempt="a"), order_for("ben", attempt="b")], hall.now)
    calm(hall)
    stand_still(hall)
    assert hall.outcomes() == []
    assert hall.come("ann", 1).session.seats, "it finds its match"
    hall.advance(1.2 * QUICK.ready.total_seconds())
    assert {one.attempt: one.ending for one in hall.outcomes()} == {"a": Ending.NO_SHOW, "b": Ending.NO_SHOW}
