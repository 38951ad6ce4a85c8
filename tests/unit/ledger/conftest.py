"""An open ledger with one tournament in it, in a file and in a PostgreSQL database: tests that take it run on both."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from services.common.clock import ManualClock
from services.common.metrics import LedgerMetrics
from services.ledger.ledger import Ledger
from tests.databases.postgres import Cluster, make_ledger, running_cluster

POSTGRES = pytest.mark.xdist_group("postgresql")
"""One worker has the server, and runs all tests that want it."""

BACKENDS = ["sqlite", pytest.param("postgresql", marks=POSTGRES)]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def metrics() -> LedgerMetrics:
    return LedgerMetrics()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file where no ledger is yet: for what concerns files alone."""
    return tmp_path / "arena.db"


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    with running_cluster() as running:
        yield running


@pytest.fixture(scope="session")
def database(cluster: Cluster) -> str:
    """A database with a ledger, made once and emptied for each test: making one takes seconds on a busy disk."""
    return make_ledger(cluster, "ledger")


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def place(backend: str, request: pytest.FixtureRequest) -> str:
    """Where a ledger can be opened: a path where there is none yet, or a database with an empty one."""
    if backend == "sqlite":
        return str(request.getfixturevalue("path"))
    cluster: Cluster = request.getfixturevalue("cluster")
    return cluster.socket_url(cluster.empty(request.getfixturevalue("database")))


@pytest.fixture
def ledger(place: str, clock: ManualClock, metrics: LedgerMetrics) -> Iterator[Ledger]:
    with Ledger.open(place, clock=clock, metrics=metrics) as opened:
        opened.create_tournament("cup", "name: cup", b"s" * 32)
        yield opened
