"""The command line: what is typed wrong, and what goes wrong, ends in one sentence and an exit code."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import click
import pytest

from bots_sdk.cli import plugins
from bots_sdk.cli.options import parse_value
from bots_sdk.cli.tree import run
from bots_sdk.errors import make_refused

BAOHUANG = [sys.executable, "-m", "bots_sdk.cli"]
FOUR = ["greedy", "greedy", "random", "random"]
BROKEN_BOT = """
from bots_sdk import Answer, Bot, View

class Broken(Bot):
    def answer(self, view: View) -> Answer:
        raise ValueError("no idea")
"""


@pytest.fixture(autouse=True)
def _no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BAOHUANG_TOKEN", raising=False)


@pytest.fixture
def broken(tmp_path: Path) -> str:
    file = tmp_path / "broken_bot.py"
    file.write_text(BROKEN_BOT)
    return f"{file}:Broken"


# -------------------------------------------------------------------------------------------------------- typed wrong


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nonsense"], "there is no command 'nonsense'; there are bot, play, replay, rules"),
        (["play", "greedy"], "a line-up has 5 bots, not 1"),
        (["play", "greedier", *FOUR], "'greedier' names no bot"),
        (["play", "no_such.py:MyBot", *FOUR], "there is no file no_such.py"),
        (["play", "greedy", *FOUR, "--deals", "0"], "0 is not in the range"),
        (["play", "greedy", *FOUR, "--profile", "bridge"], "'bridge' is not one of 'classic'"),
        (["play", "greedy", *FOUR, "--option", "roast"], "'roast' is not of the form KEY=VALUE"),
        (["play", "greedy", *FOUR, "--option", "rost=true"], "rost: no such option"),
        (["play", "greedy", *FOUR, "--option", "roast=maybe"], "roast: true or false, not 'maybe'"),
        (["play", "greedy", *FOUR, "--option", "drop_low=3"], "short pack"),
        (["bot", "run", "greedy"], "a token is needed"),
        (["bot", "run", "greedy", "--token", "t"], "--token-file"),
        (["bot", "run", "greedy", "--token-file", "/dev/null"], "/dev/null is empty: was the bot registered?"),
        (["bot", "run", "greedy", "--token-file", "/no/such/file"], "/no/such/file cannot be read: No such file"),
        (["bot", "check", "nobody"], "'nobody' names no bot"),
        (["bot", "run", "greedy", "--tables", "many"], "'many' is not a valid integer"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_typed_wrong_is_said(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert says in " ".join(err.split())
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("token", "arguments", "says"),
    [
        ("snow☃man", ["greedy"], "the token has signs that no token has"),
        ("t", ["greedy", "--server", "nowhere"], "'nowhere' is not of the form HOST:PORT"),
        ("t", ["greedy", "--server", "host:99999"], "is not of the form HOST:PORT"),
        ("t", ["greedy", "--server", "https://host:7400"], "is not of the form HOST:PORT"),
        ("t", ["nobody"], "'nobody' names no bot"),
        ("t", ["greedy", "--tls-cert", "a.pem"], "--tls-cert and --tls-key go together"),
        ("t", ["greedy", "--tls-key", "a.key", "--tls"], "--tls-cert and --tls-key go together"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_typed_wrong_beside_a_token_is_said(
    token: str, arguments: list[str], says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BAOHUANG_TOKEN", token)
    assert run(["bot", "run", *arguments]) == 2
    assert says in " ".join(capsys.readouterr().err.split())


# ----------------------------------------------------------------------------------------------------------- goes wrong


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (KeyboardInterrupt(), 130, "Interrupted."),
        (make_refused("REASON_NAME_TAKEN", "the name 'x' is taken."), 1, "the name 'x' is taken. Choose another name."),
        (PermissionError(13, "Permission denied", "some/file"), 1, "Error: some/file: Permission denied"),
        (OSError(28, "No space left on device"), 1, "Error: No space left on device"),
        (BrokenPipeError(32, "Broken pipe"), 1, ""),
        (RuntimeError("what\nnow"), 1, "a fault of baohuang itself (RuntimeError: what now). Please report it"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_whatever_goes_wrong_ends_in_a_sentence(
    error: BaseException, code: int, says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr("bots_sdk.cli.rules.parse_rules", fail)
    assert run(["rules"]) == code
    assert says in capsys.readouterr().err


def test_a_name_that_is_no_text_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bot", "register", "\udcff", "--server", "127.0.0.1:1"]) == 1
    assert "Error: what was typed is no text in UTF-8" in capsys.readouterr().err


def test_nobody_at_the_address_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bot", "register", "mine", "--server", "127.0.0.1:1"]) == 1
    err = capsys.readouterr().err
    assert "Error: nobody answers at 127.0.0.1:1" in err
    assert "is `baohuang serve` running there?" in err


# --------------------------------------------------------------------------------------------------------------- works


def test_play_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["play", "greedy", *FOUR, "--deals", "10"]) == 0
    out = capsys.readouterr().out
    assert "points per deal" in out
    assert "greedy (3)" in out
    assert "10 deals of qingdao in 2 blocks" in out
    assert out.count("from 10 blocks on") == 5  # two blocks make no interval


def test_play_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    def result(seed: str) -> dict[str, Any]:
        arguments = ["--deals", "50", "--json", "--seed", seed, "--profile", "bean", "--option", "stakes=1,2"]
        assert run(["play", "greedy", *FOUR, *arguments]) == 0
        report: dict[str, Any] = json.loads(capsys.readouterr().out)
        del report["seconds"]
        return report

    report = result("a")
    assert (report["deals"], report["blocks"], report["profile"]) == (50, 10, "bean")
    assert [bot["name"] for bot in report["bots"]] == ["greedy", "greedy (2)", "greedy (3)", "random", "random (2)"]
    assert sum(bot["points_per_deal"] for bot in report["bots"]) == pytest.approx(0)
    low, high = report["bots"][0]["interval"]
    assert low <= report["bots"][0]["points_per_deal"] <= high
    assert result("a") == report
    assert result("b") != report


def test_play_says_what_a_bot_did_wrong(broken: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["play", broken, *FOUR, "--deals", "5"]) == 0
    out, err = capsys.readouterr()
    assert "Broken" in out
    assert "times: ValueError: no idea (broken_bot.py, line 6, in answer)\n" in err
    assert err.endswith("Wherever there was no legal answer the default was played.\n")


PRINTING_BOT = """
from bots_sdk import Answer, Bot, View

