"""Selections in which every two entrants meet as equally often as possible."""

from __future__ import annotations

from math import comb, floor

import numpy as np
import pytest
from numpy.typing import NDArray

from services.tournament.schedule import balanced
from services.tournament.schedule.balanced import BalancedSelection
from services.tournament.schedule.designs import DESIGNS
from services.tournament.schedule.groups import make_group

Counts = NDArray[np.int64]


def meetings(lineups: NDArray[np.int16], entrants: int) -> Counts:
    """How often each pair meets, shape (pairs,)."""
    met = np.zeros((entrants, entrants), np.int64)
    for lineup in lineups:
        assert len(set(lineup.tolist())) == 5
        met[np.ix_(lineup, lineup)] += 1
    upper: Counts = met[np.triu_indices(entrants, 1)]
    return upper


def chosen(entrants: int, sets: int, rotated: bool = True, key: int = 99) -> NDArray[np.int16]:
    selection = BalancedSelection(entrants, sets, key, rotated)
    assert (selection.entrants, selection.sets) == (entrants, sets)
    lineups = selection.lineups(0, sets)
    assert lineups.shape == (sets, 5)
    assert (lineups.min(), lineups.max()) >= (0, 0)
    assert lineups.max() < entrants
    return lineups


@pytest.mark.parametrize("entrants", sorted(DESIGNS))
@pytest.mark.parametrize("times", [1, 2])
def test_every_two_meet_equally_often_where_there_is_a_design(entrants: int, times: int) -> None:
    sets = entrants * (entrants - 1) // 20 * times
    met = meetings(chosen(entrants, sets), entrants)
    assert (met == times).all()


@pytest.mark.parametrize(("entrants", "sets", "each"), [(6, 12, 8), (7, 21, 10), (9, 18, 5), (11, 11, 2), (5, 8, 8)])
def test_every_two_meet_equally_often_in_small_fields(entrants: int, sets: int, each: int) -> None:
    assert (meetings(chosen(entrants, sets), entrants) == each).all()


@pytest.mark.parametrize(
    ("entrants", "sets"), [(8, 16), (10, 30), (12, 30), (25, 31), (30, 60), (50, 49), (50, 100), (100, 100), (500, 499)]
)
def test_meetings_differ_by_one_at_most_where_that_can_be_reached(entrants: int, sets: int) -> None:
    met = meetings(chosen(entrants, sets), entrants)
    mean = 10 * sets / comb(entrants, 2)
    # 25 entrants in 31 sets: the set on top of the design makes ten pairs meet a second time.
    assert floor(mean) <= met.min() <= met.max() <= floor(mean) + 1


@pytest.mark.parametrize(
    ("entrants", "sets"), [(10, 18), (15, 21), (20, 38), (33, 77), (100, 500), (100, 530), (137, 1000)]
)
def test_elsewhere_few_pairs_are_off_and_by_one_only(entrants: int, sets: int) -> None:
    met = meetings(chosen(entrants, sets), entrants)
    mean = 10 * sets / comb(entrants, 2)
    off = np.maximum(np.floor(mean) - met, met - np.ceil(mean))
    assert off.max() <= 1
    assert (off > 0).mean() <= 0.25
    # A draw by lot would be about this far from even.
    assert np.var(met) < 0.4 * mean


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize(("entrants", "sets"), [(7, 10), (13, 40), (21, 50), (25, 37), (64, 200), (500, 700)])
@pytest.mark.parametrize("rotated", [True, False])
def test_all_play_equally_often_and_sit_everywhere(entrants: int, sets: int, rotated: bool) -> None:
    lineups = chosen(entrants, sets, rotated).astype(int)
    seats = np.stack([np.bincount(lineups[:, seat], minlength=entrants) for seat in range(5)], axis=1)
    plays = seats.sum(axis=1)
    assert plays.max() - plays.min() <= 1
    if not rotated:  # rotation gives every seat once anyway
        assert (seats.max(axis=1) - seats.min(axis=1)).max() <= 2


@pytest.mark.parametrize(("entrants", "sets"), [(21, 84), (41, 164), (30, 120), (100, 1000)])
def test_neighbours_are_even_too(entrants: int, sets: int) -> None:
    lineups = chosen(entrants, sets).astype(int)
    before = np.zeros((entrants, entrants), int)
    for lineup in lineups:
        before[lineup, np.roll(lineup, -1)] += 1
    mean = 5 * sets / (entrants * (entrants - 1))
    off = before[~np.eye(entrants, dtype=bool)]
    assert off.min() >= floor(mean) - 1
    assert off.max() <= floor(mean) + 2


