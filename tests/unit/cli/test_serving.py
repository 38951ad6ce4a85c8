"""What `baohuang serve` says at its end."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.cli.serving import last_line
from services.common.settings import Settings
from services.main import Stopped


@pytest.mark.parametrize(
    ("suspended", "data", "says"),
    [
        ((), "data", "Stopped.\n"),
        (("cup",), "data", "Stopped. cup will go on by itself with the next `baohuang serve --data data`, "),
        (
            ("a", "b"),
            "my data",
            "Stopped. a, b will go on by themselves with the next `baohuang serve --data 'my data'`, ",
        ),
    ],
)
def test_it_says_what_goes_on_and_how(suspended: tuple[str, ...], data: str, says: str) -> None:
    assert last_line(Stopped(suspended), Settings(data_dir=Path(data))).startswith(says)
