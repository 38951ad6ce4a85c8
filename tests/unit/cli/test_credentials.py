"""Where a command looks for the token it shows, and to whom it shows it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from services.cli.credentials import (
    Credentials,
    advice,
    chosen_credentials,
    format_token_option,
    is_local,
    token_options,
)

HERE = "127.0.0.1:7400"
Choose = Callable[..., Credentials]


@pytest.fixture
def choose(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Choose:
    """What a command chooses that is typed in an empty folder with these options and variables."""
    monkeypatch.chdir(tmp_path)

    def choose(*options: str, server: str = HERE, **variables: str) -> Credentials:
        @click.command()
        @token_options
        def command() -> None:
            found.append(chosen_credentials(server))
            found_option.append(format_token_option())

        found: list[Credentials] = []
        found_option: list[str] = []
        blank: dict[str, str | None] = dict.fromkeys(
            ("BAOHUANG_TOKEN", "BAOHUANG_TOKEN_FILE", "BAOHUANG_DATA_DIR"), None
        )
        done = CliRunner().invoke(command, options, env=blank | variables, standalone_mode=False)
        if done.exception:
            raise done.exception
        assert found_option == [f" --token-file {options[1]}" if options else ""]
        return found[0]

    return choose


def write(path: str, token: str) -> None:
    Path(path).parent.mkdir(exist_ok=True)
    Path(path).write_text(f"{token}\n")


def test_an_option_goes_before_a_file_in_a_variable_before_a_variable_before_the_usual_place(choose: Choose) -> None:
    write("option", "bh_option")
    write("file", "bh_file")
    write("data/operator.token", "bh_usual")
    variables = {"BAOHUANG_TOKEN_FILE": "file", "BAOHUANG_TOKEN": "bh_variable"}
    assert choose("--token-file", "option", **variables).token == "bh_option"
    assert choose(**variables).token == "bh_file"
    assert choose(BAOHUANG_TOKEN="bh_variable") == Credentials("bh_variable", "the variable BAOHUANG_TOKEN")
    usual = choose()
    assert (usual.token, usual.source, usual.is_guess) == ("bh_usual", "data/operator.token", True)


def test_the_usual_place_follows_the_data_directory(choose: Choose) -> None:
    write("elsewhere/operator.token", "bh_elsewhere")
    assert choose(BAOHUANG_DATA_DIR="elsewhere").token == "bh_elsewhere"
    assert choose() == Credentials()


@pytest.mark.parametrize("server", ["arena.example.org:7400", "192.0.2.1:7400", "[2001:db8::1]:7400", "10.0.0.1:7400"])
def test_a_token_that_nobody_named_never_leaves_this_machine(choose: Choose, server: str) -> None:
    write("data/operator.token", "bh_usual")
    assert choose(server=server) == Credentials()
    # one that was named is meant
    assert choose("--token-file", "data/operator.token", server=server).token == "bh_usual"


@pytest.mark.parametrize(
    ("server", "local"),
    [
        ("127.0.0.1:1", True),
        ("127.8.8.8:1", True),
        ("[::1]:1", True),
        ("localhost:1", True),
        ("localhost.example.org:1", False),
        ("0.0.0.0:1", False),
        ("127.0.0.1.example.org:1", False),
        ("", False),
    ],
)
def test_what_is_on_this_machine(server: str, local: bool) -> None:
    assert is_local(server) is local


def test_a_token_is_in_no_repr_and_in_no_advice() -> None:
    shown = Credentials("bh_marked", "file")
    assert "bh_marked" not in repr(shown) + advice(shown)
    assert advice(shown).startswith("The token shown is that of file.")
    assert advice(Credentials()).startswith("Name the file of one that does with --token-file")
