"""A text names a bot, or the message says where it fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from bots_sdk.errors import BotNotLoaded
from bots_sdk.house import GreedyBot
from bots_sdk.loading import load_bot

HEAD = "from bots_sdk import Answer, Bot, View\n"
GOOD = HEAD + "class MyBot(Bot):\n    def answer(self, view: View) -> Answer:\n        return view.legal()[0]\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", ["", *__import__("sys").path])
    return tmp_path


def write(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text)
    return name


def test_a_house_bot_is_named_alone() -> None:
    source = load_bot("greedy")
    assert (source.name, source.is_house, type(source.make(1))) == ("greedy", True, GreedyBot)


@pytest.mark.parametrize("form", ["{}:MyBot", "{}"])
def test_a_class_in_a_file(folder: Path, form: str) -> None:
    source = load_bot(form.format(write(folder, "bot_in_a_file.py", GOOD)))
    assert (source.name, source.is_house) == ("MyBot", False)
    assert source.make(0) is not source.make(0)


def test_a_class_in_a_module(folder: Path) -> None:
    write(folder, "bot_in_a_module.py", GOOD)
    assert load_bot("bot_in_a_module:MyBot").name == "MyBot"


def test_a_file_may_import_its_neighbours(folder: Path) -> None:
    (folder / "sub").mkdir()
    write(folder, "sub/neighbour_of_bot.py", "NUMBER = 3\n")
    write(folder, "sub/bot_with_neighbour.py", "from neighbour_of_bot import NUMBER\n" + GOOD)
    assert load_bot("sub/bot_with_neighbour.py:MyBot").name == "MyBot"


def test_the_seed_goes_to_a_bot_that_wants_it(folder: Path) -> None:
    write(folder, "bot_with_seed.py", GOOD + "    def __init__(self, seed=None):\n        self.seed = seed\n")
    bot = load_bot("bot_with_seed.py").make("7/1")
    assert bot.seed == "7/1"  # type: ignore[union-attr]


INIT = GOOD + "    def __init__(self{}): {}\n"


@pytest.mark.parametrize(
    ("name", "text", "asked", "says"),
    [
        ("", "", "greedier", "'greedier' names no bot: give a house bot (greedy, random) or a class as in my_bot.py"),
        ("", "", "no_such.py:MyBot", "there is no file no_such.py"),
        ("", "", "no_such_module:MyBot", "there is no module 'no_such_module'"),
        ("e1.py", GOOD, "e1.py:YourBot", "e1.py has no class 'YourBot'; the bots in it are: MyBot"),
        ("e2.py", "x = 1\n", "e2.py:MyBot", "e2.py has no class 'MyBot'; there is no bot in it"),
        ("e3.py", "class MyBot: pass\n", "e3.py:MyBot", "e3.py:MyBot is no bot: it must be a class derived"),
        ("e4.py", HEAD + "class MyBot(Bot): pass\n", "e4.py:MyBot", "e4.py:MyBot has no method `answer`"),
        ("e5.py", "def f(:\n", "e5.py:MyBot", "e5.py cannot be loaded: SyntaxError: invalid syntax (e5.py, line 1)"),
        ("e6.py", "\nimport not_there\n", "e6.py:MyBot", "ModuleNotFoundError: No module named 'not_there' (e6.py, "),
        ("e7.py", "\n\n1 / 0\n", "e7.py:MyBot", "ZeroDivisionError: division by zero (e7.py, line 3"),
        ("e8.py", "raise SystemExit(2)\n", "e8.py:MyBot", "SystemExit: 2 (e8.py, line 1"),
        ("e9.py", GOOD + GOOD.replace("MyBot", "Other"), "e9.py", "the bots in it are: MyBot, Other"),
        ("e10.py", INIT.format(", model", "pass"), "e10.py", "e10.py:MyBot cannot be made: TypeError"),
        ("e11.py", INIT.format("", "open('weights')"), "e11.py", "file or directory: 'weights' (e11.py, line 5, in"),
        ("e12.py", "x = '\x00'\n", "e12.py:MyBot", "e12.py cannot be loaded"),
        ("e13.txt", GOOD, "e13.txt:MyBot", "there is no module 'e13.txt'"),
    ],
    ids=lambda value: "",
)
def test_what_is_wrong_is_said(folder: Path, name: str, text: str, asked: str, says: str) -> None:
    if name:
        write(folder, name, text)
    with pytest.raises(BotNotLoaded) as caught:
        load_bot(asked)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
