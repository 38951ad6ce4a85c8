"""The service of systemd as shipped starts what there is, and leaves it the time to stop in order."""

from __future__ import annotations

from configparser import ConfigParser
from pathlib import Path

from click.testing import CliRunner

from services.cli.serving import serve
from services.main import GRACE

ROOT = Path(__file__).resolve().parents[2]


def service() -> dict[str, str]:
    unit = ConfigParser(interpolation=None, strict=True)
    unit.optionxform = str  # type: ignore[assignment, method-assign]  # names of systemd have capitals
    unit.read(ROOT / "deploy" / "systemd" / "baohuang.service", encoding="utf-8")
    return dict(unit["Service"])


def test_it_types_a_command_that_there_is() -> None:
    command = service()["ExecStart"].split()
    assert command[1] == "serve"
    options = [word for word in command if word.startswith("--")]
    told = CliRunner().invoke(serve, ["--help"]).output
    assert options
    assert all(f"  {option} " in told for option in options)


def test_only_the_command_itself_is_told_to_stop_and_has_the_time_for_it() -> None:
    found = service()
    assert found["KillMode"] == "mixed"
    assert float(found["TimeoutStopSec"]) > GRACE + 15  # what `Platform.stop` takes at most


def test_a_setting_that_cannot_be_is_not_tried_over_and_over() -> None:
    found = service()
    assert found["Restart"] == "on-failure"
    assert found["RestartPreventExitStatus"] == "2"
