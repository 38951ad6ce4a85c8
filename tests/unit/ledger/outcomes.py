"""Outcomes for the tests of the ledger: each differs from the others in every field that the ledger must keep."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from bots_sdk.rules.events import SoloKind
from services.common.matches import DealScore, Ending, MatchOutcome, SeatFaults

START = datetime(2026, 11, 30, 12, 0, 0, 123456, tzinfo=UTC)
CLEAN = SeatFaults()


def make_deal(match: int, deal: int) -> DealScore:
    """A deal with a guard, or with a solo emperor when the numbers come out even."""
    solo = SoloKind((match + deal) % 3 + 1) if (match + deal) % 2 == 0 else None
    return DealScore(
        number=deal,
        points=(match + deal, -match, -deal, 3, -3),
        places=(4, 2, 0, 1, 3),
        emperor=(match + deal) % 5,
        guard=None if solo else (match + deal + 1) % 5,
        solo=solo,
        voided=deal % 2,
        beans=(7 * match, -deal, 2**62, 1 - 2**62, 0) if match % 2 else None,
        spoiled=((), (match % 5,), (0, 4))[(match + deal) % 3],
        faults=((0,) * 5, (match, 0, deal, 0, 1))[(match + deal) % 2],
    )


def make_outcome(
    number: int, *, deals: int = 2, faults: dict[int, SeatFaults] | None = None, **changes: Any
) -> MatchOutcome:
    """The outcome of an attempt at a match of the tournament "cup", its first and completed; `changes` are fields."""
    seats = faults or {}
    start = START + timedelta(minutes=number)
    outcome = MatchOutcome(
        tournament="cup",
        number=number,
        attempt=f"first-{number}",
        ending=Ending.COMPLETED,
        blamed=(),
        message="",
        deals=tuple(make_deal(number, deal) for deal in range(1, deals + 1)),
        faults=tuple(seats.get(seat, CLEAN) for seat in range(5)),  # type: ignore[arg-type]  # five of them
        decisions=100 + number,
        started_at=start,
        ended_at=start + timedelta(seconds=7, microseconds=1),
        match_service="match-1",
    )
    outcome = replace(outcome, **changes)
    return outcome if outcome.ending.counts else replace(outcome, deals=())
