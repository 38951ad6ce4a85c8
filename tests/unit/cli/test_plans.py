"""What a schedule comes to, as a person reads it: with pools every stage of it, before anybody knows the final."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from baohuang.tournament.v1 import tournament_service_pb2 as pb
from services.cli.plans import describe_plan, describe_qualified
from services.cli.tables import by_pool, describe_tournament
from services.cli.tournaments import tournament
from services.tournament.servicer.messages import plan_to_proto
from services.tournament.servicer.plans import Plan, make_plan
from services.tournament.spec import parse_spec
from tests.unit.cli.test_tables import text_of

BOTS = ", ".join(f"b{index:02}" for index in range(13))
SPEC = f"""\
name: cup
profile: qingdao
bots: [{BOTS}]
schedule:
  kind: pool
  pools: 2
  draw: snake
  each: {{kind: balanced, matches: 60}}
  advance: 3
  final: {{kind: full, repeats: 2}}
deals: 8
seed: secret
"""


def lines_of(spec: str, rate: float = 10.0) -> list[str]:
    return list(describe_plan(plan_to_proto(make_plan(parse_spec(spec))), rate))


def test_each_stage_is_told_before_anything_is_played() -> None:
    lines = lines_of(SPEC)
    assert lines[0] == "  plan     180 matches, 1440 deals, 13 entrants"
    assert lines[1] == "  stage 1: 2 pools, 120 matches (0 to 119), 960 deals"
    final = lines.index("  stage 2: final of 6, 60 matches (120 to 179), 480 deals")
    for stage in (lines[1:final], lines[final:]):
        said = "\n".join(stage)
        for what in ("different deals", "meetings of two entrants", "one right before another", "matches of an entrant",
                     "matches in one seat", "roughly how long"):  # fmt: skip
            assert what in said
    assert "  pool 1   b00, b03, b04, b07, b08, b11, b12" in lines
    assert "  pool 2   b01, b02, b05, b06, b09, b10" in lines
    assert "  meetings of two entrants  40 to 40, 40.00 on average" in lines[final:]
    assert lines[-2] == "  entrants known when the pools are over: the first 3 of each pool"
    assert "  roughly how long          1 min 36 s, at 10 deals a second in all" in lines[:final]
    assert lines[-1] == "  all of it takes           2 min 24 s"
    assert lines_of(SPEC, rate=1)[-1] == "  all of it takes           24 min"


def test_who_will_be_in_the_final_is_told_by_the_rule() -> None:
    one = SPEC.replace("advance: 3", "advance: 2").replace("  final", "  rest: 1\n  final")
    assert lines_of(one)[-2].endswith("the first 2 of each pool and the best of the others")
    some = SPEC.replace("advance: 3", "advance: 1").replace("  final", "  rest: 4\n  final")
    assert lines_of(some)[-2].endswith("the first of each pool and the best 4 of the others")


def test_once_it_is_known_who_is_in_the_final_that_is_told() -> None:
    plan = make_plan(parse_spec(SPEC))
    drawn: Plan = replace(plan, schedule=plan.schedule.drawn((5, 4, 3, 2, 1, 0)))  # type: ignore[union-attr]
    lines = list(describe_plan(plan_to_proto(drawn)))
    assert lines[-2] == "  entrants b00, b01, b02, b03, b04, b05"
    qualified = [
        pb.Qualifier(bot="b05", pool=2, rank=1, way=pb.WAY_PLACED),
        pb.Qualifier(bot="b04", pool=1, rank=4, way=pb.WAY_REST),
        pb.Qualifier(bot="b00", pool=1, rank=2, way=pb.WAY_VACANT),
    ]
    one = pb.Tournament(name="cup", plan=plan_to_proto(drawn), qualified=qualified)
    said = [
        "  final    b05, 1. of pool 2",
        "  final    b04, 4. of pool 1, the best of the others",
        "  final    b00, 2. of pool 1, but excluded: the place stays empty",
    ]
    assert list(describe_qualified(one)) == said
    assert [line for line in describe_tournament(one) if line.startswith("  final ")] == said


def test_pools_have_tables_of_their_own() -> None:
    lines = [
        pb.Standing(name="ann", pool=1, qualified=True),
        pb.Standing(name="ben", pool=1),
        pb.Standing(name="eva", pool=2),
    ]
    tables = list(by_pool(pb.GetStandingsResponse(standings=lines, stage=1, stages=2)))
    assert [(title, [line.name for line in of]) for title, of in tables] == [
        ("Pool 1", ["ann", "ben"]),
        ("Pool 2", ["eva"]),
    ]
    (final,) = by_pool(pb.GetStandingsResponse(standings=[pb.Standing(name="ann")], stage=2, stages=2))
    assert final[0] == "Final"
    (whole,) = by_pool(pb.GetStandingsResponse(standings=[pb.Standing(name="ann")], stage=1, stages=1))
    assert whole[0] == ""


def test_a_table_marks_who_has_gone_on() -> None:
    from services.cli.tables import standings_table

    ann = pb.Standing(rank=1, name="ann", qualified=True, deals=4, deals_counted=4)
    lines = text_of(standings_table([ann, pb.Standing(rank=2, name="ben", deals=4, deals_counted=4)]))
    assert [line[:4] for line in lines if line[:1] in (["1"], ["2"])] == [
        ["1", "ann", "→", "final"],
        ["2", "ben", "+0.000", "-"],
    ]


NOBODY = ("--server", "127.0.0.1:1")


@pytest.mark.parametrize("seed", ["seed: secret\n", ""])
def test_without_a_platform_the_plan_is_made_here_and_that_is_said(tmp_path: Path, seed: str) -> None:
    file = tmp_path / "cup.yaml"
    file.write_text(SPEC.replace("seed: secret\n", seed).replace("draw: snake", "draw: lot"))
    said = CliRunner().invoke(tournament, ["plan", str(file), *NOBODY])
    assert said.exit_code == 0, said.output
    assert said.stdout.startswith("  plan     180 matches, 1440 deals, 13 entrants\n")
    assert said.stderr.startswith("No platform answers at 127.0.0.1:1, so this is planned here: ")
    assert ("another lot is drawn" in said.stderr) == (not seed)
    as_json = CliRunner().invoke(tournament, ["plan", str(file), *NOBODY, "--json"])
    assert json.loads(as_json.stdout)["matches"] == 180


def test_a_plan_made_here_is_for_the_fewest_that_may_enter(tmp_path: Path) -> None:
    file = tmp_path / "cup.yaml"
    file.write_text("name: x\nprofile: qingdao\nschedule: full\ndeals: 1\nduplicate: none\nentries: {min: 7}\n")
    said = CliRunner().invoke(tournament, ["plan", str(file), *NOBODY])
    assert said.stdout.startswith("  plan     21 matches, 21 deals, 7 entrants\n")
    assert "this is for the fewest that can start it" in said.stderr
