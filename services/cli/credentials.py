"""The token with which a command calls a platform: where it is looked for, and what is said when it does not do."""

from __future__ import annotations

import ipaddress
import os
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import click

from services.cli.errors import CommandFailed

TOKEN_VARIABLE = "BAOHUANG_TOKEN"
FILE_VARIABLE = "BAOHUANG_TOKEN_FILE"
DATA_VARIABLE = "BAOHUANG_DATA_DIR"
DEFAULT_DATA = "data"
TOKEN_FILE = "operator.token"
"""Where `baohuang serve` keeps the first token, in its data directory."""

_KEY = "services.cli.credentials"
_Command = TypeVar("_Command", bound=Callable[..., object])


@dataclass(frozen=True, slots=True)
class Credentials:
    """A token, empty if there is none, and where it was found; `is_guess`: nobody said that it is for this platform."""

    token: str = field(default="", repr=False)
    source: str = ""
    file: Path | None = None
    is_guess: bool = False


def token_options(command: _Command) -> _Command:
    """Adds `--token-file`; its value is not handed to the command, `chosen_credentials` has it."""
    return click.option(
        "--token-file",
        metavar="FILE",
        type=click.Path(dir_okay=False, path_type=Path),
        envvar=FILE_VARIABLE,
        expose_value=False,
        callback=_remember,
        help=f"File with your token.  [{FILE_VARIABLE}, or the token itself in {TOKEN_VARIABLE}; default: the file "
        "that `baohuang serve` has made here]",
    )(command)


def chosen_credentials(server: str) -> Credentials:
    """What the command that runs shows to the platform at HOST:PORT.

    Raises CommandFailed for a file without a token.
    """
    if (file := _chosen_file()) is not None:
        return Credentials(_read(file), str(file), file)
    if token := os.environ.get(TOKEN_VARIABLE, "").strip():  # noqa: TID251 - a secret is no setting
        return Credentials(_verified(token, TOKEN_VARIABLE), f"the variable {TOKEN_VARIABLE}")
    guess = default_data() / TOKEN_FILE
    # Nobody said that this token is for that platform; at least it stays on this machine.
    if is_local(server) and guess.is_file() and os.access(guess, os.R_OK):
        return Credentials(_read(guess), str(guess), guess, is_guess=True)
    return Credentials()


def default_data() -> Path:
    """The data directory of a platform that was started here without naming another."""
    return Path(os.environ.get(DATA_VARIABLE) or DEFAULT_DATA)  # noqa: TID251 - where a file is, not what the platform does


def format_token_option() -> str:
    """What was chosen, as it is typed, with a space before; for commands that name the next one to type."""
    context = click.get_current_context(silent=True)
    source = context.meta.get(f"{_KEY}.source") if context is not None else None
    file = _chosen_file()
    return f" --token-file {shlex.quote(str(file))}" if file and source == "COMMANDLINE" else ""


def advice(credentials: Credentials) -> str:
    """Which token to use instead of the one that did not do, or of none."""
    where = (
        f"Name the file of one that does with --token-file or {FILE_VARIABLE}, or put the token itself into "
        f"{TOKEN_VARIABLE}; `baohuang serve` keeps an operator's token in {TOKEN_FILE} in its data directory."
    )
    if not credentials.token:
        return where
    return f"The token shown is that of {credentials.source}. {where}"


def is_local(server: str) -> bool:
    """Whether HOST:PORT is on this machine."""
    host = server.rpartition(":")[0].strip("[]")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _read(file: Path) -> str:
    try:
        token = file.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise CommandFailed(f"The token file {file} cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        token = ""
    return _verified(token, f"The token file {file}")


def _verified(token: str, where: str) -> str:
    # It travels in a header, which takes printable ASCII only.
    if not token or not all(" " < sign <= "~" for sign in token):
        raise CommandFailed(f"{where} holds no token: a token is one line that begins with bh_.")
    return token


def _chosen_file() -> Path | None:
    context = click.get_current_context(silent=True)
    file: Path | None = context.meta.get(_KEY) if context is not None else None
    return file


def _remember(context: click.Context, parameter: click.Parameter, value: object) -> object:
    context.meta[_KEY] = value
    source = context.get_parameter_source(parameter.name or "")
    context.meta[f"{_KEY}.source"] = source.name if source else ""
    return value
