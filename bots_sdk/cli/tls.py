"""`--tls` and what belongs to it, for every command that calls a platform; files or a switch, never a secret itself."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from bots_sdk.client.tls import Tls

VARIABLE = "BAOHUANG_TLS"
_KEY = "bots_sdk.cli.tls"
_Command = TypeVar("_Command", bound=Callable[..., object])


def tls_options(command: _Command) -> _Command:
    """Adds the options to a command; their values are not handed to it, `chosen_tls` has them."""
    for name, text in reversed(
        (
            ("ca", "Speak TLS with a platform whose certificate is of this authority (PEM)."),
            ("cert", "Your own certificate (PEM), for a platform that demands one."),
            ("key", "Private key of your certificate (PEM)."),
        )
    ):
        command = click.option(
            f"--tls-{name}",
            metavar="FILE",
            type=click.Path(dir_okay=False, path_type=Path),
            envvar=f"{VARIABLE}_{name.upper()}",
            expose_value=False,
            callback=_remember,
            help=f"{text}  [{VARIABLE}_{name.upper()}]",
        )(command)
    return click.option(
        "--tls",
        is_flag=True,
        envvar=VARIABLE,
        expose_value=False,
        callback=_remember,
        help=f"Speak TLS with a platform whose certificate the system trusts.  [{VARIABLE}]",
    )(command)


def chosen_tls() -> Tls | None:
    """What was chosen for the command that runs; None: plain text.

    Raises:
        TlsFailed: a file is not in order.
        click.UsageError: a certificate without its key, or the other way round.
    """
    context = click.get_current_context(silent=True)
    given = {} if context is None else context.meta.get(_KEY, {})
    ca, certificate, key = (given.get(name) for name in ("tls_ca", "tls_cert", "tls_key"))
    if not any((given.get("tls"), ca, certificate, key)):
        return None
    if (certificate is None) is not (key is None):
        raise click.UsageError("--tls-cert and --tls-key go together: a certificate is of no use without its key.")
    from bots_sdk.client.tls import Tls

    tls = Tls(ca, certificate, key)
    tls.credentials()
    return tls


def format_tls_options() -> str:
    """What was chosen, as it is typed, with a space before each; for commands that name the next one to type."""
    context = click.get_current_context(silent=True)
    given = {} if context is None else context.meta.get(_KEY, {})
    files = [(f"--{name.replace('_', '-')}", value) for name, value in given.items() if isinstance(value, Path)]
    if not files and given.get("tls"):
        return " --tls"
    return "".join(f" {option} {shlex.quote(str(path))}" for option, path in sorted(files))


def _remember(context: click.Context, parameter: click.Parameter, value: object) -> object:
    # Before gRPC is loaded, which would write about every handshake that fails: what is wrong is said by us.
    os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
    context.meta.setdefault(_KEY, {})[parameter.name] = value
    return value
