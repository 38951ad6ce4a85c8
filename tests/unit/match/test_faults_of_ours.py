"""A fault of ours at one table, wherever it shows: the attempt ends void, once, and everybody else plays on."""

from __future__ import annotations

from typing import Any

import pytest

from services.common.matches import Ending
from services.match.table import Table
from tests.unit.match.hall import Hall, order_for


def fail(*_: Any, **__: Any) -> Any:
    raise RuntimeError("not thought of")


def test_a_table_that_cannot_be_made_is_a_void_attempt_and_those_behind_it_are_seated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hall = Hall()
    bots = [hall.come(bot, 2) for bot in ("ann", "ben")]
    made = Table.__init__

    def make(table: Table, number: int, order: Any, *rest: Any) -> None:
        if order.attempt == "bad":
            fail()
        made(table, number, order, *rest)

    monkeypatch.setattr(Table, "__init__", make)
    orders = [order_for("ann", attempt="bad"), order_for("ann", "ben", attempt="good")]
    hall.floor.submit(orders, hall.now)
    hall.settle()
    assert [(one.attempt, one.ending, one.blamed) for one in hall.outcomes()] == [("bad", Ending.VOID, ())]
    for bot in bots:
        bot.read()
        assert len(bot.seated) == 1
        assert len(hall.floor.seats_of(bot.bot_id)) == 1
    # and the director may try it once more
    monkeypatch.undo()
    hall.floor.submit([order_for("ann", attempt="bad")], hall.now)
    hall.settle()
    assert len(hall.floor.seats_of("ann")) == 2


def test_a_table_that_cannot_even_be_given_up_in_order_is_a_void_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    hall = Hall()
    bots = [hall.come(bot, 2) for bot in ("ann", "ben")]
    hall.floor.submit([order_for("ann", "ben", attempt=attempt) for attempt in ("bad", "good")], hall.now)
    hall.settle()
    bad = next(table for table in hall.floor._tables.values() if table.order.attempt == "bad")
    for name in ("ready", "end_early"):
        real = getattr(Table, name)
        monkeypatch.setattr(Table, name, lambda table, *rest, real=real: fail() if table is bad else real(table, *rest))
    for bot in bots:
        bot.read()
        bot.ready()
        bot.read()
    assert [(one.attempt, one.ending, one.blamed) for one in hall.outcomes()] == [("bad", Ending.VOID, ())]
    (good,) = hall.floor._tables.values()
    assert good.order.attempt == "good"
    assert not good.unready, "it is played"
    assert all(list(hall.floor.seats_of(bot.bot_id)) == [good.number] for bot in bots)
