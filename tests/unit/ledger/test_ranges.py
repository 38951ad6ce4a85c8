"""Sets of match numbers as ranges behave as sets, and stay small."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.ledger.ranges import Ranges

NUMBERS = st.sets(st.integers(0, 60))


@given(NUMBERS, st.integers(0, 70))
def test_they_behave_as_the_set_of_their_numbers(numbers: set[int], count: int) -> None:
    ranges = Ranges(sorted(numbers))
    assert list(ranges) == sorted(numbers)
    assert len(ranges) == len(numbers)
    assert [number for number in range(70) if number in ranges] == sorted(numbers)
    assert list(ranges.missing(count)) == [number for number in range(count) if number not in numbers]


@given(NUMBERS)
def test_runs_neither_touch_nor_are_empty(numbers: set[int]) -> None:
    runs = list(Ranges(sorted(numbers)).runs())
    assert all(runs)
    assert all(left.stop < right.start for left, right in pairwise(runs))


def test_a_number_twice_is_one() -> None:
    assert Ranges([1, 1, 2, 2]) == Ranges([1, 2])


def test_a_wrong_order_is_refused() -> None:
    with pytest.raises(ValueError, match="1 comes after 3"):
        Ranges([3, 1])


def test_nothing_but_whole_numbers_is_in_them() -> None:
    assert "1" not in Ranges([1])


def test_they_show_their_runs() -> None:
    assert repr(Ranges([0, 1, 2, 7])) == "Ranges(0-2, 7)"
