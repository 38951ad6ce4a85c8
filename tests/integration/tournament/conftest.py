"""An open ledger."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from services.ledger.ledger import Ledger


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(tmp_path / "ledger.db") as opened:
        yield opened
