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
