"""Which ledger a command means that reads or changes one by itself, without a platform."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from services.cli.errors import CommandFailed, SettingWrong, sentence

if TYPE_CHECKING:
    from services.common.settings import Settings

_Command = Callable[..., Any]


def ledger_options(command: _Command) -> _Command:
    """Adds `--data` and `--ledger`."""
    command = click.option(
        "--ledger", metavar="URL", help="The PostgreSQL database of the ledger; @FILE: the one named there."
    )(command)
    return click.option(
        "--data",
        "data",
        type=click.Path(file_okay=False, path_type=Path),
        metavar="DIR",
        help="The platform's data directory.  [default: data]",
    )(command)


def chosen_ledger(data: Path | None, ledger: str | None) -> Settings:
    """The settings that say where it is, from options and variables; a file is there.

    Raises CommandFailed.
    """
    from services.common.errors import SetupError
    from services.common.settings import LEDGER_FILE, load_ledger_settings

    try:
        settings = load_ledger_settings({"data_dir": data, "ledger": ledger})
    except SetupError as error:
        raise SettingWrong(sentence(error.message, error.next_step), error.reason.wire_name) from None
    if not settings.ledger and not (settings.data_dir / LEDGER_FILE).is_file():
        raise CommandFailed(f"There is no ledger in {settings.data_dir}: name a platform's data directory with --data.")
    return settings
