"""Whatever the bytes: a reader gives what it read, or raises the one kind of error that it documents."""

from __future__ import annotations

from functools import cache
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .every_target import TARGETS
from .inputs import spoilt, spoilt_text

EXAMPLES = 120


@cache
def seeds_of(name: str) -> tuple[bytes, ...]:
    return tuple(TARGETS[name].seeds())


def strange(name: str, number: int) -> bytes:
    """A seed that was spoilt, once or several times over."""
    rng = Random(number)
    seeds = seeds_of(name)
    seed = rng.choice(seeds)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        if TARGETS[name].is_text:
            seed = spoilt_text(seed.decode("utf-8", "replace"), rng).encode("utf-8", "replace")
        else:
            seed = spoilt(seed, rng, seeds)
    return seed


@pytest.mark.parametrize("name", TARGETS)
def test_what_is_right_is_read(name: str) -> None:
    for seed in seeds_of(name):
        TARGETS[name].run(seed)


@pytest.mark.timeout(600)  # for all inputs together, some of which are played against a match service
@pytest.mark.parametrize("name", TARGETS)
@settings(max_examples=EXAMPLES)
@given(data=st.binary(max_size=200), number=st.integers(0, 2**32))
def test_what_is_wrong_is_refused_as_documented(name: str, data: bytes, number: int) -> None:
    TARGETS[name].run(data)
    TARGETS[name].run(strange(name, number))
