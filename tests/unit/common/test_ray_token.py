"""When Ray is told to show a token to a cluster that is joined."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from services.common.ray_token import offer_ray_token


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("RAY_AUTH_MODE", "")  # so that it is put back afterwards, whatever is set below
    for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"):
        monkeypatch.delenv(name, raising=False)


def test_without_a_token_nothing_is_said() -> None:
    offer_ray_token()
    assert "RAY_AUTH_MODE" not in os.environ


@pytest.mark.parametrize("name", ["RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"])
def test_a_token_that_is_set_is_shown(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "x")
    offer_ray_token()
    assert os.environ["RAY_AUTH_MODE"] == "token"


def test_the_file_of_ray_is_shown(tmp_path: Path) -> None:
    (tmp_path / ".ray").mkdir()
    (tmp_path / ".ray" / "auth_token").write_text("x")
    offer_ray_token()
    assert os.environ["RAY_AUTH_MODE"] == "token"


def test_rays_own_variable_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_AUTH_TOKEN", "x")
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    offer_ray_token()
    assert os.environ["RAY_AUTH_MODE"] == "disabled"
