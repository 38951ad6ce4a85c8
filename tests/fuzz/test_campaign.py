"""What is typed wrong at `make fuzz` is said in a sentence."""

from __future__ import annotations

import sys

import pytest

from .campaign import main
from .every_target import TARGETS


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        (["nonsense"], f"there is no target nonsense; there are {', '.join(TARGETS)}"),
        (["--replay", "x"], "--replay needs the one target that reads the file"),
        (["--seconds", "abc"], "invalid int value: 'abc'"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_typed_wrong(
    typed: list[str], says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["campaign", *typed])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2
    assert says in " ".join(capsys.readouterr().err.split())
