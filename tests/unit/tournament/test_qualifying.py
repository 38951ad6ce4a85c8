"""Who goes on from pools: exact means, ties down to the lot, excluded bots, places that nobody is left for."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from random import Random

import pytest

from services.common.qualifiers import Qualifier, Way
from services.tournament.standings import PoolMember, StandingsTable, qualify

from .played import played


def member(
    name: str, pool: int, mean: Fraction | int | None, faults: int = 0, lot: bytes = b"", out: bool = False
) -> PoolMember:
    return PoolMember(name, pool, None if mean is None else Fraction(mean), faults, lot or name.encode(), out)


MEMBERS = [
    *(member(name, 1, mean) for name, mean in (("ann", 5), ("ben", 4), ("cem", 3), ("dan", -12))),
    *(member(name, 2, mean) for name, mean in (("eva", 2), ("fay", 1), ("gus", 0), ("hal", -3))),
]


def names(found: Sequence[Qualifier]) -> list[str]:
    return [one.name for one in found]


def test_the_first_of_each_pool_go_on_and_the_best_of_the_rest() -> None:
    assert qualify(MEMBERS, advance=2, places=6) == (
        Qualifier("ann", 1, 1, Way.PLACED),
        Qualifier("ben", 1, 2, Way.PLACED),
        Qualifier("eva", 2, 1, Way.PLACED),
        Qualifier("fay", 2, 2, Way.PLACED),
        Qualifier("cem", 1, 3, Way.REST),
        Qualifier("gus", 2, 3, Way.REST),
    )


def test_means_are_compared_exactly() -> None:
    """Given two means that are one and the same float, when they are compared, then the greater one still wins."""
    third = Fraction(1, 3)
    more = third + Fraction(1, 10**30)
    assert float(more) == float(third)
    close = [member("ann", 1, third), member("zoe", 1, more), member("low", 1, 0)]
    assert names(qualify(close, advance=1, places=1)) == ["zoe"]


def test_of_equal_means_the_one_with_fewer_faults_then_the_lot() -> None:
    tied = [member("ann", 1, 1, faults=1, lot=b"0"), member("ben", 1, 1, lot=b"2"), member("cem", 1, 1, lot=b"1")]
    assert names(qualify(tied, advance=3, places=3)) == ["cem", "ben", "ann"]
    assert [one.rank for one in qualify(tied, advance=3, places=3)] == [1, 2, 3]


def test_whoever_has_played_nothing_comes_last() -> None:
    assert names(qualify([member("ann", 1, None), member("ben", 1, -100)], advance=1, places=1)) == ["ben"]


def test_the_order_of_the_bots_changes_nothing() -> None:
    for seed in range(20):
        shuffled = Random(seed).sample(MEMBERS, len(MEMBERS))
        assert qualify(shuffled, advance=1, places=5) == qualify(MEMBERS, advance=1, places=5)


def test_an_excluded_bot_keeps_its_rank_and_gets_no_place() -> None:
    out = [member(one.name, one.pool, one.mean, out=one.name in ("ann", "fay")) for one in MEMBERS]
    assert qualify(out, advance=1, places=3) == (
        Qualifier("ben", 1, 2, Way.PLACED),
        Qualifier("eva", 2, 1, Way.PLACED),
        Qualifier("cem", 1, 3, Way.REST),
    )


def test_a_pool_without_enough_bots_leaves_its_places_to_the_others() -> None:
    out = [member(one.name, one.pool, one.mean, out=one.pool == 1 and one.name != "dan") for one in MEMBERS]
    found = qualify(out, advance=2, places=4)
    assert [(one.name, one.way) for one in found] == [
        ("eva", Way.PLACED),
        ("fay", Way.PLACED),
        ("dan", Way.PLACED),
        ("gus", Way.REST),
    ]


def test_a_place_that_nobody_is_left_for_stays_vacant() -> None:
    out = [member(one.name, one.pool, one.mean, out=one.name != "hal") for one in MEMBERS]
    found = qualify(out, advance=2, places=3)
    assert [(one.name, one.plays) for one in found] == [("hal", True), ("ann", False), ("ben", False)]
    with pytest.raises(ValueError, match="2 bots for 3 places"):
        qualify(out[:2], advance=1, places=3)


def test_the_means_of_a_table_are_those_it_orders_by() -> None:
    draw, table = Random(5), StandingsTable([f"bot-{index}" for index in range(8)])
    for number in range(40):
        entrants = draw.sample(range(8), 5)
        table.add(played(number, number // 2, entrants, [draw.randint(-1, 1) for _ in range(5)]))
    means = table.means()
    best_first = [line.name for line in table.standings()]
    assert best_first == sorted(best_first, key=lambda name: (-(means[int(name[4:])] or 0), name))
    for line in table.standings():
        assert float(means[int(line.name[4:])] or 0) == pytest.approx(line.points_per_deal)
    assert StandingsTable(["a"]).means() == [None]
