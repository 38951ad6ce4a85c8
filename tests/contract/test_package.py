"""The installed distribution: what it plugs in is really there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points

import click
import pytest

from bots_sdk.cli.tree import cli

COMMANDS = sorted(entry_points(group="baohuang.commands"), key=lambda point: point.name)


@pytest.mark.parametrize("command", COMMANDS, ids=[point.name for point in COMMANDS])
def test_server_command_plugs_in(command: EntryPoint) -> None:
    loaded = command.load()
    assert isinstance(loaded, click.Command)
    assert loaded.name == command.name


def _commands(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for below in command.list_commands(context):
            found = command.get_command(context, below)
            assert found is not None
            yield from _commands(found, f"{name} {below}")


def test_no_option_takes_a_secret_itself() -> None:
    """Every user of a machine can list what others have typed, so a secret comes from a file or the environment."""
    every = dict(_commands(cli, "baohuang"))
    assert {"baohuang bot run", "baohuang tournament run", "baohuang serve", "baohuang dev-ca"} <= every.keys()
    for name, command in every.items():
        for option in command.params:
            if re.search("token|secret|password|passphrase|key|ticket", option.name or ""):
                is_file = isinstance(option.type, click.Path) or option.metavar == "FILE"
                assert is_file or getattr(option, "is_flag", False), f"{name} {option.opts}"


def test_console_script_is_there() -> None:
    (script,) = entry_points(group="console_scripts", name="baohuang")
    assert callable(script.load())
