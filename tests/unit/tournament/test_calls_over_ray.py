"""Calls to a match service over Ray: whichever way one fails, its director plays what was there elsewhere."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from ray.exceptions import (
    ActorDiedError,
    ActorUnavailableError,
    NodeDiedError,
    ObjectLostError,
    OwnerDiedError,
    RayTaskError,
)

from services.common.errors import PlatformError, Reason
from services.tournament.actor import RayMatchService
from services.tournament.director import MatchServiceLost

LOST = [
    ActorDiedError(),
    ActorUnavailableError("away", None),
    NodeDiedError("gone"),
    # What is too large to travel within an answer stays on its node until it is fetched.
    ObjectLostError("00", None, ""),
    OwnerDiedError("00", None, ""),
    PlatformError(Reason.UNREACHABLE, "restarted since"),
    RayTaskError("submit", "", PlatformError(Reason.UNREACHABLE, "restarted since")).as_instanceof_cause(),
]


def service(error: Exception) -> RayMatchService:
    """A match service all of whose calls end so."""

    async def fail(*_: object) -> Any:
        raise error

    call = SimpleNamespace(remote=fail)
    return RayMatchService("m1", SimpleNamespace(withdraw=call, submit=call, collect=call, missing=call))


@pytest.mark.parametrize("error", LOST, ids=lambda error: type(error).__name__)
async def test_a_call_that_fails_is_a_loss(error: Exception) -> None:
    lost = service(error)
    for call in (lost.withdraw("cup"), lost.submit([]), lost.collect("cup", 0, 0.0, 1), lost.missing([], 0.0)):
        with pytest.raises(MatchServiceLost):
            await call


async def test_a_fault_of_ours_is_none() -> None:
    """It would come again wherever the matches go: the tournament pauses, and says so."""
    fault = RayTaskError("submit", "", KeyError("x")).as_instanceof_cause()
    with pytest.raises(KeyError):
        await service(fault).submit([])
