"""What holds for every test: only tests marked `ray` may start Ray; those of a file share a worker, and begin first."""

from __future__ import annotations

import os
import signal
import sys
from typing import NoReturn

import pytest
from hypothesis import HealthCheck, settings

# No deadline per example: on a busy machine of two cores a slow example says nothing about the code.
# In CI the same examples every time: a change is judged by what it did; by hand the search goes on.
settings.register_profile(
    "project",
    deadline=None,
    derandomize="CI" in os.environ,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("project")

# A shell that starts something in the background has it ignore Ctrl-C, and all that it starts in turn: tests that
# interrupt somebody would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _patience(item: pytest.Item) -> float:
    """The seconds that a test of Ray may take, as it says itself: who may take longest begins first. Of others 0."""
    if not item.get_closest_marker("ray"):
        return 0.0
    said = item.get_closest_marker("timeout")
    return float(said.args[0] if said else item.config.getini("timeout"))


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of Ray in a file share a platform. They take longest: thousands of short ones then fill both workers."""
    for item in items:
        if item.get_closest_marker("ray"):
            item.add_marker(pytest.mark.xdist_group(f"ray-{item.path.stem}"))
    items.sort(key=_patience, reverse=True)


@pytest.fixture(autouse=True)
def _ray_stays_off(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plain class is tested without its actor: a test that would start a cluster by accident fails at once."""
    ray = sys.modules.get("ray")
    if ray is None or request.node.get_closest_marker("ray"):
        return

    def refuse(*_args: object, **_kwargs: object) -> NoReturn:
        raise AssertionError("This test starts Ray: mark it with @pytest.mark.ray, or test the class inside the actor.")

    monkeypatch.setattr(ray, "init", refuse)
