"""An open ledger with one tournament in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from services.common.clock import ManualClock
from services.common.metrics import LedgerMetrics
from services.ledger.ledger import Ledger


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def metrics() -> LedgerMetrics:
    return LedgerMetrics()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "arena.db"


@pytest.fixture
def ledger(path: Path, clock: ManualClock, metrics: LedgerMetrics) -> Iterator[Ledger]:
    with Ledger.open(path, clock=clock, metrics=metrics) as opened:
        opened.create_tournament("cup", "name: cup", b"s" * 32)
        yield opened
