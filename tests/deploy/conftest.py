"""Prometheus for tests, as a fixture."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from .prometheus_server import Prometheus, start_prometheus

StartPrometheus = Callable[[str], Prometheus]


@pytest.fixture
def prometheus_against(tmp_path: Path) -> Iterator[StartPrometheus]:
    """Starts Prometheus, as shipped, against the gateway at an address ("host:port"); it is stopped after the test."""
    folder = tmp_path / "prometheus"
    folder.mkdir()
    with ExitStack() as running:
        yield lambda gateway: running.enter_context(start_prometheus(gateway, folder))
