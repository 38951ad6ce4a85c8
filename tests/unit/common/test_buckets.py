"""Buckets: bursts, refilling, waiting, and memory that stays bounded."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.common.buckets import Bucket, Buckets, Rate


def test_a_burst_passes_and_the_next_one_waits() -> None:
    # given a bucket for 3 at once and 2 a second
    bucket = Bucket(Rate(2.0, 3), now=100.0)

    # when four come at once
    waits = [bucket.try_take(100.0) for _ in range(4)]

    # then the fourth waits for half a second, and passes after it
    assert waits == [0.0, 0.0, 0.0, 0.5]
    assert bucket.try_take(100.5) == 0.0
    assert bucket.try_take(100.5) == 0.5


def test_a_refused_take_costs_nothing() -> None:
    bucket = Bucket(Rate(1.0, 1), now=0.0)
    bucket.try_take(0.0)
    for _ in range(50):
        assert bucket.try_take(0.25) == 0.75
    assert bucket.try_take(1.0) == 0.0


def test_more_than_a_burst_passes_a_full_bucket_and_is_paid_back() -> None:
    bucket = Bucket(Rate(1.0, 2), now=0.0)
    assert bucket.try_take(0.0, 5) == 0.0
    assert bucket.try_take(0.0) == pytest.approx(4.0)


def test_time_that_goes_backwards_refills_nothing() -> None:
    bucket = Bucket(Rate(1.0, 1), now=10.0)
    bucket.try_take(10.0)
    assert bucket.try_take(5.0) == 1.0


def test_keys_do_not_touch_each_other_and_asking_remembers_nothing() -> None:
    buckets: Buckets[str] = Buckets(Rate(1.0, 1))
    assert buckets.wait("a", 0.0) == 0.0
    assert len(buckets) == 0
    assert buckets.try_take("a", 0.0) == 0.0
    assert buckets.try_take("b", 0.0) == 0.0
    assert buckets.wait("a", 0.0) == buckets.try_take("a", 0.0) == 1.0
    buckets.forget("a")
    assert buckets.try_take("a", 0.0) == 0.0


def test_memory_is_bounded_by_the_limit_and_full_buckets_are_forgotten() -> None:
    # given buckets for at most 10 keys
    buckets: Buckets[int] = Buckets(Rate(1.0, 1), limit=10)

    # when a thousand come at once, then never more than ten are kept
    for key in range(1000):
        buckets.try_take(key, 0.0)
        assert len(buckets) <= 10

    # when they are full again, then others that come push them out, two at a time
    for key in range(5):
        buckets.try_take(-1 - key, 100.0)
    assert len(buckets) <= 6


@pytest.mark.parametrize("rate", [(0.0, 1.0), (1.0, 0.0), (-1.0, 5.0), (float("nan"), 1.0)])
def test_a_rate_that_never_lets_anybody_in_is_refused(rate: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="rate"):
        Rate(*rate)


@given(
    per_second=st.floats(0.01, 1000.0),
    burst=st.integers(1, 100),
    steps=st.lists(st.floats(0.0, 10.0), min_size=1, max_size=200),
)
def test_no_span_of_time_lets_more_pass_than_the_rate_and_one_burst(
    per_second: float, burst: int, steps: list[float]
) -> None:
    bucket = Bucket(Rate(per_second, burst), now=0.0)
    now, passed = 0.0, 0
    for step in steps:
        now += step
        wait = bucket.try_take(now)
        if wait == 0.0:
            passed += 1
        else:
            # what is told to wait may come in after exactly that long
            now += wait
            assert bucket.try_take(now) == pytest.approx(0.0, abs=1e-6)
            passed += 1
        assert passed <= burst + now * per_second + 1e-6 * passed
