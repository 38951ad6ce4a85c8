"""Every `make verify-*` step is a test, so that one run and one summary tell whether the tree is in order."""

from __future__ import annotations

import os
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STEPS = ["ruff", "format", "types", "imports", "stubs", "proto", "protocol-compatible"]


def make(target: str) -> subprocess.CompletedProcess[str]:
    # Not a part of the make that may have started pytest: its flags and job slots are not ours.
    env = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(["make", "--silent", target], cwd=ROOT, env=env, capture_output=True, text=True, check=False)


@pytest.mark.timeout(600)  # mypy without its cache, beside another worker, on two cores
@pytest.mark.parametrize("step", STEPS)
def test_verify(step: str) -> None:
    done = make(f"verify-{step}")
    if done.returncode:
        pytest.fail(f"make verify-{step} says:\n{done.stdout}{done.stderr}", pytrace=False)


def test_verify_calls_every_step() -> None:
    listed = next(line for line in (ROOT / "Makefile").read_text().splitlines() if line.startswith("VERIFY "))
    assert listed.split()[2:] == [f"verify-{step}" for step in STEPS]


def test_help_lists_the_commands() -> None:
    assert {"demo", "test", "verify", "fix", "stubs", "bench", "clean"} <= set(make("help").stdout.split())


def test_changelog_is_about_this_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    newest = next(line for line in (ROOT / "CHANGELOG.md").read_text().splitlines() if line.startswith("## "))
    assert newest.split()[1] == version


@pytest.mark.ray
def test_ray_tests_of_a_file_share_a_worker(request: pytest.FixtureRequest) -> None:
    """A release of pytest has broken the groups without a word before; xdist shows a group as a suffix of the id."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        assert request.node.nodeid.endswith("@ray-test_toolchain")


def test_tests_of_ray_begin_first(request: pytest.FixtureRequest) -> None:
    """They take longest: what began with the others behind it would end with one worker idle."""
    short = [item.get_closest_marker("ray") is None for item in request.session.items]
    assert short == sorted(short)
