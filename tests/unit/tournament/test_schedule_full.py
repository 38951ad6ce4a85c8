"""Every set of five, found by arithmetic."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import comb

import numpy as np
import pytest

from services.tournament.schedule.full import FullSelection, unranked
from services.tournament.schedule.mixing import mixed, permuted, subkey


@pytest.mark.parametrize("entrants", [5, 6, 7, 10, 16])
@pytest.mark.parametrize("repeats", [1, 3])
def test_every_set_of_five_is_there_as_often_as_wanted(entrants: int, repeats: int) -> None:
    selection = FullSelection(entrants, repeats, key=11, rotated=True)
    lineups = selection.lineups(0, selection.sets)
    assert len(lineups) == selection.sets == comb(entrants, 5) * repeats
    found = Counter(tuple(sorted(lineup)) for lineup in lineups.tolist())
    assert found == dict.fromkeys(combinations(range(entrants), 5), repeats)


def test_any_part_is_what_the_whole_has_there() -> None:
    selection = FullSelection(9, 2, key=5, rotated=False)
    whole = selection.lineups(0, selection.sets)
    for start, stop in [(0, 1), (100, 140), (125, 127), (251, 252), (7, 7)]:
        assert np.array_equal(selection.lineups(start, stop), whole[start:stop])


def test_sets_have_the_colex_rank_they_are_found_by() -> None:
    ranks = np.arange(comb(9, 5), dtype=np.uint64)
    sets = unranked(ranks, 9)
    by_hand = sorted(combinations(range(9), 5), key=lambda members: members[::-1])
    assert sets.tolist() == [list(members) for members in by_hand]


def test_the_last_set_of_five_hundred_is_reached() -> None:
    last = np.array([comb(500, 5) - 1], dtype=np.uint64)
    assert unranked(last, 500).tolist() == [[495, 496, 497, 498, 499]]


def test_the_order_is_mixed() -> None:
    lineups = FullSelection(30, 1, key=1, rotated=True).lineups(0, 300)
    # In the order of combinations one entrant would be in all of the first sets.
    plays = np.bincount(lineups.ravel(), minlength=30)
    assert 20 <= plays.min() <= plays.max() <= 90  # 50 each on average


def test_the_few_sets_of_a_small_field_favour_no_seat_and_no_neighbour() -> None:
    selection = FullSelection(8, 1, key=3, rotated=False)
    lineups = selection.lineups(0, selection.sets).astype(int)
    seats = np.zeros((8, 5), int)
    before = np.zeros((8, 8), int)
    for lineup in lineups:
        seats[lineup, range(5)] += 1
        before[lineup, np.roll(lineup, -1)] += 1
    assert seats.min() == seats.max() == 7  # 35 matches each, five seats
    assert 3 <= before[~np.eye(8, dtype=bool)].min() <= before.max() <= 8  # 5 each on average


def test_repeats_move_each_set_round_the_table_and_change_its_neighbours() -> None:
    lineups = FullSelection(5, 20, key=1, rotated=False).lineups(0, 20).astype(int)
    seats = np.zeros((5, 5), int)
    before = np.zeros((5, 5), int)
    for lineup in lineups:
        seats[lineup, range(5)] += 1
        before[lineup, np.roll(lineup, -1)] += 1
        assert (seats.max(axis=1) - seats.min(axis=1)).max() <= 3
        assert before.max() - before[~np.eye(5, dtype=bool)].min() <= 1
    assert (seats == 4).all()
    assert (before[~np.eye(5, dtype=bool)] == 5).all()


@pytest.mark.parametrize("size", [1, 2, 3, 5, 64, 65, 1000, 4097])
def test_mixing_is_a_permutation(size: int) -> None:
    places = np.arange(size, dtype=np.uint64)
    for key in (0, 1, 2**64 - 1):
        assert sorted(permuted(places, size, key).tolist()) == list(range(size))


def test_mixing_depends_on_the_key_and_on_each_step_of_its_path() -> None:
    places = np.arange(1000, dtype=np.uint64)
    assert (permuted(places, 1000, 1) == permuted(places, 1000, 2)).sum() < 20
    assert len({subkey(7), subkey(7, 0), subkey(7, 1), subkey(7, 0, 1), subkey(7, 1, 0), subkey(8, 0)}) == 6


def test_hashing_is_the_published_one() -> None:
    # SplitMix64 from state 0 (Vigna, splitmix64.c): the first three outputs.
    gamma = 0x9E3779B97F4A7C15
    states = np.array([0, gamma, 2 * gamma % 2**64], dtype=np.uint64)
    assert mixed(states, 0).tolist() == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
