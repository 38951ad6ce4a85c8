"""Stopping early: on a fixed grid, on whole blocks, and wrong no more often than the rule allows."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from services.tournament.spec import StopRules
from services.tournament.standings.stopping import MIN_STOP_BLOCKS, Blocks, decide, looks_at

GROUPS = 200
LOOKS = looks_at(GROUPS)


def play(draw: np.random.Generator, strength: np.ndarray, noise: float) -> np.ndarray:
    """Points of everybody in each of the groups, by group and entrant; five at a table share what is lost and won."""
    points = strength + noise * draw.standard_t(4, size=(GROUPS, len(strength)))
    return np.asarray(points - points.mean(axis=1, keepdims=True))


def blocks_of(points: np.ndarray, groups: int) -> list[Blocks]:
    numbers, fives = np.arange(groups, dtype=np.int32), np.full(groups, 5)
    return [Blocks(numbers, 5 * own[:groups], fives) for own in points.T]


def first_decision(rules: StopRules, points: np.ndarray) -> tuple[int, tuple[int, ...]] | None:
    for look, groups in enumerate(LOOKS):
        decision = decide(rules, look, LOOKS, blocks_of(points, groups))
        if decision is not None:
            return groups, decision.first
    return None


def test_looks_are_known_before_anything_is_played() -> None:
    assert looks_at(10) == ()
    assert looks_at(30) == (10, 13, 17, 22, 28)
    assert all(later <= 1.25 * sooner + 1 for sooner, later in pairwise(looks_at(100_000)))
    assert len(looks_at(1_000_000)) < 60


# Where a wrong decision is easiest: all alike, or two that share the place that decides and are apart from the rest.
ALIKE = np.zeros(5)
TWO_LEADERS = np.array([5.0, 5.0, -3.0, -3.0, -4.0])
TWO_AFTER_ONE = np.array([9.0, 2.0, 2.0, -6.0, -7.0])


@pytest.mark.parametrize(
    ("first", "level", "strength"), [(1, 95, ALIKE), (1, 80, ALIKE), (1, 80, TWO_LEADERS), (2, 80, TWO_AFTER_ONE)]
)
def test_the_wrong_ones_are_declared_no_more_often_than_allowed(first: int, level: int, strength: np.ndarray) -> None:
    """Given players of whom none deserves it, when looked at again and again, then few enough tournaments stop."""
    draw = np.random.default_rng(40)
    rules = StopRules(first, level)
    stopped = sum(first_decision(rules, play(draw, strength, 3.0)) is not None for _ in range(200))
    assert stopped <= (1 - level / 100) * 200


def test_looking_without_spending_would_be_wrong_too_often() -> None:
    """When each look had the whole error to itself, then too many would stop: the test above can fail."""
    draw = np.random.default_rng(40)
    rules, stopped = StopRules(1, 80), 0
    for _ in range(200):
        points = play(draw, TWO_LEADERS, 3.0)
        stopped += any(decide(rules, 0, (groups,), blocks_of(points, groups)) is not None for groups in LOOKS)
    assert stopped > 0.2 * 200


def test_a_clear_leader_is_found_early_and_is_the_right_one() -> None:
    draw = np.random.default_rng(41)
    strength = np.array([0.0, 0.5, 3.0, -1.0, 0.0])
    found = [first_decision(StopRules(1, 95), play(draw, strength, 3.0)) for _ in range(50)]
    assert all(one is not None and one[1] == (2,) for one in found)
    assert np.mean([one[0] for one in found if one is not None]) < GROUPS / 2


def test_the_first_k_need_not_be_apart_from_each_other() -> None:
    draw = np.random.default_rng(42)
    points = play(draw, np.array([3.0, 3.0, -2.0, -2.0, -2.0]), 2.0)
    two = first_decision(StopRules(2, 95), points)
    assert two is not None
    assert set(two[1]) == {0, 1}
    assert first_decision(StopRules(1, 95), points) is None


def test_nothing_is_decided_while_somebody_has_too_few_blocks() -> None:
    points = np.tile(np.array([9.0, 0.0, 0.0, 0.0, -9.0]), (GROUPS, 1)) + np.arange(GROUPS)[:, None] % 2
    enough = blocks_of(points, MIN_STOP_BLOCKS)
    assert decide(StopRules(), 0, (MIN_STOP_BLOCKS,), enough) is not None
    last = enough[-1]
    few = [*enough[:-1], Blocks(last.blocks[1:], last.won[1:], last.deals[1:])]
    assert decide(StopRules(), 0, (MIN_STOP_BLOCKS,), few) is None
