"""Simulated players of known strength: how many deals each way of taking luck out needs for the same interval.

The figures stand in docs/operating.md; the test reads them there and plays them again.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from services.tournament.schedule import ScheduledMatch
from services.tournament.servicer.plans import Plan, make_plan
from services.tournament.servicer.scopes import datum_for
from services.tournament.spec import Duplicate, parse_spec
from services.tournament.standings import Standing, StandingsTable
from tests.unit.tournament.played import played

pytestmark = pytest.mark.xdist_group("luck")
"""One worker, as all of them look at the same tournaments, which are played once."""

ENTRANTS, ROUNDS, TOURNAMENTS = 20, 200, 20
LUCK = (0.1, 0.3, 0.5, 0.7)
WAYS = (Duplicate.NONE, Duplicate.ROTATION, Duplicate.FIELD, Duplicate.PAR)
NAMES = tuple(f"bot{entrant}" for entrant in range(ENTRANTS))
SPEC = (
    f"name: x\nprofile: qingdao\nbots: [{', '.join(NAMES)}]\ndeals: 1\nseed: 1\n"
    f"schedule: {{{{kind: rounds, rounds: {ROUNDS}}}}}\nduplicate: {{duplicate}}\n"
)
DOCUMENTED = Path(__file__).parents[3] / "docs" / "operating.md"
FINE = 1000
"""Points are whole numbers; so many of them are one."""


STRENGTH = np.concatenate((0.05 * np.random.default_rng(6).normal(size=ENTRANTS), np.zeros(5)))
"""Points a deal by which each is better than a house bot; the last five are at the control tables."""


@lru_cache(maxsize=4)
def plan_of(duplicate: Duplicate) -> tuple[Plan, tuple[ScheduledMatch, ...]]:
    plan = make_plan(parse_spec(SPEC.format(duplicate=duplicate)))
    return plan, tuple(plan.schedule)


def even(values: np.ndarray) -> np.ndarray:
    """Fives that add up to 0, of the same variance as before."""
    centred: np.ndarray = (values - values.mean(axis=-1, keepdims=True)) * np.sqrt(5 / 4)
    return centred


def simulate(draw: np.random.Generator, duplicate: Duplicate, luck: float, variance: float = 1.0) -> list[Standing]:
    """A tournament in which `luck` is the part of the variance of a deal that lies in the hands, not in the play."""
    plan, matches = plan_of(duplicate)
    table = StandingsTable(NAMES, datum=datum_for(plan.spec, plan.schedule))
    hands = even(draw.normal(size=(plan.schedule.groups, 5)) * np.sqrt(variance * luck))
    play = even(draw.normal(size=(len(matches), 5)) * np.sqrt(variance * (1 - luck)))
    strengths = STRENGTH[np.array([match.entrants for match in matches])]
    points = strengths - strengths.mean(axis=1, keepdims=True) + hands[[match.group for match in matches]] + play
    for match, made in zip(matches, np.rint(FINE * points).tolist(), strict=True):
        table.add(played(match.number, match.group, match.entrants, made))
    return table.standings()


@lru_cache(maxsize=16)
def found(duplicate: Duplicate, luck: float) -> tuple[float, int]:
    """The mean square of half the width of an interval, for a deal of a bot; and how many intervals hold the truth:
    what everybody has where neither hands nor play are left to luck.
    """
    draw = np.random.default_rng([7, int(1000 * luck), WAYS.index(duplicate)])
    truth = {line.name: line.points_per_deal for line in simulate(draw, duplicate, luck, variance=0.0)}
    squares, held = [], 0
    for _ in range(TOURNAMENTS):
        for line in simulate(draw, duplicate, luck):
            assert line.low is not None
            assert line.high is not None
            squares.append(((line.high - line.low) / 2) ** 2 * line.deals)
            held += line.low <= truth[line.name] <= line.high
    return float(np.mean(squares)), held


def documented() -> dict[tuple[float, Duplicate], float]:
    """The table in the documentation: deals for those of `none`, by the part of luck."""
    rows = re.findall(r"^\| (\d+) % \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", DOCUMENTED.read_text(), re.MULTILINE)
    return {(int(luck) / 100, way): float(deals) for luck, *row in rows for way, deals in zip(WAYS, row, strict=True)}


@pytest.mark.slow
@pytest.mark.parametrize("luck", LUCK)
def test_so_many_deals_are_needed_for_the_same_interval(luck: float) -> None:
    """As many as documented, give or take a tenth."""
    without, _ = found(Duplicate.NONE, luck)
    for way in WAYS:
        assert 100 * found(way, luck)[0] / without == pytest.approx(documented()[luck, way], rel=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_each_way_the_intervals_hold_the_truth_in_95_of_100(way: Duplicate) -> None:
    held = sum(found(way, luck)[1] for luck in LUCK)
    assert 0.93 <= held / (len(LUCK) * TOURNAMENTS * ENTRANTS) <= 0.97
