"""What spoiled deals are worth in the table: the faulty bot pays by the rule, the others neither gain nor lose."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest

from bots_sdk.rules.profiles import make_options
from services.common.matches import FaultRules, FaultScore, OthersScore, SeatFaults
from services.tournament.standings import Order, PlayedMatch, Standing, StandingsTable, bean_unit, compute_standings
from tests.unit.tournament.played import played

NAMES = ("ann", "ben", "cem", "dan", "eva")
SEATS = (0, 1, 2, 3, 4)
PENALTY = FaultRules(score=FaultScore.PENALTY, penalty=2)
FORFEIT = FaultRules(score=FaultScore.FORFEIT, forfeit=6)


def spoil(match: PlayedMatch, deal: int, *seats: int, faults: tuple[int, ...] | None = None) -> PlayedMatch:
    """The match with one deal spoiled by these seats, with a timeout each unless told."""
    wrong = faults or tuple(int(seat in seats) for seat in SEATS)
    deals = list(match.deals)
    deals[deal] = replace(deals[deal], spoiled=seats, faults=wrong)
    timeouts = [SeatFaults(timeouts=had.timeouts + new) for had, new in zip(match.faults, wrong, strict=True)]
    return replace(match, deals=tuple(deals), faults=tuple(timeouts))  # type: ignore[arg-type]  # five of them


def lines(matches: list[PlayedMatch], rules: FaultRules | None = None) -> dict[str, Standing]:
    return {line.name: line for line in compute_standings(NAMES, matches, rules)}


ROTATIONS = [
    played(turn, 0, SEATS[-turn:] + SEATS[:-turn], (8, 4, -4, -4, -4), (3, 3, -2, -2, -2)) for turn in range(5)
]
"""Five matches with the same two deals; the bots move on by one seat each time."""


@pytest.mark.parametrize("score", FaultScore)
@pytest.mark.parametrize("others", OthersScore)
def test_without_spoiled_deals_every_rule_gives_the_same_table(score: FaultScore, others: OthersScore) -> None:
    assert lines(ROTATIONS, FaultRules(score=score, others=others)) == lines(ROTATIONS)


def test_the_others_lose_the_spoiled_deal_in_all_its_rotations() -> None:
    matches = [spoil(ROTATIONS[0], 0, 2), *ROTATIONS[1:]]
    table = lines(matches)
    for name in ("ann", "ben", "dan", "eva"):
        line = table[name]
        assert (line.deals, line.counted, line.blocks) == (10, 5, 1)
        # Only the second deal is left, and everybody had every hand of it once.
        assert line.points_per_deal == 0.0
    cem = table["cem"]
    assert (cem.deals, cem.counted, cem.blocks, cem.spoiled, cem.points) == (10, 10, 2, 1, 0)


def test_left_out_in_one_match_only_the_hands_do_not_even_out() -> None:
    """That is what `block` is for: ann loses a good hand by it, and cem may have meant her to."""
    table = lines([spoil(ROTATIONS[0], 0, 2), *ROTATIONS[1:]], FaultRules(others=OthersScore.DEAL))
    assert [(table[name].counted, table[name].points) for name in NAMES] == [(9, -8), (9, -4), (10, 0), (9, 4), (9, 4)]


def test_counted_as_played_nothing_is_left_out() -> None:
    table = lines([spoil(ROTATIONS[0], 0, 2), *ROTATIONS[1:]], FaultRules(others=OthersScore.PLAYED))
    assert {(line.counted, line.points) for line in table.values()} == {(10, 0)}
    assert table["cem"].spoiled == 1


def test_each_of_several_faulty_bots_pays_and_spares_only_the_others() -> None:
    match = spoil(played(0, 0, SEATS, (8, 4, -4, -4, -4)), 0, 0, 2)
    table = lines([match], PENALTY)
    assert [(table[name].counted, table[name].points, table[name].points_paid) for name in NAMES] == [
        (1, 6, 2), (0, 0, 0), (1, -6, 2), (0, 0, 0), (0, 0, 0),
    ]  # fmt: skip


def test_a_bot_pays_for_its_own_faults_also_in_a_block_that_another_spoiled() -> None:
    first = spoil(played(0, 0, SEATS, (8, 4, -4, -4, -4)), 0, 0)
    second = spoil(played(1, 0, (4, 0, 1, 2, 3), (8, 4, -4, -4, -4)), 0, 2)  # ben sits there
    table = lines([first, second, played(2, 0, (3, 4, 0, 1, 2), (8, 4, -4, -4, -4))])
    # ann: 8 where she was at fault; the rest of the block is left out because of ben.
    assert (table["ann"].counted, table["ann"].points) == (1, 8)
    assert (table["ben"].counted, table["ben"].points) == (1, -4)
    assert {table[name].counted for name in ("cem", "dan", "eva")} == {0}


def test_a_penalty_is_paid_for_every_fault_and_at_least_one_for_a_spoiled_deal() -> None:
    deals = ((0, 0, 0, 0, 0),) * 3
    match = spoil(played(0, 0, SEATS, *deals), 0, 1, faults=(0, 3, 0, 0, 0))
    match = spoil(match, 1, 1, faults=(0, 0, 0, 0, 0))  # a house bot plays on
    ben = lines([match], PENALTY)["ben"]
    assert (ben.points, ben.points_paid, ben.counted, ben.spoiled) == (-8, 8, 3, 2)
    assert ben.points_per_deal == pytest.approx(-8 / 3)


def test_a_mended_illegal_answer_costs_a_penalty_and_leaves_nobody_out() -> None:
    match = spoil(played(0, 0, SEATS, (8, 4, -4, -4, -4)), 0, faults=(2, 0, 0, 0, 0))
    table = lines([match], PENALTY)
    assert [(table[name].counted, table[name].points) for name in NAMES] == [(1, 4), (1, 4), (1, -4), (1, -4), (1, -4)]
    assert lines([match], FORFEIT)["ann"].points == 8, "nothing was spoiled"


@pytest.mark.parametrize(("points", "left", "paid"), [(8, -6, 14), (-4, -6, 2), (-6, -8, 2), (-12, -14, 2)])
def test_a_forfeit_costs_a_penalty_also_where_more_was_lost_already(points: int, left: int, paid: int) -> None:
    match = spoil(played(0, 0, SEATS, (points, -points, 0, 0, 0)), 0, 0)
    ann = lines([match], FORFEIT)["ann"]
    assert (ann.points, ann.points_paid) == (left, paid)


def test_beans_are_paid_and_left_out_likewise() -> None:
    for rules, left, paid in ((PENALTY, 40, 10), (FORFEIT, -30, 80)):
        table = StandingsTable(NAMES, beans=True, faults=rules, bean_unit=5)
        table.add(spoil(played(0, 0, SEATS, (8, 4, -4, -4, -4), beans=[(50, 10, -20, -20, -20)]), 0, 0))
        table.add(played(1, 1, SEATS, (0,) * 5, beans=[(0,) * 5]))
        by_beans = {line.name: line for line in table.standings(Order.BEANS)}
        assert (by_beans["ann"].beans, by_beans["ann"].beans_paid) == (left, paid)
        assert (by_beans["ben"].beans, by_beans["ben"].beans_per_deal, by_beans["ben"].counted) == (0, 0.0, 1)


def test_a_point_is_worth_the_lowest_stakes_in_the_room() -> None:
    assert bean_unit(make_options("qingdao", {"beans": True, "room": 50, "stakes": [2, 5]})) == 50 * 2**5
    assert bean_unit(make_options("qingdao", {})) == 1


def test_whose_deals_were_all_spoiled_by_another_is_placed_at_zero_and_not_last() -> None:
    table = compute_standings(NAMES, [spoil(played(0, 0, SEATS, (8, 4, -4, -4, -4)), 0, 4)])
    assert [(line.rank, line.name, line.points_per_deal) for line in table][-1] == (5, "eva", -4.0)
    assert [(line.rank, line.counted, line.deals) for line in table][:4] == [(1, 0, 1)] * 4


def test_the_order_of_the_results_changes_nothing() -> None:
    matches = [spoil(ROTATIONS[0], 0, 2), spoil(ROTATIONS[1], 0, 0), ROTATIONS[2], spoil(ROTATIONS[3], 1, 4)]
    for rules in (None, PENALTY, FORFEIT, FaultRules(others=OthersScore.DEAL)):
        tables = {tuple(compute_standings(NAMES, order, rules)) for order in permutations(matches)}
        assert len(tables) == 1


def test_the_interval_is_that_of_the_counted_blocks() -> None:
    clean = [played(group, group, SEATS, (group % 3, -(group % 3), 0, 0, 0)) for group in range(12)]
    spoiled = [spoil(played(12 + group, 12 + group, SEATS, (90, -90, 0, 0, 0)), 0, 1) for group in range(5)]
    alone, beside = lines(clean)["ann"], lines(clean + spoiled)["ann"]
    assert (beside.low, beside.high, beside.points_per_deal) == (alone.low, alone.high, alone.points_per_deal)
    assert (beside.blocks, beside.counted, beside.deals) == (12, 12, 17)
