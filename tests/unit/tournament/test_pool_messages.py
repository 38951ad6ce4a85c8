"""Pools and finals as messages of the protocol: the plan of each stage, who has gone on, whose table it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import grpc.aio
import pytest

from baohuang.tournament.v1 import tournament_service_pb2 as pb
from services.common.errors import PlatformError, Reason
from services.common.matches import DealScore, Ending, MatchOutcome, SeatFaults
from services.ledger.ledger import Ledger
from services.tournament.schedule import PoolSchedule
from services.tournament.servicer import Desk, DirectorPort, TournamentServicer
from services.tournament.servicer.messages import plan_to_proto
from services.tournament.servicer.plans import Plan, make_plan
from services.tournament.servicer.promotion import qualify_from
from services.tournament.spec import format_spec, parse_spec

BOTS = [f"bot-{index:02}" for index in range(13)]
SPEC = f"""\
name: cup
profile: qingdao
bots: [{", ".join(BOTS)}]
schedule: {{kind: pool, pools: 2, draw: snake, each: full, advance: 3, rest: 1, final: {{kind: full, repeats: 2}}}}
duplicate: none
deals: 3
seed: secret
"""
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
CONTEXT: grpc.aio.ServicerContext = None  # type: ignore[type-arg, assignment]  # nothing is asked of it


@pytest.fixture
def plan() -> Plan:
    return make_plan(parse_spec(SPEC))


@pytest.fixture
def ledger(tmp_path: Path, plan: Plan) -> Iterator[Ledger]:
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        ledger.create_tournament("cup", format_spec(replace(plan.spec, seed=None)), b"secret")
        yield ledger


@pytest.fixture
async def servicer(ledger: Ledger) -> TournamentServicer:
    def launch(name: str) -> DirectorPort:
        raise AssertionError(f"nobody starts {name} here")

    return TournamentServicer(Desk(ledger, launch, lambda: "seed"))


def outcome(plan: Plan, number: int) -> MatchOutcome:
    """Who has the higher number is better."""
    entrants = plan.schedule.match(number).entrants
    points = tuple(5 * entrant - sum(entrants) for entrant in entrants)
    none = SeatFaults()
    deals = tuple(DealScore(deal, points, (0, 1, 2, 3, 4), 0, 1, None) for deal in range(3))
    return MatchOutcome(
        "cup", number, f"first-{number}", Ending.COMPLETED, (), "", deals, (none,) * 5, 100, NOW, NOW
    )  # fmt: skip


def play_pools(ledger: Ledger, plan: Plan) -> None:
    ledger.record([outcome(plan, number) for number in range(plan.schedule.known)])


def settle(ledger: Ledger, plan: Plan) -> list[str]:
    assert isinstance(plan.schedule, PoolSchedule)
    return [one.name for one in ledger.qualify("cup", qualify_from(ledger, plan.spec, plan.schedule, ()), ())]


def test_the_plan_says_what_each_stage_comes_to(plan: Plan) -> None:
    told = plan_to_proto(plan)
    pools, final = told.stages
    assert (told.matches, told.deals) == (27 + 42, 3 * (27 + 42))
    assert (pools.stage, pools.first_match, pools.plan.matches) == (1, 0, 21 + 6)
    assert (final.stage, final.first_match, final.plan.matches) == (2, 27, 42)
    assert [list(pool.entrants) for pool in pools.pools] == [
        [BOTS[index] for index in (0, 3, 4, 7, 8, 11, 12)],
        [BOTS[index] for index in (1, 2, 5, 6, 9, 10)],
    ]
    assert (final.places, final.advance, final.rest) == (7, 3, 1)
    assert not final.plan.entrants
    assert not final.pools
    assert (final.plan.meetings_min, final.plan.meetings_max) == (20, 20)
    assert (pools.plan.matches_per_entrant.min, pools.plan.matches_per_entrant.max) == (5, 15)
    # What is not about sums is of the pools: that is certain for everybody.
    assert (told.meetings_min, told.meetings_max) == (pools.plan.meetings_min, pools.plan.meetings_max) == (4, 10)


async def test_a_table_says_its_stage_and_its_pools(servicer: TournamentServicer, ledger: Ledger, plan: Plan) -> None:
    play_pools(ledger, plan)
    table = await servicer.GetStandings(pb.GetStandingsRequest(name="cup"), CONTEXT)
    assert (table.stage, table.stages) == (1, 2)
    assert [line.pool for line in table.standings] == [1] * 7 + [2] * 6
    assert [line.rank for line in table.standings] == [*range(1, 8), *range(1, 7)]
    assert not any(line.qualified for line in table.standings)
    finalists = settle(ledger, plan)
    pools = await servicer.GetStandings(pb.GetStandingsRequest(name="cup", stage=1), CONTEXT)
    assert {line.name for line in pools.standings if line.qualified} == set(finalists)
    final = await servicer.GetStandings(pb.GetStandingsRequest(name="cup"), CONTEXT)
    assert (final.stage, final.stages) == (2, 2)
    assert {line.name for line in final.standings} == set(finalists)
    assert not any(line.qualified or line.pool for line in final.standings)
    assert await servicer.GetStandings(pb.GetStandingsRequest(name="cup", stage=2), CONTEXT) == final


async def test_a_stage_that_is_not_there_is_refused(servicer: TournamentServicer) -> None:
    for stage, reason, said in (
        (2, Reason.STATE_CONFLICT, "decided when the pools are over"),
        (3, Reason.MALFORMED, "has the stages 1 (pools) to 2 (final), and no stage 3"),
    ):
        with pytest.raises(PlatformError) as caught:
            await servicer.GetStandings(pb.GetStandingsRequest(name="cup", stage=stage), CONTEXT)
        assert (caught.value.reason, said in caught.value.message) == (reason, True)


async def test_a_tournament_says_who_has_gone_on_and_its_matches_where_they_are(
    servicer: TournamentServicer, ledger: Ledger, plan: Plan
) -> None:
    play_pools(ledger, plan)
    before = (await servicer.GetTournament(pb.GetTournamentRequest(name="cup"), CONTEXT)).tournament
    assert not before.qualified
    finalists = settle(ledger, plan)
    after = (await servicer.GetTournament(pb.GetTournamentRequest(name="cup"), CONTEXT)).tournament
    assert [one.bot for one in after.qualified] == finalists
    assert [one.way for one in after.qualified] == [pb.WAY_PLACED] * 6 + [pb.WAY_REST]
    assert {(one.pool, one.rank) for one in after.qualified[:6]} == {
        (pool, rank) for pool in (1, 2) for rank in (1, 2, 3)
    }
    assert list(after.plan.stages[1].plan.entrants) == sorted(finalists)
    matches = (await servicer.ListMatches(pb.ListMatchesRequest(name="cup"), CONTEXT)).matches
    teams = [set(pool.entrants) for pool in after.plan.stages[0].pools]
    assert all(match.stage == 1 and set(match.names) <= teams[match.pool - 1] for match in matches)
    drawn = (await servicer.ListMatches(pb.ListMatchesRequest(name="cup"), CONTEXT)).matches
    assert len(drawn) == 27
