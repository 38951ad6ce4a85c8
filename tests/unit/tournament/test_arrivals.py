"""New results are found wherever they are in the schedule, and known ones are counted and not read again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from services.ledger.ledger import Ledger
from services.tournament.servicer.arrivals import Arrivals
from tests.unit.tournament.watched import WatchedLedger, make_outcome

PART = 8


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ledger]:
    monkeypatch.setattr("services.tournament.servicer.arrivals.PART", PART)
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        ledger.create_tournament("cup", "name: cup", b"s" * 32)
        yield ledger


@pytest.mark.parametrize("span", [range(200), range(60), range(13, 101), range(16, 64)])
def test_each_number_is_new_once(ledger: Ledger, span: range) -> None:
    draw, arrivals = Random(1), Arrivals(span)
    left = sorted(range(200), key=lambda number: number + draw.choice((0, 5, 90)))
    while left:
        some, left = left[:11], left[11:]
        ledger.record([make_outcome(number) for number in some])
        assert list(arrivals.find(ledger, "cup")) == sorted(number for number in some if number in span)
        assert [number in arrivals for number in some] == [number in span for number in some]
    assert list(arrivals.find(ledger, "cup")) == []


def test_numbers_are_read_again_where_there_is_a_new_one_and_nowhere_else(ledger: Ledger) -> None:
    """Given a gap far behind, when more results come, then no more is read for it than without."""
    watched, arrivals = WatchedLedger(ledger), Arrivals(range(1000))
    ledger.record([make_outcome(number) for number in range(120) if number not in (3, 50)])
    assert len(arrivals.find(watched, "cup")) == watched.numbers == 118  # type: ignore[arg-type]  # all it uses
    for number in (120, 121, 50):
        before = watched.numbers
        ledger.record([make_outcome(number)])
        assert list(arrivals.find(watched, "cup")) == [number]  # type: ignore[arg-type]
        assert watched.numbers - before <= PART