@pytest.mark.parametrize(("entrants", "sets"), [(7, 14), (8, 8), (9, 18), (11, 22), (20, 20)])
@pytest.mark.parametrize("key", [1, 2, 3])
def test_in_small_fields_neighbours_differ_by_one_only(entrants: int, sets: int, key: int) -> None:
    before = np.zeros((entrants, entrants), int)
    for lineup in chosen(entrants, sets, key=key).astype(int):
        before[lineup, np.roll(lineup, -1)] += 1
    off = before[~np.eye(entrants, dtype=bool)]
    assert off.max() - off.min() <= 1


@pytest.mark.parametrize(
    ("entrants", "sets", "rotated", "apart"),
    [
        (5, 7, False, 1),
        (5, 50, False, 1),
        (6, 12, True, 2),
        (6, 30, False, 2),
        (6, 45, False, 3),
        (7, 63, False, 3),
        (8, 112, True, 1),
        (8, 168, False, 4),
        (9, 252, True, 2),
        (9, 252, False, 5),
        (10, 756, False, 4),
    ],
)
def test_neighbours_stay_even_where_whole_passes_over_all_sets_are_played(
    entrants: int, sets: int, rotated: bool, apart: int
) -> None:
    before = np.zeros((entrants, entrants), int)
    for lineup in chosen(entrants, sets, rotated).astype(int):
        before[lineup, np.roll(lineup, -1)] += 1
    off = before[~np.eye(entrants, dtype=bool)]
    assert off.max() - off.min() <= apart


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches that end early: for tests that do not ask how good they are."""
    monkeypatch.setattr(balanced, "_BLOCK_TURNS", 50)
    monkeypatch.setattr(balanced, "_PACKING_TURNS", 50)


@pytest.mark.usefixtures("hasty")
def test_any_part_is_what_the_whole_has_there() -> None:
    # 6 sets in a pass, then developed ones and single ones: all seams are in it.
    for entrants, sets in [(6, 20), (25, 58), (30, 77)]:
        whole = chosen(entrants, sets)
        again = BalancedSelection(entrants, sets, 99, True)
        for start in range(0, sets, 3):
            assert np.array_equal(again.lineups(start, min(start + 7, sets)), whole[start : start + 7])
        assert again.lineups(4, 4).shape == (0, 5)


@pytest.mark.usefixtures("hasty")
def test_the_selection_follows_from_the_key() -> None:
    assert np.array_equal(chosen(23, 60, key=1), chosen(23, 60, key=1))
    assert not np.array_equal(chosen(23, 60, key=1), chosen(23, 60, key=2))


def test_a_million_matches_take_no_more_memory_than_their_base_blocks() -> None:
    selection = BalancedSelection(100, 200_000, 1, rotated=True)
    assert len(selection.lineups(199_990, 200_000)) == 10
    assert len(selection._plan.blocks) == 2_000
    assert len(selection._plan.single) == 0


@pytest.mark.parametrize("order", [5, 6, 25, 45, 100])
def test_what_sets_are_developed_in_is_a_group(order: int) -> None:
    group = make_group(order)
    everything = np.arange(order)
    assert (group.plus == group.plus.T).all()
    assert (group.plus[0] == everything).all()
    assert (np.sort(group.plus, axis=1) == everything).all()
    assert (group.plus[group.minus, everything] == everything[:, None]).all()
    assert (group.plus[group.plus[:, :, None], everything] == group.plus[:, group.plus]).all()
    assert (np.diag(group.kind) == 0).all()
    assert int(group.pairs[1:].sum()) == comb(order, 2)
    assert len(group.cosets()) == (order // 5 if order % 5 == 0 else 0)


def test_designs_are_what_they_say_by_counting() -> None:
    for entrants, blocks in DESIGNS.items():
        group = make_group(entrants)
        sets = [group.plus[list(block), turn] for block in blocks for turn in range(entrants)]
        sets += list(group.cosets())
        assert (meetings(np.array(sets, np.int16), entrants) == 1).all()
