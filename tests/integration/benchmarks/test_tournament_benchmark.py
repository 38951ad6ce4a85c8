"""The benchmark of a whole tournament runs, as small as can be: no figure is judged, but nobody may be at fault."""

from __future__ import annotations

import json

import pytest

from benchmarks import tournament
from benchmarks.whole.planning import measure_planning


@pytest.mark.ray
@pytest.mark.slow
@pytest.mark.timeout(400)
def test_a_run_ends_with_the_figures_of_the_issue(capsys: pytest.CaptureFixture[str]) -> None:
    # When a small tournament is played beside a match service alone (which raises if a bot was at fault, a result is
    # missing, or the points are not the same),
    size = ["--bots", "6", "--matches", "40", "--in-flight", "8", "--tables", "8"]
    figures = tournament.run(["--quick", "--services", "1", "--no-plan", "--seconds", "0.5", *size])
    # then its figures are there under the names of the issue, and can be written as JSON.
    assert {"deals", "deals_per_s", "match_service_ratio", "director_growth_mib"} <= figures.keys()
    assert figures["deals"] == 40
    assert min(figures[name] for name in ("deals_per_s", "match_service_ratio", "cpu_ratio", "director_mib")) > 0
    assert {"director_ms", "gateway_ms", "match_services_ms", "bots_ms"} <= figures.keys(), "all roles were found"
    assert json.loads(json.dumps(figures)) == figures
    assert "whole tournament" in capsys.readouterr().out


def test_a_long_schedule_can_be_measured() -> None:
    found = measure_planning(tournament.QUICK, 5000)
    assert found["plan_matches"] == 5000
    assert {"plan_s", "plan_iterate_s", "plan_growth_mib", "backlog_mib"} <= found.keys()
