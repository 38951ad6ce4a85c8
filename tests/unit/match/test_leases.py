"""Calls of a director that is no more, beside those of the next one."""

from __future__ import annotations

import asyncio

import pytest

from services.common.clock import SystemClock
from services.common.errors import PlatformError, Reason
from services.common.matches import Ending, MatchOrder
from services.common.metrics import MatchMetrics
from services.match.leases import Leases
from services.match.service import MatchService, MatchServiceSettings
from tests.misbehaving.raw_bot import KEY, order_of


def house_order(attempt: str) -> MatchOrder:
    """A match that is played at once: only house bots."""
    return order_of(attempt=attempt)


@pytest.fixture
async def service() -> MatchService:
    """One that does not listen."""
    return MatchService(MatchServiceSettings(name="m1", ticket_key=KEY), MatchMetrics(), SystemClock())


@pytest.mark.parametrize("wait", [0.05, 600.0], ids=["its time is up", "it has time left"])
async def test_a_call_of_the_director_before_takes_nothing_from_the_next(service: MatchService, wait: float) -> None:
    before = asyncio.create_task(service.collect("t", confirmed=100, wait=wait))
    await asyncio.sleep(0)
    await service.withdraw("t")
    await service.submit([house_order("one"), house_order("two")])
    async with asyncio.timeout(60):
        assert await before == []
        found = await service.collect("t", 0, 50.0)
        if len(found) == 1:
            found += await service.collect("t", 1, 50.0)
    assert [(number, outcome.ending) for number, outcome in found] == [(1, Ending.COMPLETED), (2, Ending.COMPLETED)]


async def test_what_a_withdrawn_match_ends_with_is_for_nobody(service: MatchService) -> None:
    before = asyncio.create_task(service.collect("t", 0, 600.0))
    await service.submit([order_of("somebody")])
    await asyncio.sleep(0)
    await service.withdraw("t")
    async with asyncio.timeout(60):
        assert await before == []
    assert await service.collect("t", 0, 0) == []


def refused(leases: Leases, lease: str, *tournaments: str) -> str:
    with pytest.raises(PlatformError) as caught:
        leases.verify(lease, tournaments)
    assert caught.value.reason is Reason.UNREACHABLE
    return caught.value.message


def test_the_director_that_began_last_speaks_for_its_tournament() -> None:
    leases = Leases("m1", "life")
    other = leases.grant("mug")
    before = leases.grant("cup")
    leases.verify(before, ["cup"])
    now = leases.grant("cup")
    leases.verify(now, ["cup"])
    leases.verify(other, ["mug"])
    assert "Another director has begun at m1" in refused(leases, before, "cup")
    assert "Another director" in refused(leases, now, "cup", "mug")
    leases.verify_life(before)


def test_no_lease_outlives_a_restart() -> None:
    before = Leases("m1", "life").grant("cup")
    after = Leases("m1", "next life")
    after.grant("cup")
    assert "m1 was restarted" in refused(after, before, "cup")
    with pytest.raises(PlatformError, match="m1 was restarted"):
        after.verify_life(before)
    assert "restarted" in refused(after, "", "cup")
