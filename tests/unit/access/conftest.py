"""A gate over a real ledger, with a clock that is moved by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from services.access.gate import Gate
from services.access.needs import AccessRules
from services.common.clock import ManualClock
from services.common.metrics import LobbyMetrics
from services.ledger.ledger import Ledger


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def metrics() -> LobbyMetrics:
    return LobbyMetrics()


@pytest.fixture
def ledger(tmp_path: Path, clock: ManualClock) -> Iterator[Ledger]:
    with Ledger.open(tmp_path / "ledger.db", clock=clock) as opened:
        yield opened


@pytest.fixture
def gate(ledger: Ledger, clock: ManualClock, metrics: LobbyMetrics) -> Gate:
    return Gate(ledger, AccessRules(), clock, metrics)
