"""A table is kept as long as people look at it: what a deal takes in it, and what computing it takes beside that."""

from __future__ import annotations

import gc
import random
import tracemalloc
from collections.abc import Iterator

import pytest

from bots_sdk.rules.events import SoloKind
from services.common.matches import DealScore
from services.tournament.standings import Datum, DatumKind, Order, PlayedMatch, StandingsTable
from services.tournament.standings import datum as datum_module
from services.tournament.standings import rating as rating_module
from tests.unit.tournament.played import NO_FAULTS

BOTS = 100
NAMES = tuple(f"bot{number}" for number in range(BOTS))
DEALS = 10_000
BESIDE = 100
"""Bytes for each deal while a table is computed, beside those that are kept."""
SQUARES = 1 << 20
"""What equations and draws of a hundred bots take, however few deals there are."""


@pytest.fixture(autouse=True)
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is bounded whatever the deals is made small, so that what grows with them is seen."""
    monkeypatch.setattr(rating_module, "BAGS", 100)
    monkeypatch.setattr(rating_module, "DRAWS", 100)
    for module in (rating_module, datum_module):
        monkeypatch.setattr(module, "PART", 500)


def deals(beans: bool) -> list[tuple[DealScore]]:
    """Some deals as they are: one in twenty was spoiled, or comes after a void shuffle."""
    draw, found = random.Random(1), []
    for _ in range(500):
        emperor, guard = draw.sample(range(5), 2)
        unit = draw.randint(-9, 9)
        points = [-unit] * 5
        points[emperor], points[guard] = 2 * unit, unit
        spoiled = (draw.randrange(5),) if draw.random() < 0.05 else ()
        one = DealScore(
            0,
            tuple(points),
            (0, 1, 2, 3, 4),
            emperor,
            guard,
            SoloKind.DARK if draw.random() < 0.2 else None,
            voided=int(draw.random() < 0.05),
            beans=tuple(point * 100_000 for point in points) if beans else None,
            spoiled=spoiled,
            faults=tuple(int(seat in spoiled) for seat in range(5)),
        )
        found.append((one,))
    return found


def matches(kind: str, count: int, beans: bool) -> Iterator[PlayedMatch]:
    """Matches of one deal: with rotation, without anything, or in rounds of twenty tables with the same deal."""
    draw, scores = random.Random(2), deals(beans)
    order: list[int] = []
    for number in range(count):
        group, table = divmod(number, {"rotation": 5, "none": 1, "field": BOTS // 5}[kind])
        if not table:
            order = draw.sample(range(BOTS), BOTS)
        at = 5 * table if kind == "field" else 0
        seats = [*range(at, at + 5)] if kind == "field" else [(seat + table) % 5 for seat in range(5)]
        a, b, c, d, e = (order[seat] for seat in seats)
        yield PlayedMatch(number, group, (a, b, c, d, e), draw.choice(scores), NO_FAULTS)


@pytest.mark.parametrize(
    ("kind", "beans", "allowed"),
    [("rotation", False, 40), ("none", False, 40), ("field", False, 40), ("none", True, 60)],
)
def test_a_deal_takes_some_bytes_and_not_some_hundred(kind: str, beans: bool, allowed: int) -> None:
    """When a table is looked at, then what it keeps, and what the look takes beside that, are bytes for each deal."""
    datum = Datum(DatumKind.FIELD, BOTS // 5 - 1) if kind == "field" else None
    played = list(matches(kind, DEALS, beans))
    look(make(played[:100], beans, datum))  # what is loaded and made once is not counted
    gc.collect()
    tracemalloc.start()
    try:
        table = make(played, beans, datum)
        look(table)
        gc.collect()
        held, peak = tracemalloc.get_traced_memory()
        assert held <= allowed * DEALS
        assert peak <= held + BESIDE * DEALS + SQUARES
    finally:
        tracemalloc.stop()


def make(played: list[PlayedMatch], beans: bool, datum: Datum | None) -> StandingsTable:
    table = StandingsTable(NAMES, beans=beans, datum=datum)
    for match in played:
        table.add(match)
    return table


def look(table: StandingsTable) -> None:
    """At everything there is."""
    for order in Order:
        table.standings(order)
    table.ratings()
    for _ in table.games(range(DEALS)):
        pass
