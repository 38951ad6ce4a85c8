"""What tests of gateways have in common: platforms that are open or closed, or demand certificates of their clients."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.common.tls import ServerTls
from tests.integration.certificates import Certificates

from .house import CLOSED, GUESSES, OPEN, House, house_of
from .sealed import Whole, serving


@pytest.fixture
def ours(tmp_path: Path) -> Certificates:
    return Certificates(tmp_path / "ours")


@pytest.fixture
def files(ours: Certificates, tmp_path: Path) -> ServerTls:
    """Of a server that demands certificates; what it takes is in a file of its own, to be renewed."""
    client_ca = tmp_path / "clients.pem"
    client_ca.write_bytes(ours.ca.read_bytes())
    return ours.server(client_ca=client_ca)


@pytest.fixture
async def demanding(tmp_path: Path, files: ServerTls) -> AsyncIterator[Whole]:
    async with serving(tmp_path, files) as whole:
        yield whole


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with house_of(tmp_path, OPEN) as made:
        yield made


@pytest.fixture
async def closed(tmp_path: Path) -> AsyncIterator[House]:
    async with house_of(tmp_path, CLOSED) as made:
        yield made


@pytest.fixture
def few_guesses(monkeypatch: pytest.MonkeyPatch) -> None:
    """To be asked for before the platform."""
    monkeypatch.setattr("services.access.gate.FAILURES", GUESSES)
