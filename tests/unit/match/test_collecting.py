"""Outcomes go to a director some at a time, and none of them waits long for the others."""

from __future__ import annotations

import asyncio
import time

import pytest

from services.common.clock import SystemClock
from services.common.metrics import MatchMetrics
from services.match import service as module
from services.match.service import MatchService, MatchServiceSettings
from tests.misbehaving.raw_bot import KEY, order_of

LONG = 600.0


@pytest.fixture
async def service() -> MatchService:
    """One that does not listen, and plays house bots alone."""
    return MatchService(MatchServiceSettings(name="m1", ticket_key=KEY), MatchMetrics(), SystemClock())


async def collect(service: MatchService, confirmed: int, wait: float, enough: int) -> list[int]:
    async with asyncio.timeout(60):
        return [number for number, _ in await service.collect("t", confirmed, wait, enough)]


async def test_outcomes_come_together_when_enough_are_wanted(
    service: MatchService, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given three matches that end one after the other, and all the time in the world,
    monkeypatch.setattr(module, "GATHER_S", LONG)
    await service.submit([order_of(attempt=name) for name in ("one", "two", "three")])
    # when three are wanted, then three come at once, and those confirmed are not counted.
    assert await collect(service, 0, LONG, 3) == [1, 2, 3]
    await service.submit([order_of(attempt=name) for name in ("four", "five")])
    assert await collect(service, 3, LONG, 2) == [4, 5]


async def test_one_that_is_wanted_alone_waits_for_nobody(
    service: MatchService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "GATHER_S", LONG)
    await service.submit([order_of(attempt="one"), order_of("nobody", attempt="two")])
    assert await collect(service, 0, LONG, 1) == [1]


async def test_what_is_there_goes_when_the_others_do_not_come(
    service: MatchService, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given a match that ends and one that does not, when both are wanted,
    monkeypatch.setattr(module, "GATHER_S", 0.05)
    await service.submit([order_of(attempt="one"), order_of("nobody", attempt="two")])
    begun = time.monotonic()
    # then the first one comes after a moment, and not at once.
    assert await collect(service, 0, LONG, 2) == [1]
    assert time.monotonic() - begun >= 0.05


async def test_no_time_to_wait_is_none(service: MatchService) -> None:
    await service.submit([order_of("nobody", attempt="one")])
    assert await collect(service, 0, 0, 5) == []


async def test_whoever_waits_for_more_learns_of_a_withdrawal(
    service: MatchService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "GATHER_S", LONG)
    await service.submit([order_of(attempt="one"), order_of("nobody", attempt="two")])
    assert await collect(service, 0, LONG, 1) == [1]
    waiting = asyncio.create_task(collect(service, 0, LONG, 2))
    await asyncio.sleep(0)
    await service.withdraw("t")
    assert await waiting == []
