"""What is over is gone at once: the collector of circles comes seldom in a process full of tables."""

from __future__ import annotations

import gc
import weakref

from services.common.clock import SystemClock
from services.common.metrics import MatchMetrics
from services.match.floor import Floor
from services.match.sessions import Session, SessionTerms
from tests.unit.match.fakes import Play


class Idle:
    """Surroundings of a floor that are not called upon."""

    def house_soon(self) -> None: ...

    def seat_soon(self) -> None: ...

    def look_soon(self) -> None: ...

    def entered(self) -> None: ...


def test_a_table_that_is_over_needs_no_collector() -> None:
    play = Play(deals=2).open()
    play.finish(idle=(3,))
    play.host._deadlines.clear()
    gone = weakref.ref(play.table)
    gc.disable()
    try:
        del play.table
        assert gone() is None
    finally:
        gc.enable()


def test_nor_does_a_session_that_has_ended() -> None:
    floor = Floor("m", SystemClock(), MatchMetrics(), Idle())

    def enter() -> tuple[Session, weakref.ref[object]]:
        def wake() -> None: ...

        terms = SessionTerms("bot", "bot", tables=1, list_legal=False, window=1)
        session = Session(terms, floor.seats_of("bot"), 0.0, wake, floor.wait)
        floor.enter(session, 0.0)
        return session, weakref.ref(wake)  # a session has no place for weak references

    first, held_by_first = enter()
    second, held_by_second = enter()
    gc.disable()
    try:
        floor.leave(first, 0.0)
        del first
        assert held_by_first() is None, "superseded"
        floor.leave(second, 0.0)
        del second
        assert held_by_second() is None
    finally:
        gc.enable()


def test_neither_do_tables_and_sessions_of_a_floor() -> None:
    order = Play().order
    floor = Floor("m", SystemClock(), MatchMetrics(), Idle())
    for entrant in order.seats:
        terms = SessionTerms(entrant.bot_id, entrant.name, tables=1, list_legal=False, window=1)
        floor.enter(Session(terms, floor.seats_of(entrant.bot_id), 0.0, lambda: None, floor.wait), 0.0)
    floor.submit([order], 0.0)
    (table,) = (weakref.ref(table) for table in floor._tables.values())
    for session in list(floor.sessions.values()):
        floor.ready(session, 1, 0.0)
    gc.disable()
    try:
        floor.withdraw(order.tournament)
        assert table() is None
    finally:
        gc.enable()
