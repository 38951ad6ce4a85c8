"""The benchmark of the match service runs, for a second each: no figure is judged, but no bot may be at fault."""

from __future__ import annotations

import json

import pytest

from benchmarks import match_service
from benchmarks.match.cases import CASES
from benchmarks.match.load import Kind, Load
from benchmarks.match.measuring import MatchRig, Times
from benchmarks.match.memory import Size, measure_memory
from benchmarks.match.processes import running
from benchmarks.match.scripts import record_scripts

BRIEF = Times(seconds=1.0, warmup=0.3, rounds=1)


@pytest.mark.slow
def test_real_service_and_baselines_play_the_same() -> None:
    # Given a load on the real service and the same on its baselines,
    scripts = record_scripts(4)
    loads = (Load(Kind.REAL, 6, 12), Load(Kind.NULL, 6, 12), Load(Kind.UNARY, 60, 12, own=True))
    # when each has its turn (`finish` fails if a bot was at fault or a result was wrong),
    with running() as start:
        rigs = [MatchRig(start, load, scripts, BRIEF) for load in loads]
        for rig in rigs:
            rig.enter()
        real, null, unary = (rig.turn() for rig in rigs)
        for rig in rigs:
            rig.finish()
    # then decisions were taken by all of them, and the null referee spends no other bytes on one than the real service.
    assert min(real.per_s, null.per_s, unary.per_s) > 0
    assert null.down == pytest.approx(real.down, rel=0.3)
    assert null.up == pytest.approx(real.up, rel=0.3)


@pytest.mark.slow
def test_a_run_ends_with_figures_by_case(capsys: pytest.CaptureFixture[str]) -> None:
    # When a case is run from the command line, shortly,
    figures = match_service.run(["--quick", "--case", "5x1", "--seconds", "1", "--deals", "2"])
    # then its figures are there under the names of the issue, and can be written as JSON.
    assert {"added_p50", "added_p99"} <= figures["5x1"].keys()
    assert json.loads(json.dumps(figures)) == figures
    assert "round 1" in capsys.readouterr().out


@pytest.mark.slow
def test_memory_can_be_measured() -> None:
    found = measure_memory(record_scripts(2), Size(tables=10, sessions=10, deals=4, warmup=2, scripts=1, settle=0.2))
    assert {"kib_per_table", "kib_per_session", "growth_mib"} <= found.keys()


def test_all_cases_are_there() -> None:
    assert list(CASES) == ["8x1000", "50x1000", "200x4000", "500x100", "5x1", "slow", "memory"]
