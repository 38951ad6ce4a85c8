"""The table: means, blocks, ranks and faults, by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from statistics import fmean, stdev

import pytest

from services.common.matches import SeatFaults
from services.tournament.standings import Order, StandingsTable, compute_standings
from services.tournament.standings.intervals import MIN_BLOCKS
from services.tournament.standings.student import t_quantile
from tests.unit.tournament.played import played

NAMES = ("ann", "ben", "cem", "dan", "eva")
SEATS = (0, 1, 2, 3, 4)


def test_points_are_counted_for_who_sat_there() -> None:
    table = compute_standings(
        NAMES, [played(0, 0, SEATS, (8, 4, -4, -4, -4)), played(1, 0, (4, 0, 1, 2, 3), (10, 0, 0, 0, -10))]
    )
    assert [(line.name, line.points_per_deal, line.matches, line.deals) for line in table] == [
        ("ann", 4.0, 2, 2),
        ("eva", 3.0, 2, 2),
        ("ben", 2.0, 2, 2),
        ("cem", -2.0, 2, 2),
        ("dan", -7.0, 2, 2),
    ]
    assert [line.rank for line in table] == [1, 2, 3, 4, 5]


def test_the_rotations_of_one_deal_are_one_block() -> None:
    matches = [played(turn, 0, SEATS, (0,) * 5, (0,) * 5) for turn in range(5)]
    matches += [played(5 + turn, 1, SEATS, (0,) * 5, (0,) * 5) for turn in range(5)]
    (first, *_) = compute_standings(NAMES, matches)
    assert (first.matches, first.deals, first.blocks) == (10, 20, 4)


def test_the_interval_is_students_over_the_means_of_the_blocks() -> None:
    # 12 groups of one deal; ann gets these points in the five rotations.
    rotations = [[group % 5 + 2 * turn * (group % 3 - 1) for turn in range(5)] for group in range(12)]
    matches = [
        played(group * 5 + turn, group, SEATS, (points, -points, 0, 0, 0))
        for group, of_group in enumerate(rotations)
        for turn, points in enumerate(of_group)
    ]
    ann = next(line for line in compute_standings(NAMES, matches) if line.name == "ann")
    blocks = [fmean(of_group) for of_group in rotations]
    margin = t_quantile(0.975, 11) * stdev(blocks) / 12**0.5
    assert ann.points_per_deal == pytest.approx(fmean(blocks))
    assert ann.low == pytest.approx(fmean(blocks) - margin)
    assert ann.high == pytest.approx(fmean(blocks) + margin)
    # Sixty single deals would claim to know it better, or worse: they are not independent.
    single = [points for of_group in rotations for points in of_group]
    assert margin != pytest.approx(t_quantile(0.975, 59) * stdev(single) / 60**0.5, rel=0.05)


@pytest.mark.parametrize("blocks", [1, MIN_BLOCKS - 1, MIN_BLOCKS])
def test_with_too_few_blocks_there_is_no_interval(blocks: int) -> None:
    matches = [played(group, group, SEATS, (group, 0, 0, 0, -group)) for group in range(blocks)]
    ann = compute_standings(NAMES, matches)[0]
    assert ann.blocks == blocks
    assert (ann.low is None, ann.high is None) == ((blocks < MIN_BLOCKS,) * 2)


def test_a_block_that_is_not_complete_yet_weighs_as_many_deals_as_it_has() -> None:
    matches = [played(turn, 0, SEATS, (10, -10, 0, 0, 0)) for turn in range(5)]
    matches.append(played(5, 1, SEATS, (-8, 8, 0, 0, 0)))
    ann = next(line for line in compute_standings(NAMES, matches) if line.name == "ann")
    assert ann.points_per_deal == pytest.approx((5 * 10 - 8) / 6)
    assert (ann.deals, ann.blocks) == (6, 2)


def test_equal_means_share_a_rank_though_the_deals_are_not_equally_many() -> None:
    matches = [
        played(0, 0, SEATS, (1, 1, 0, 0, -2), (0, 1, 0, 0, -1), (0, -1, 0, 0, 1)),
        played(1, 1, (5, 1, 2, 3, 4), (1, 1, 0, 0, -2), (1, 0, 0, 0, -1), (-1, 0, 0, 0, 1)),
    ]
    table = compute_standings((*NAMES, "fay"), matches)
    assert [(line.rank, line.name) for line in table] == [
        (1, "ann"),  # 1 in 3 deals
        (1, "ben"),  # 2 in 6
        (1, "fay"),  # 1 in 3
        (4, "cem"),
        (4, "dan"),
        (6, "eva"),
    ]


def test_who_has_not_played_comes_last_behind_those_below_zero() -> None:
    table = compute_standings(("new", *NAMES), [played(0, 0, (1, 2, 3, 4, 5), (4, -1, -1, -1, -1))])
    assert table[-1].name == "new"
    assert (table[-1].rank, table[-1].points_per_deal, table[-1].deals, table[-1].low) == (6, 0.0, 0, None)


def test_nobody_has_played() -> None:
    table = compute_standings(NAMES, [])
    assert [(line.rank, line.name, line.blocks) for line in table] == [(1, name, 0) for name in NAMES]


def test_faults_are_added_up_for_who_made_them() -> None:
    bad = SeatFaults(timeouts=3, illegal_answers=2, disconnects=4, taken_over=True)
    good = SeatFaults()
    matches = [
        played(0, 0, SEATS, (0,) * 5, faults=(bad, good, good, good, good)),
        played(1, 0, (4, 0, 1, 2, 3), (0,) * 5, faults=(good, bad, good, good, SeatFaults(timeouts=1))),
    ]
    lines = {line.name: line for line in compute_standings(NAMES, matches)}
    ann = lines["ann"]
    assert (ann.timeouts, ann.illegal_answers, ann.disconnects, ann.takeovers, ann.faults) == (6, 4, 8, 2, 12)
    assert (lines["dan"].timeouts, lines["dan"].faults) == (1, 1)
    assert lines["ben"].faults == lines["cem"].faults == lines["eva"].faults == 0


def test_the_order_by_beans_is_another_one_and_each_has_its_own_interval() -> None:
    table = StandingsTable(NAMES, beans=True)
    for group in range(12):
        beans = (-50 * group, 40 * group, 10 * group, 0, 0)
        table.add(played(group, group, SEATS, (8, 4, -4, -4, -4), beans=[beans]))
    by_beans = table.standings(Order.BEANS)
    assert [(line.rank, line.name, line.beans) for line in by_beans] == [
        (1, "ben", 40 * 66), (2, "cem", 10 * 66), (3, "dan", 0), (3, "eva", 0), (5, "ann", -50 * 66),
    ]  # fmt: skip
    ann = by_beans[-1]
    lost = [-50 * group for group in range(12)]
    margin = t_quantile(0.975, 11) * stdev(lost) / 12**0.5
    assert ann.beans_per_deal == pytest.approx(fmean(lost))
    assert (ann.beans_low, ann.beans_high) == pytest.approx((fmean(lost) - margin, fmean(lost) + margin))
    assert (ann.points_per_deal, ann.low, ann.high, ann.points) == (8.0, 8.0, 8.0, 96)
    by_points = table.standings()
    assert [(line.rank, line.name) for line in by_points[:2]] == [(1, "ann"), (2, "ben")]
    assert {replace(line, rank=0) for line in by_points} == {replace(line, rank=0) for line in by_beans}


def test_deals_from_before_beans_were_kept_count_for_points_alone() -> None:
    table = StandingsTable(NAMES, beans=True)
    table.add(played(0, 0, SEATS, (4, -1, -1, -1, -1), (0,) * 5, beans=[None, (30, -30, 0, 0, 0)]))
    ann = table.standings(Order.BEANS)[0]
    assert (ann.name, ann.deals, ann.points_per_deal, ann.beans, ann.beans_per_deal) == ("ann", 2, 2.0, 30, 30.0)


def test_beans_beyond_64_bits_are_added_up_all_the_same() -> None:
    table = StandingsTable(NAMES, beans=True)
    for group in range(12):
        table.add(played(group, group, SEATS, (0,) * 5, beans=[(2**61, -(2**61), 0, 0, group)]))
    ann = table.standings(Order.BEANS)[0]
    assert (ann.beans, ann.beans_per_deal, ann.beans_low) == (12 * 2**61, 2.0**61, 2.0**61)


def test_titles_go_with_the_points_of_all_deals() -> None:
    table = StandingsTable(NAMES, titles=True)
    for group in range(5):
        table.add(played(group, group, SEATS, (8, 4, -4, -4, -4)))
    assert [line.title for line in table.standings()] == ["极品家丁", "家丁", "家丁", "家丁", "家丁"]
    assert [line.title for line in compute_standings(NAMES, [])] == [""] * 5
    assert [line.beans for line in table.standings()] == [None] * 5


def test_a_match_with_two_results_is_refused_and_counts_once() -> None:
    table = StandingsTable(NAMES)
    table.add(played(3, 0, SEATS, (4, -1, -1, -1, -1)))
    with pytest.raises(ValueError, match="Match 3 has two results"):
        table.add(played(3, 0, SEATS, (4, -1, -1, -1, -1)))
    assert table.standings()[0].deals == 1


@pytest.mark.parametrize("entrants", [(0, 1, 2, 3, 5), (-1, 1, 2, 3, 4)])
def test_an_entrant_that_does_not_exist_is_refused_before_anything_is_counted(entrants: tuple[int, ...]) -> None:
    table = StandingsTable(NAMES)
    with pytest.raises(ValueError, match="there are 5"):
        table.add(played(0, 0, entrants, (0,) * 5))
    assert all(line.matches == 0 for line in table.standings())


def test_the_table_can_be_had_at_any_time() -> None:
    table = StandingsTable(NAMES)
    table.add(played(0, 0, SEATS, (4, -1, -1, -1, -1)))
    assert table.standings()[0].name == "ann"
    table.add(played(1, 1, SEATS, (-9, 9, 0, 0, 0)))
    assert table.standings()[0].name == "ben"


@pytest.mark.parametrize(
    ("freedom", "quantile"),  # tables of the t distribution, 97.5 %
    [(1, 12.7062), (2, 4.3027), (3, 3.1824), (4, 2.7764), (5, 2.5706), (10, 2.2281), (30, 2.0423), (120, 1.9799)],
)
def test_quantiles_are_those_of_the_printed_tables(freedom: int, quantile: float) -> None:
    assert t_quantile(0.975, freedom) == pytest.approx(quantile, abs=5e-5)


def test_quantiles_go_on_smoothly_to_those_of_the_normal_distribution() -> None:
    near = [t_quantile(0.975, freedom) for freedom in range(295, 307)]
    steps = [one - other for one, other in pairwise(near)]
    assert all(0 < step < 1e-4 for step in steps)
    assert max(steps) < 1.1 * min(steps)
    assert t_quantile(0.975, 10**9) == pytest.approx(1.959963985)
