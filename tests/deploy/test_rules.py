"""The configuration and the alerts, as Prometheus' own tool sees them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from services.cli import dev_ca
from services.common.families import Family, Kind
from services.common.metrics import GROUPS
from services.common.settings import Settings
from services.common.targets import format_address

from .prometheus_server import FOLDER, GATEWAY, PLAIN, WITH_TLS, find_program, write_config

RULES = sorted((FOLDER / "rules").glob("*.yml"))
TESTS = sorted((FOLDER / "tests").glob("*.yml"))


def _promtool(*arguments: object) -> None:
    command = [find_program("promtool"), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode:
        pytest.fail(f"{' '.join(command)} says:\n{done.stdout}{done.stderr}", pytrace=False)


def _alerts() -> list[dict[str, Any]]:
    groups = [group for path in RULES for group in yaml.safe_load(path.read_text())["groups"]]
    return [rule for group in groups for rule in group["rules"]]


def test_the_configurations_are_valid(tmp_path: Path) -> None:
    _promtool("check", "config", FOLDER / PLAIN)
    assert CliRunner().invoke(dev_ca, [str(tmp_path / "made")]).exit_code == 0
    _promtool("check", "config", write_config(GATEWAY, tmp_path, tmp_path / "made"))


def test_the_configurations_fit_the_settings() -> None:
    settings = Settings()
    assert format_address(settings.host, settings.http_port) == GATEWAY
    assert (FOLDER / PLAIN).read_text().count(f"http://{GATEWAY}/sd") == 1
    assert (FOLDER / WITH_TLS).read_text().count(f"https://{GATEWAY}/sd") == 1


def test_the_configurations_differ_in_tls_only() -> None:
    plain, tls = (yaml.safe_load((FOLDER / name).read_text()) for name in (PLAIN, WITH_TLS))
    (job,) = tls["scrape_configs"]
    (discovery,) = job["http_sd_configs"]
    assert job.pop("tls_config") == discovery.pop("tls_config")
    assert job.pop("scheme") == "https"
    discovery["url"] = discovery["url"].replace("https:", "http:")
    assert tls == plain


def test_the_alerts_do_what_their_tests_say() -> None:
    _promtool("test", "rules", *TESTS)


def test_every_alert_is_tested_both_ways() -> None:
    cases = [
        case for path in TESTS for test in yaml.safe_load(path.read_text())["tests"] for case in test["alert_rule_test"]
    ]
    fires = {case["alertname"] for case in cases if case.get("exp_alerts")}
    stays_silent = {case["alertname"] for case in cases if not case.get("exp_alerts")}
    assert {alert["alert"] for alert in _alerts()} == fires == stays_silent


def test_every_alert_says_what_to_do() -> None:
    for alert in _alerts():
        assert alert["labels"]["severity"] in ("critical", "warning")
        assert alert["annotations"]["summary"]
        assert alert["annotations"]["next_step"].endswith(".")


def test_alerts_and_examples_name_metrics_that_exist() -> None:
    existing = {
        name for groups in GROUPS.values() for group in groups for one in group.families for name in _names(one)
    }
    texts = [*(alert["expr"] for alert in _alerts()), *(path.read_text() for path in TESTS)]
    texts.append((FOLDER / "README.md").read_text())
    mentioned = {name for text in texts for name in re.findall(r"baohuang_[a-z_]+", text)}
    assert len(mentioned) > 8
    assert mentioned <= existing


def _names(family: Family) -> list[str]:
    if family.kind is Kind.HISTOGRAM:
        return [f"{family.name}_{suffix}" for suffix in ("bucket", "sum", "count")]
    return [family.name]
