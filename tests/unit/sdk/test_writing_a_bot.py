"""docs/writing-a-bot.md is true: its code runs, its commands work, and it names what there is."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from bots_sdk.bot import Bot
from bots_sdk.cli.tree import run
from bots_sdk.rules.view import View

PAGE = (Path(__file__).parents[3] / "docs" / "writing-a-bot.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
COMMANDS = re.findall(r"^\$ (baohuang .*)$", PAGE, re.MULTILINE)
FIRST = next(block for block in PYTHON if "class MyBot" in block)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_bot.py").write_text(FIRST)
    return tmp_path


@pytest.mark.parametrize("block", PYTHON, ids=lambda block: block.strip().splitlines()[0][:40])
def test_the_code_runs(block: str) -> None:
    exec(compile(block, "writing-a-bot.md", "exec"), {"__name__": "page"})


@pytest.mark.parametrize("command", [line for line in COMMANDS if not re.search("bot (run|register)", line)])
def test_the_local_commands_work(folder: Path, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(shlex.split(command)[1:]) == 0
    assert "MyBot" in capsys.readouterr().out


@pytest.mark.parametrize("command", [line for line in COMMANDS if re.search("bot (run|register)", line)])
def test_the_options_of_the_other_commands_exist(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = shlex.split(command.partition(" > ")[0])[1:]
    assert run([*words[:2], "--help"]) == 0
    shown = capsys.readouterr().out
    assert all(word in shown for word in words if word.startswith("--"))


def test_the_first_bot_has_fifteen_lines_at_most_and_beats_random(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(FIRST.strip().splitlines()) <= 15
    assert run(["play", "my_bot.py:MyBot", *["random"] * 4, "--deals", "100", "--json"]) == 0
    mine, *others = json.loads(capsys.readouterr().out)["bots"]
    assert mine["faults"] == 0
    assert all(mine["interval"][0] > other["points_per_deal"] for other in others)


def test_what_the_table_names_is_there() -> None:
    rows = re.findall(r"^\| (`.*?) \|", PAGE, re.MULTILINE)
    names = [re.match(r"\w+", name) for row in rows for name in re.findall(r"`(.*?)`", row)]
    assert len(names) > 20
    for name in names:
        assert name is not None
        assert hasattr(View, name.group()), name


def test_the_hooks_of_the_page_are_all_there_are() -> None:
    hooks = {name for name, value in vars(Bot.__base__).items() if callable(value) and not name.startswith("_")}
    watcher = next(block for block in PYTHON if "class Watcher" in block)
    assert set(re.findall(r"def (\w+)", watcher)) == hooks | {"answer"}
