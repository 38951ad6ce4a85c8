"""The example tournaments can be played as they are, and come to what their comments and the documentation say."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from services.tournament.schedule import (
    ScheduleReport,
    Spread,
    Timetable,
    make_timetable,
    report_stages,
    report_timetable,
)
from services.tournament.spec import parse_spec
from services.tournament.spec.reading import KEYS
from services.tournament.spec.scheduling import STAGE_KEYS

ROOT = Path(__file__).parents[3]
EXAMPLES = sorted((ROOT / "examples" / "tournaments").glob("*.yaml"))
OPERATING = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")


def timetable(name: str) -> Timetable:
    spec = parse_spec((ROOT / "examples" / "tournaments" / f"{name}.yaml").read_text(encoding="utf-8"))
    return make_timetable(replace(spec, seed="1"))


def planned(name: str) -> ScheduleReport:
    return report_timetable(timetable(name))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_a_tournament_that_can_be_played(path: Path) -> None:
    assert planned(path.stem).matches > 0


def test_the_examples_are_there() -> None:
    assert {path.stem for path in EXAMPLES} >= {"first", "full", "balanced", "house", "field", "gauntlet", "pools"}


def test_the_comments_of_the_examples_count_right() -> None:
    assert planned("first").matches == 5
    assert planned("full").matches == 56 * 5 * 2
    balanced = planned("balanced")
    assert balanced.matches == 105
    assert balanced.meetings == Spread(5, 5.0, 5)
    assert planned("house").deals == 300
    field = planned("field")
    assert field.meetings == Spread(1, 1.0, 1)
    assert (field.matches, field.different) == (30, 24)
    pools, final = (stage.report for stage in report_stages(timetable("pools")))
    assert (pools.matches, pools.meetings, final.matches) == (4 * 30, Spread(20, 20.0, 20), 1260)
    gauntlet = planned("gauntlet")
    assert gauntlet.challenges == Spread(250, 250.0, 250)
    assert gauntlet.matches == 500


def test_the_documentation_explains_every_key_and_its_file_is_one() -> None:
    section = OPERATING[OPERATING.index("## The tournament file") :]
    for key in KEYS:
        assert f"`{key}`" in section, key
    example, pools = re.findall(r"```yaml\n(.*?)```", section, re.DOTALL)
    parse_spec(example)
    names = ", ".join(f"b{number}" for number in range(24))
    parse_spec(f"name: pools\nprofile: qingdao\nbots: [{names}]\ndeals: 1\n{pools}")
    for key in STAGE_KEYS:
        assert f"  {key}: " in pools or f"; or {key}: " in pools, key
    assert set(yaml.safe_load(example)) == set(KEYS)
