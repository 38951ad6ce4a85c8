"""What a bot makes of each role, with intervals over the same deal blocks as the whole table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bots_sdk.rules.events import SoloKind
from services.common.matches import DealScore, FaultRules, FaultScore
from services.tournament.standings import Datum, DatumKind, PlayedMatch, Role, RoleStanding, Standing, StandingsTable
from services.tournament.standings.intervals import MIN_BLOCKS, interval
from services.tournament.standings.table import compute_standings
from tests.unit.tournament.played import NO_FAULTS, played

NAMES = ("ann", "ben", "cem", "dan", "eva")
SEATS = (0, 1, 2, 3, 4)


def deal(number: int, emperor: int, guard: int, unit: int, solo: SoloKind | None = None) -> DealScore:
    """A deal in which each rebel loses `unit`."""
    points = [-unit] * 5
    points[guard] = unit if solo is None else -unit
    points[emperor] = 2 * unit if solo is None else 4 * unit
    return DealScore(number, tuple(points), (), emperor, None if solo else guard, solo)


def of(lines: list[Standing], name: str) -> dict[Role, RoleStanding]:
    return {one.role: one for line in lines if line.name == name for one in line.roles}


def test_every_deal_is_in_the_role_in_which_it_was_played() -> None:
    deals = (deal(0, 0, 1, 2), deal(1, 1, 0, 3), deal(2, 0, 1, 1, SoloKind.DARK), deal(3, 3, 4, 5))
    void = DealScore(4, (0,) * 5, (), None, None, None)
    lines = compute_standings(NAMES, [PlayedMatch(0, 0, SEATS, (*deals, void), NO_FAULTS)])
    ann = of(lines, "ann")
    assert {role: (one.deals, one.points_per_deal) for role, one in ann.items()} == {
        Role.EMPEROR: (1, 4.0),
        Role.GUARD: (1, 3.0),
        Role.SOLO: (1, 4.0),
        Role.REBEL: (1, -5.0),
    }
    assert of(lines, "cem")[Role.REBEL].deals == 4
    assert set(of(lines, "dan")) == {Role.EMPEROR, Role.REBEL}


def test_the_interval_of_a_role_counts_blocks_and_not_deals() -> None:
    # Ann is emperor twice in every block, and the luck of a block is in both.
    points = [3 + block % 4 for block in range(MIN_BLOCKS)]
    matches = [
        PlayedMatch(2 * block + turn, block, SEATS, (deal(0, 0, 1 + turn, unit),), NO_FAULTS)
        for block, unit in enumerate(points)
        for turn in range(2)
    ]
    ann = of(compute_standings(NAMES, matches), "ann")[Role.EMPEROR]
    mean, margin = interval(np.array([4 * unit for unit in points]), np.full(MIN_BLOCKS, 2))
    assert margin is not None
    assert (ann.deals, ann.blocks) == (2 * MIN_BLOCKS, MIN_BLOCKS)
    assert (ann.points_per_deal, ann.low, ann.high) == (mean, mean - margin, mean + margin)
    few = of(compute_standings(NAMES, matches[2:]), "ann")[Role.EMPEROR]
    assert (few.blocks, few.low, few.high) == (MIN_BLOCKS - 1, None, None)


def test_what_a_fault_costs_is_in_the_role_and_the_others_are_spared() -> None:
    spoiled = replace(deal(0, 0, 1, 2), spoiled=(0,), faults=(1, 0, 0, 0, 0))
    rules = FaultRules(score=FaultScore.PENALTY, penalty=3)
    lines = compute_standings(NAMES, [PlayedMatch(0, 0, SEATS, (spoiled, deal(1, 0, 1, 2)), NO_FAULTS)], rules)
    assert (of(lines, "ann")[Role.EMPEROR].deals, of(lines, "ann")[Role.EMPEROR].points_per_deal) == (
        2,
        (4 + 4 - 3) / 2,
    )
    assert (of(lines, "ben")[Role.GUARD].deals, of(lines, "ben")[Role.GUARD].points_per_deal) == (1, 2.0)


def test_against_a_datum_the_roles_add_up_to_the_whole() -> None:
    names = (*NAMES, "fay", "gus", "hal", "ida", "jon")
    table = StandingsTable(names, datum=Datum(DatumKind.FIELD, 1))
    table.add(PlayedMatch(0, 0, SEATS, (deal(0, 0, 1, 2), deal(1, 0, 2, 3)), NO_FAULTS))
    table.add(PlayedMatch(1, 0, (5, 6, 7, 8, 9), (deal(0, 0, 2, 1), deal(1, 0, 3, -1)), NO_FAULTS))
    for line in table.standings():
        whole = sum(one.deals * one.points_per_deal for one in line.roles)
        assert whole == pytest.approx(line.deals * line.points_per_deal)
    # Fay held ann's hands, as emperor both times.
    assert of(table.standings(), "ann")[Role.EMPEROR].points_per_deal == (4 - 2 + 6 - -2) / 2


def test_the_interval_is_that_of_drawing_blocks_again_and_again() -> None:
    """Given blocks of unequal weight, when whole blocks are drawn 20,000 times, then the spread is the interval's."""
    draw = np.random.default_rng(5)
    blocks = 300
    weights = draw.integers(1, 6, size=blocks)
    won = np.rint(weights * draw.normal(1.0, 4.0, size=blocks) + draw.normal(0.0, 3.0, size=blocks)).astype(int)
    counts = draw.multinomial(blocks, np.full(blocks, 1 / blocks), size=20_000)
    drawn = (counts @ won) / (counts @ weights)
    _, margin = interval(won, weights)
    assert margin == pytest.approx(1.968 * drawn.std(), rel=0.03)


def test_the_interval_of_a_role_holds_the_truth_in_95_of_100() -> None:
    """Bots of known strength in each role, luck that all rotations of a deal share: 200 tournaments of 40 blocks."""
    draw = np.random.default_rng(23)
    held = seen = 0
    for _ in range(200):
        strength = draw.normal(size=5)
        lines = compute_standings(NAMES, _tournament(draw, strength))
        for name, own in zip(NAMES, strength, strict=True):
            emperor = of(lines, name)[Role.EMPEROR]
            assert emperor.low is not None
            assert emperor.high is not None
            seen += 1
            held += emperor.low <= 20 * own <= emperor.high
    assert 0.93 <= held / seen <= 0.97


def _tournament(draw: np.random.Generator, strength: np.ndarray) -> list[PlayedMatch]:
    matches = []
    for block in range(40):
        luck = draw.normal(0, 30)
        for turn in range(5):
            own = 20 * strength[turn] + luck + draw.normal(0, 20)
            points = [0] * 5
            points[turn] = round(own)
            one = played(5 * block + turn, block, SEATS, points)
            matches.append(replace(one, deals=(replace(one.deals[0], emperor=turn, guard=(turn + 1) % 5),)))
    return matches
