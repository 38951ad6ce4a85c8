"""Simulated tournaments of players whose strength is known: is the table right as often as it says?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from services.tournament.schedule import Schedule
from services.tournament.schedule.balanced import BalancedSelection
from services.tournament.standings import PlayedMatch, Standing, compute_standings
from tests.unit.tournament.played import played

ENTRANTS, SETS, DEALS = 10, 18, 2
NAMES = tuple(f"bot{entrant}" for entrant in range(ENTRANTS))
SCHEDULE = Schedule(BalancedSelection(ENTRANTS, SETS, 1, rotated=True), rotated=True, deals=DEALS)
MATCHES = tuple(SCHEDULE)


def simulate(draw: np.random.Generator, strength: np.ndarray, luck: float, noise: float) -> Iterator[PlayedMatch]:
    """One tournament: points are strength against the table, the luck of the hand in that seat, and chance."""
    hands = luck * draw.normal(size=(SETS, DEALS, 5))
    hands -= hands.mean(axis=2, keepdims=True)
    for match in MATCHES:
        table = strength[list(match.entrants)]
        points = table - table.mean() + hands[match.group] + noise * draw.normal(size=(DEALS, 5))
        yield played(match.number, match.group, match.entrants, *np.rint(points * 10).tolist())


def expected(strength: np.ndarray) -> np.ndarray:
    """Mean points per deal of each in this schedule, without luck and chance."""
    totals, counts = np.zeros(ENTRANTS), np.zeros(ENTRANTS)
    for match in MATCHES:
        seats = list(match.entrants)
        totals[seats] += 10 * (strength[seats] - strength[seats].mean())
        counts[seats] += 1
    return totals / counts


def test_the_interval_holds_the_truth_in_95_of_100() -> None:
    draw = np.random.default_rng(20)
    held = seen = 0
    for _ in range(200):
        strength = 0.3 * draw.normal(size=ENTRANTS)
        truth = expected(strength)
        for line in compute_standings(NAMES, simulate(draw, strength, luck=4.0, noise=3.0)):
            assert line.low is not None
            assert line.high is not None
            seen += 1
            held += line.low <= truth[NAMES.index(line.name)] <= line.high
    assert seen == 200 * ENTRANTS
    assert 0.93 <= held / seen <= 0.97


def test_the_order_of_strength_is_found() -> None:
    draw = np.random.default_rng(21)
    order = draw.permutation(ENTRANTS)
    strength = np.empty(ENTRANTS)
    strength[order] = np.arange(ENTRANTS, 0, -1) * 2.0
    table = compute_standings(NAMES, simulate(draw, strength, luck=4.0, noise=3.0))
    assert [line.name for line in table] == [NAMES[entrant] for entrant in order]


def test_rotation_takes_the_luck_of_the_hands_out() -> None:
    """Every bot holds every hand, so luck alone moves nobody, and the intervals say so."""
    draw = np.random.default_rng(22)
    strength = np.zeros(ENTRANTS)

    def width(lines: list[Standing]) -> float:
        return float(
            np.mean([line.high - line.low for line in lines if line.high is not None and line.low is not None])
        )

    lucky = width(compute_standings(NAMES, simulate(draw, strength, luck=8.0, noise=1.0)))
    plain = width(compute_standings(NAMES, simulate(draw, strength, luck=0.0, noise=1.0)))
    assert lucky < 1.2 * plain
