"""What `bots_sdk` offers: every name is there, typed and at run time alike, and none is loaded before it is wanted."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import bots_sdk


@pytest.mark.parametrize("name", bots_sdk.__all__)
def test_every_name_is_there(name: str) -> None:
    assert getattr(bots_sdk, name) is not None
    assert name in dir(bots_sdk)


def test_type_checkers_see_the_same_names() -> None:
    tree = ast.parse(Path(str(bots_sdk.__file__)).read_text())
    typed = {
        f"{node.module}.{alias.name}"
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert typed == {f"{home}.{name}" for home, names in bots_sdk._HOMES.items() for name in names}
    assert {name.rpartition(".")[2] for name in typed} == set(bots_sdk.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'bott'"):
        bots_sdk.bott  # noqa: B018


@pytest.mark.parametrize(
    ("statement", "absent"),
    [
        ("import bots_sdk", {"grpc", "google", "click", "rich", "asyncio", "bots_sdk.rules"}),
        ("from bots_sdk import Bot, View, Answer", {"grpc", "google", "click", "rich", "bots_sdk.convert"}),
        ("import bots_sdk.arena, bots_sdk.house", {"grpc", "google", "click", "rich"}),
        ("import bots_sdk.convert", {"grpc", "click", "rich"}),
    ],
)
def test_nothing_is_loaded_before_it_is_wanted(statement: str, absent: set[str]) -> None:
    script = f"{statement}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not absent & set(done.stdout.split())


def test_the_version_is_that_of_the_package() -> None:
    assert bots_sdk.__version__ == version("baohuang-arena")
