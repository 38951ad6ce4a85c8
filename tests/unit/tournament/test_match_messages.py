"""What is told of a match that was played."""

from __future__ import annotations

from datetime import UTC, datetime

from services.common.matches import Ending, SeatFaults
from services.ledger.values import Result
from services.tournament.servicer.messages import match_to_proto
from services.tournament.servicer.plans import make_plan
from services.tournament.spec import parse_spec

SPEC = """\
name: cup
profile: classic
bots: [ann, ben, cem, dan, eva]
schedule: full
duplicate: none
deals: 1
seed: s
"""
NONE = SeatFaults()


def test_it_says_who_did_what() -> None:
    plan = make_plan(parse_spec(SPEC))
    names = [plan.spec.players[index] for index in plan.schedule.match(0).entrants]
    at = datetime(2026, 5, 4, tzinfo=UTC)
    taken_over, gone, illegal = (
        SeatFaults(timeouts=2, taken_over=True),
        SeatFaults(disconnects=3),
        SeatFaults(illegal_answers=1),
    )
    faults = (NONE, taken_over, NONE, gone, illegal)
    result = Result(0, "m-0", Ending.COMPLETED_WITH_FAULTS, (1, 4), (), faults, 100, at, at, "match-1")
    told = match_to_proto(result, plan)
    assert list(told.names) == names
    assert list(told.faults) == [f"{names[1]}: 2 timeouts, taken over", f"{names[4]}: 1 illegal answer"]
