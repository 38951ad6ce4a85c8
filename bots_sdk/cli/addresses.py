"""`--server HOST:PORT`, for every command that calls a platform."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import click

DEFAULT_SERVER = "127.0.0.1:7400"

_Command = TypeVar("_Command", bound=Callable[..., object])


def server_option(command: _Command) -> _Command:
    """Adds `--server` to a command; what it gives has the form of an address."""
    return click.option(
        "--server",
        default=DEFAULT_SERVER,
        show_default=True,
        metavar="HOST:PORT",
        callback=lambda _context, _option, text: parse_address(text),
        help="The platform's gRPC address.",
    )(command)


def parse_address(text: str) -> str:
    """The address as it is typed. Raises click.BadParameter when it cannot be one."""
    host, colon, port = text.rpartition(":")
    is_port = port.isascii() and port.isdigit() and len(port) <= len("65535") and 0 < int(port) < 65536
    if not colon or not host or not is_port or "/" in host or any(sign.isspace() for sign in host):
        raise click.BadParameter(
            f"{text!r} is not of the form HOST:PORT, as in {DEFAULT_SERVER}", param_hint="--server"
        )
    return text
