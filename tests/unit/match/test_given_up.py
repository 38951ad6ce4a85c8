"""A fault of ours at one table: the match is void and told once, and the table does not stay."""

from __future__ import annotations

import pytest

from services.common.matches import Ending
from services.match import table as tables
from tests.unit.match.hall import Hall, order_for


def test_a_record_that_cannot_be_made_voids_the_match_instead_of_losing_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> bytes:
        raise ValueError("cannot be packed")

    monkeypatch.setattr(tables, "compress_record", fails)
    hall = Hall()
    ann = hall.come("ann", 1)
    hall.floor.submit([order_for("ann", attempt="a")], hall.now)
    ann.read()
    ann.ready()
    for _ in range(1000):
        ann.read()
        if not ann.answer():
            break
    (outcome,) = hall.outcomes()
    assert (outcome.ending, outcome.message) == (Ending.VOID, "a fault of the platform")
    assert hall.floor.is_idle
    assert ann.session.free_tables == 1
    assert len(ann.ended) == 1
    assert not ann.ended[0].secret
