"""A lobby over a real ledger, with a clock that is moved by hand."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from services.common.clock import ManualClock
from services.common.metrics import LobbyMetrics
from services.common.tickets import TokenEnd
from services.ledger.ledger import Ledger
from services.lobby.attendance import LobbyTerms
from services.lobby.lobby import Lobby

KEY = bytes(range(32))
TERMS = LobbyTerms(
    ticket_life=timedelta(minutes=10),
    sign_of_life=timedelta(seconds=10),
    silence_limit=timedelta(seconds=30),
    reserved_names=frozenset({"greedy", "random"}),
)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def metrics() -> LobbyMetrics:
    return LobbyMetrics()


@pytest.fixture
def sent_away() -> list[TokenEnd]:
    """The tokens that ended, as a match service would be told."""
    return []


@pytest.fixture
def ledger(tmp_path: Path, clock: ManualClock) -> Iterator[Ledger]:
    with Ledger.open(tmp_path / "arena.db", clock=clock) as opened:
        yield opened


@pytest.fixture
def lobby(ledger: Ledger, clock: ManualClock, metrics: LobbyMetrics, sent_away: list[TokenEnd]) -> Lobby:
    return Lobby(ledger, KEY, clock=clock, terms=TERMS, metrics=metrics, token_ended=sent_away.append)
