"""The least-squares rating: is it right where strength is known, and as sure as it says?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bots_sdk.rules.events import SoloKind
from services.common.matches import DealScore
from services.tournament.schedule import Schedule
from services.tournament.schedule.balanced import BalancedSelection
from services.tournament.standings import PlayedMatch, StandingsTable
from services.tournament.standings import rating as rating_module
from services.tournament.standings.rating import MIN_RATED_BLOCKS, Rating
from tests.unit.tournament.played import NO_FAULTS
from tests.unit.tournament.rated import Rated

BOTS, SETS, DEALS = 8, 40, 3  # with fewer sets the intervals are more cautious: of 24 they hold 96.6 %
MATCHES = tuple(Schedule(BalancedSelection(BOTS, SETS, 1, rotated=True), rotated=True, deals=DEALS))
WORTH = (1.0, 0.5, 1 / 3)
"""Points that one more of strength is worth to an emperor, a guard and a rebel, by the shares of the rules."""


def deal_of(emperor: int, guard: int, unit: float) -> tuple[DealScore, tuple[float, ...]]:
    """A deal in which each rebel loses `unit`."""
    points = [-unit] * 5
    points[emperor] = unit if guard == emperor else 2 * unit
    points[guard] = 4 * unit if guard == emperor else unit
    solo = SoloKind.DARK if guard == emperor else None
    return DealScore(0, (), (), emperor, None if solo else guard, solo), tuple(points)


def edge(strength: np.ndarray, entrants: tuple[int, ...], emperor: int, guard: int) -> float:
    """The strength of the emperor's side less that of the rebels', both on average."""
    above = {emperor, guard}
    ours = [strength[entrants[seat]] for seat in above]
    theirs = [strength[entrants[seat]] for seat in range(5) if seat not in above]
    return float(np.mean(ours) - np.mean(theirs))


def simulate(draw: np.random.Generator, strength: np.ndarray, luck: float, noise: float) -> Rated:
    """Rotated deals: who is emperor and guard goes with the hands, and so does most of the luck."""
    rated = Rated(BOTS)
    hands = {}
    for group in range(SETS):
        for deal in range(DEALS):
            emperor, step = int(draw.integers(5)), int(draw.integers(1, 5))
            hands[group, deal] = emperor, (emperor + step) % 5, luck * draw.normal()
    for match in MATCHES:
        for deal in range(DEALS):
            emperor, guard, lucky = hands[match.group, deal]
            unit = edge(strength, match.entrants, emperor, guard) + lucky + noise * draw.normal()
            score, points = deal_of(emperor, guard, float(np.rint(2 * unit)) / 2)
            rated.add((match.group, deal), match.number, match.entrants, score, points)
    return rated


def truth(strength: np.ndarray) -> np.ndarray:
    """Points per deal among average bots, with one emperor, one guard and three rebels to a deal."""
    worth = (WORTH[0] + WORTH[1] + 3 * WORTH[2]) / 5
    return np.asarray(worth * (strength - strength.mean()))


def values(ratings: list[Rating | None]) -> list[float]:
    return [one.value for one in ratings if one is not None]


def test_without_chance_the_strengths_come_out_as_they_are() -> None:
    draw = np.random.default_rng(30)
    strength = draw.integers(-8, 8, size=BOTS) * 3.0
    rated = Rated(BOTS)
    for match in MATCHES:
        emperor, guard = (int(seat) for seat in draw.choice(5, size=2, replace=False))
        score, points = deal_of(emperor, guard, edge(strength, match.entrants, emperor, guard) + 7)
        rated.add((match.group, 0), match.number, match.entrants, score, points)
    assert values(rated.ratings()) == pytest.approx(truth(strength).tolist(), abs=1e-9)


def test_a_strong_partner_is_taken_off() -> None:
    """Given two equal bots, when one mostly has the strong one as guard, then its mean is better and its rating not."""
    draw = np.random.default_rng(35)
    strength = np.array([0.0, 0.0, 9.0, -2.0, -3.0, -4.0])
    rated, made = Rated(6), np.zeros(6)
    for number in range(120):
        emperor, partner = number % 2, 2
        if number % 10 in (0, 1, 3, 5, 7):  # else the first with the strong one, and the second against it
            partner = int(draw.choice([2, 3, 4, 5]))
        elif emperor == 1:
            partner = 3
        rebels = draw.permutation([one for one in range(6) if one not in (emperor, partner)])[:3].tolist()
        entrants = (emperor, partner, *rebels)
        score, points = deal_of(0, 1, edge(strength, entrants, 0, 1))
        made[emperor] += points[0]
        rated.add((number, 0), number, entrants, score, points)
    assert made[0] > made[1] + 100
    ratings = values(rated.ratings())
    assert ratings[0] == pytest.approx(ratings[1], abs=1e-9)


def test_the_interval_holds_the_truth_in_95_of_100_and_the_order_is_found() -> None:
    draw = np.random.default_rng(31)
    held = seen = right = pairs = 0
    for _ in range(200):
        strength = draw.normal(size=BOTS)
        true = truth(strength)
        ratings = simulate(draw, strength, luck=2.0, noise=2.0).ratings()
        for rating, own in zip(ratings, true, strict=True):
            assert rating is not None
            assert rating.low is not None
            assert rating.high is not None
            held += rating.low <= own <= rating.high
            seen += 1
        found = np.array(values(ratings))
        apart = true[:, None] - true[None, :] > 0.5
        right += int((found[:, None] > found[None, :])[apart].sum())
        pairs += int(apart.sum())
    assert 0.93 <= held / seen <= 0.97
    assert right / pairs > 0.97


def test_single_deals_would_claim_to_know_it_better() -> None:
    """When rotations of a deal share a bias of the hands, then an interval over deals would be another one."""
    draw = np.random.default_rng(32)
    blocks, singles = Rated(5), Rated(5)
    for block in range(60):
        lucky = 4 * draw.normal()
        for turn in range(5):
            score, points = deal_of(0, 1 + block % 4, lucky + draw.normal())
            blocks.add((block, 0), turn, (0, 1, 2, 3, 4), score, points)
            singles.add((block, turn), turn, (0, 1, 2, 3, 4), score, points)

    def width(rated: Rated) -> float:
        one = rated.ratings()[1]
        assert one is not None
        assert one.low is not None
        assert one.high is not None
        return one.high - one.low

    assert width(blocks) > 1.7 * width(singles)


def test_the_order_of_deals_changes_no_bit() -> None:
    draw = np.random.default_rng(33)
    deals = []
    for match in MATCHES:
        emperor = int(draw.integers(5))
        deals.append((match, deal_of(emperor, int(draw.integers(5)), draw.normal() / 3)))
    tables = []
    for _ in range(3):
        rated = Rated(BOTS)
        for place in draw.permutation(len(deals)):
            match, (score, points) = deals[place]
            rated.add((match.group, 0), match.number, match.entrants, score, points)
        tables.append(rated.ratings())
    assert tables[0] == tables[1] == tables[2]


def test_who_has_not_played_has_no_rating_and_few_blocks_no_interval() -> None:
    rated = Rated(6)
    assert rated.ratings() == [None] * 6
    for block in range(MIN_RATED_BLOCKS - 1):  # the first is explained without a rest
        score, points = deal_of(block % 5, (block + 1) % 5, 1.0 + block)
        rated.add((block, 0), block, (0, 1, 2, 3, 4), score, points)
        ratings = rated.ratings()
        assert ratings[5] is None
        assert [one is not None and (one.low, one.high) == (None, None) for one in ratings[:5]] == [True] * 5


def test_a_deal_that_was_void_for_good_says_nothing_of_anybody() -> None:
    table = StandingsTable([f"bot{number}" for number in range(BOTS)])
    void = DealScore(0, (0,) * 5, (), None, None, None)
    table.add(PlayedMatch(0, 0, (0, 1, 2, 3, 4), (void,), NO_FAULTS))
    assert table.ratings() == [None] * BOTS
    score, _ = deal_of(0, 1, 2)
    table.add(
        PlayedMatch(1, 1, (0, 1, 2, 3, 4), (void, replace(score, number=1, points=(4, 2, -2, -2, -2))), NO_FAULTS)
    )
    assert [one is None for one in table.ratings()] == [False] * 5 + [True] * (BOTS - 5)


def test_blocks_that_are_left_out_are_as_if_they_had_not_been_played() -> None:
    draw = np.random.default_rng(34)
    whole, part = Rated(BOTS), Rated(BOTS)
    for match in MATCHES:
        score, points = deal_of(0, 1, float(draw.integers(-5, 5)))
        whole.add((match.group, 0), match.number, match.entrants, score, points)
        if match.group not in (2, 3):
            part.add((match.group, 0), match.number, match.entrants, score, points)
    assert whole.ratings({(2, 0), (3, 0)}) == part.ratings()


def test_put_into_the_equations_in_parts_deals_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """When no more than seven deals are looked at at once, and parts cut through blocks, then nothing is lost."""
    rated = simulate(np.random.default_rng(36), np.arange(BOTS) / 4.0, luck=1.0, noise=1.0)
    whole = rated.ratings()
    monkeypatch.setattr(rating_module, "PART", 7)
    for part, one in zip(rated.ratings(), whole, strict=True):
        assert part is not None
        assert one is not None
        assert (part.value, part.low, part.high) == pytest.approx((one.value, one.low, one.high), abs=1e-9)


def test_bags_of_blocks_are_as_wide_as_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """When whole blocks share bags, then values stay, and intervals but for the chance of the draws."""
    rated = simulate(np.random.default_rng(37), np.arange(BOTS) / 4.0, luck=1.0, noise=1.0)
    whole = rated.ratings()
    monkeypatch.setattr(rating_module, "BAGS", SETS * DEALS // 2)
    bagged = rated.ratings()
    assert values(bagged) == values(whole)

    def width(ratings: list[Rating | None]) -> float:
        return float(np.mean([one.high - one.low for one in ratings if one and one.high and one.low]))

    assert 0.1 < width(bagged) != width(whole)
    assert width(bagged) == pytest.approx(width(whole), rel=0.15)


def test_hundreds_of_bots_come_out_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five hundred bots, and deals in several parts, without chance."""
    monkeypatch.setattr(rating_module, "PART", 2_000)
    draw, bots = np.random.default_rng(38), 500
    strength = draw.integers(-8, 8, size=bots) * 3.0
    rated = Rated(bots)
    for number in range(7_000):
        emperor = number % 5
        entrants = tuple(draw.integers(bots // 5, size=5) + np.arange(5) * (bots // 5))
        score, points = deal_of(emperor, (emperor + 1) % 5, edge(strength, entrants, emperor, (emperor + 1) % 5))
        rated.add((number // 5, 0), number, entrants, score, points)
    assert values(rated.ratings()) == pytest.approx(truth(strength).tolist(), abs=1e-6)
