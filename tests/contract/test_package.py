"""The installed distribution: what it plugs in is really there."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points

import click
import pytest

COMMANDS = sorted(entry_points(group="baohuang.commands"), key=lambda point: point.name)


@pytest.mark.parametrize("command", COMMANDS, ids=[point.name for point in COMMANDS])
def test_server_command_plugs_in(command: EntryPoint) -> None:
    loaded = command.load()
    assert isinstance(loaded, click.Command)
    assert loaded.name == command.name


def test_console_script_is_there() -> None:
    (script,) = entry_points(group="console_scripts", name="baohuang")
    assert callable(script.load())