print("loaded")

class Printing(Bot):
    def __init__(self) -> None:
        print("made")

    def answer(self, view: View) -> Answer:
        print("asked")
        return view.default()
"""


@pytest.mark.parametrize("command", [["play"], ["bot", "check"]], ids=" ".join)
def test_what_bots_print_goes_to_stderr(command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "printing.py").write_text(PRINTING_BOT)
    bots = [str(tmp_path / "printing.py"), *(FOUR if command == ["play"] else [])]
    assert run([*command, *bots, "--deals", "2", "--profile", "qingdao", "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["deals"] > 0
    assert {"loaded", "made", "asked"} <= set(err.split())


HANGING_BOT = """
from bots_sdk import Answer, Bot, View

class Hanging(Bot):
    def answer(self, view: View) -> Answer:
        while True:
            try:
                self.search(view)
            except KeyboardInterrupt:
                raise
            except:
                pass

    def search(self, view: View) -> None:
        view.copy()
"""


@pytest.mark.parametrize("options", [[], ["--json"]], ids=["text", "json"])
def test_check_gives_up_on_a_bot_that_hangs(
    options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("bots_sdk.cli.bot.GIVE_UP_S", 0.5)
    (tmp_path / "hanging.py").write_text(HANGING_BOT)
    assert run(["bot", "check", str(tmp_path / "hanging.py"), *options]) == 1
    out = capsys.readouterr().out
    assert "no answer within 0.5 s (hanging.py, line " in out
    if options:
        assert json.loads(out)["fit"] is False


def test_check_tells_good_from_bad(broken: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bot", "check", "greedy", "--deals", "2", "--profile", "qingdao"]) == 0
    assert "greedy is fit to play." in capsys.readouterr().out
    assert run(["bot", "check", broken, "--deals", "2", "--profile", "qingdao"]) == 1
    out = capsys.readouterr().out
    assert "ValueError: no idea (broken_bot.py, line 6, in answer)" in out
    assert "Broken needs mending." in out
    assert run(["bot", "check", broken, "--deals", "2", "--profile", "bean", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["fit"] is False


def test_rules_shows_every_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rules", "--profile", "bean", "--option", "roast=true", "--json"]) == 0
    options = json.loads(capsys.readouterr().out)["options"]
    assert (options["low"], options["roast"], options["sticker"]) == ("6", True, "highest")
    assert run(["rules"]) == 0
    assert ["give_way", "true"] in [line.split() for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True), ("True", True), ("FALSE", False), ("null", None), ("3", 3), ("1,2,4", [1, 2, 4]),
        ("[1, 2]", [1, 2]), ("claim", "claim"), ("none", "none"), ('"6"', "6"), ("1,x", "1,x"), ("", ""),
        (f"1,{'9' * 5000}", f"1,{'9' * 5000}"), ("[" * 5000, "[" * 5000),
    ],
)  # fmt: skip
def test_values_are_read_as_they_are_typed(text: str, value: object) -> None:
    assert parse_value(text) == value


def test_help_says_of_every_command_what_it_does(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    _, _, listed = capsys.readouterr().out.partition("Commands:")
    for line in listed.split("\n")[1:]:
        assert not line.strip() or len(line.split()) > 2, line


def test_help_loads_no_command(capsys: pytest.CaptureFixture[str]) -> None:
    script = "from bots_sdk.cli.tree import run; run(['--help']); import sys; print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stderr.split()}
    assert not loaded & {"grpc", "google", "rich", "services", "ray", "asyncio"}
    assert all(name in done.stdout for name in ("bot", "play", "rules"))


# -------------------------------------------------------------------------------------------------------------- plug in


def plug(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    point = EntryPoint("fly", value, plugins.GROUP)
    monkeypatch.setattr(plugins, "entry_points", lambda group: [point])


@click.command()
def fly() -> None:
    """Fly."""
    click.echo("flying")


def test_a_command_plugs_in(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "flying", sys.modules[__name__])
    plug(monkeypatch, "flying:fly")
    assert run(["fly"]) == 0
    assert capsys.readouterr().out == "flying\n"


def test_a_command_whose_packages_are_missing_says_how_to_get_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "flying_without_ray.py").write_text("import ray_is_not_here\n")
    monkeypatch.syspath_prepend(tmp_path)
    plug(monkeypatch, "flying_without_ray:fly")
    assert run(["fly"]) == 1
    assert "the command fly needs the server part: pip install 'baohuang-arena[server]'" in capsys.readouterr().err


def test_a_command_that_is_gone_is_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    plug(monkeypatch, "flown_away:fly")
    assert run(["fly"]) == 1
    assert "the command fly is not in this installation" in capsys.readouterr().err


# ------------------------------------------------------------------------------------------------------------ processes


def test_a_reader_that_goes_away_leaves_no_traceback() -> None:
    command = f"{' '.join(BAOHUANG)} rules | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("qingdao")
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert done.returncode in (0, 1)  # whether head is gone before the end is a matter of luck


def test_a_full_disk_is_a_sentence() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*BAOHUANG, "rules"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


MARKING_BOT = """
from pathlib import Path
from bots_sdk import Answer, Bot, Seating, View

class Marking(Bot):
    def seated(self, seating: Seating) -> None:
        Path(__file__).with_suffix(".marked").touch()

    def answer(self, view: View) -> Answer:
        return view.default()
"""


def test_ctrl_c_ends_play_with_what_there_is(tmp_path: Path) -> None:
    (tmp_path / "marking.py").write_text(MARKING_BOT)
    process = subprocess.Popen(
        [*BAOHUANG, "play", str(tmp_path / "marking.py"), *["random"] * 4, "--deals", "100000", "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while not (tmp_path / "marking.marked").exists():
        time.sleep(0.02)
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert err.strip().endswith("Interrupted.")
    if out:  # nothing if not even one block was complete
        assert json.loads(out)["interrupted"] is True


def test_ctrl_c_while_loading_is_no_traceback_either() -> None:
    script = """
import sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "click":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupting())
from bots_sdk.cli import main
main()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "")


def test_an_ascii_terminal_gets_a_table_too(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
        "PYTHONIOENCODING": "ascii",
    }
    done = subprocess.run(
        [*BAOHUANG, "play", *["random"] * 5, "--deals", "5"],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "points per deal" in done.stdout
