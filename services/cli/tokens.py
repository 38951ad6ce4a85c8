"""`baohuang token …`: who may do what on a platform, over gRPC; and the operator's token made anew, offline."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bots_sdk.cli.addresses import server_option
from bots_sdk.cli.tls import tls_options
from services.cli.calling import call_platform
from services.cli.credentials import chosen_credentials, token_options
from services.cli.errors import plain_errors
from services.cli.ledger_choice import chosen_ledger, ledger_options

if TYPE_CHECKING:
    from services.cli.client import Client

SCOPES = ("operate", "read")
"""What a token can be given; to play, one registers a bot."""

_Command = Callable[..., Any]


@click.group()
def token() -> None:
    """Make, list, replace and revoke tokens: who may operate and read, and which bots may play."""


def _common(command: _Command) -> _Command:
    command = click.option("--json", "as_json", is_flag=True, help="Print one line of JSON, for scripts.")(command)
    return server_option(tls_options(token_options(command)))


def _output(text: str) -> Callable[[_Command], _Command]:
    return click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help=text)


@token.command()
@click.argument("name")
@click.option(
    "--scope", "scopes", multiple=True, required=True, metavar="SCOPE", help="operate or read; may be given twice."
)
@_output("Write the token to this new file, readable by you alone, instead of printing it.")
@_common
def create(name: str, scopes: tuple[str, ...], output: Path | None, server: str, as_json: bool) -> None:
    """Make a token called NAME and give it out, this once.

    With the scope `operate` its owner may create, pause, resume and cancel tournaments, look after tokens, and read;
    with `read` only read, which matters on a platform that shows what it has to those alone who have a token.
    """
    for scope in scopes:
        if scope not in SCOPES:
            play = " To play, register a bot: `baohuang bot register NAME`." if scope == "play" else ""
            raise click.BadParameter(
                f"{scope!r} is no scope; there are {' and '.join(SCOPES)}.{play}", param_hint="--scope"
            )
    if output is not None and output.exists():
        raise click.UsageError(f"{output} is there already; a token is written to a new file only.")
    made = call_platform(server, lambda client: client.create_token(name, scopes))
    _give_out(name, made, output, as_json, f"The token {name} may {' and '.join(sorted(set(scopes)))}")


@token.command("list")
@_common
def list_(server: str, as_json: bool) -> None:
    """List the tokens there are and were.

    Those of bots are with the bots: `baohuang bot list`.
    """
    from services.cli import tables

    found = call_platform(server, lambda client: client.tokens())
    console = tables.make_console()
    if as_json:
        tables.print_json(console, [tables.as_json(one) for one in found])
    else:
        console.print(tables.tokens_table(found))


@token.command()
@click.argument("name")
@_output("Write the token to this file, readable by you alone, in place of what is there.")
@_common
def rotate(name: str, output: Path | None, server: str, as_json: bool) -> None:
    """Put another token in the place of NAME's.

    The old one ends at once; one that was revoked holds again in its new form. The token
    with which this command itself is let in is written back to the file that it came from.
    """

    async def replace(client: Client) -> tuple[str, bool]:
        caller = await client.caller()
        return await client.rotate_token(name), caller.name == name and not caller.is_bot

    made, is_own = call_platform(server, replace)
    own = chosen_credentials(server).file if is_own else None
    _give_out(name, made, output or own, as_json, f"The token {name} was replaced")


@token.command()
@click.argument("name")
@_common
def revoke(name: str, server: str, as_json: bool) -> None:
    """End the token NAME at once.

    Whatever was opened with it ends too.
    """
    call_platform(server, lambda client: client.revoke_token(name))
    _say({"name": name, "revoked": True}, f"The token {name} is revoked.", as_json)


@token.command("rotate-bot")
@click.argument("bot")
@_output("Write the token to this file, readable by you alone, in place of what is there.")
@_common
def rotate_bot(bot: str, output: Path | None, server: str, as_json: bool) -> None:
    """Give BOT another token.

    It is in place of the one the bot had, lost, or was taken away, which ends at once.
    """
    made = call_platform(server, lambda client: client.rotate_bot_token(bot))
    _give_out(bot, made, output, as_json, f"The bot {bot} has another token")


@token.command("revoke-bot")
@click.argument("bot")
@_common
def revoke_bot(bot: str, server: str, as_json: bool) -> None:
    """Throw BOT out.

    Its token and its tickets end at once, and it is sent away wherever it is connected. In matches it
    has begun its clock goes on, and after some timeouts a house bot plays for it.
    """
    call_platform(server, lambda client: client.revoke_bot_token(bot))
    _say({"name": bot, "revoked": True}, f"The bot {bot} is thrown out; its name stays taken.", as_json)


@token.command("reset-operator")
@ledger_options
def reset_operator(data: Path | None, ledger: str | None) -> None:
    """Make the operator's token anew, on the machine of a platform that is stopped: for a token that is lost."""
    with plain_errors():
        from services.access.operator import reset_operator_token
        from services.ledger.ledger import Ledger

        chosen = chosen_ledger(data, ledger)
        with Ledger.open(chosen.ledger_place) as opened:  # which refuses while the platform runs
            file = reset_operator_token(opened, chosen.data_dir)
    click.echo(f"Another operator's token is in {file}; the one before has ended.")


def _give_out(name: str, made: str, output: Path | None, as_json: bool, what: str) -> None:
    """The new token: into a file, or printed this once."""
    from services.access.operator import write_token
    from services.common.errors import SetupError

    if output is not None:
        try:
            write_token(output, made)
        except SetupError as error:
            click.echo(f"{error.message} So the token is shown here, this once:", err=True)
            output = None
    if output is not None:
        _say({"name": name, "file": str(output)}, f"{what}; it is in {output}, and nowhere else.", as_json)
    elif as_json:
        _say({"name": name, "token": made}, "", as_json)
    else:
        click.echo(made)
        click.echo(f"{what}. The line above is the token; keep it, it is not shown again.", err=True)


def _say(fields: dict[str, object], sentence: str, as_json: bool) -> None:
    from services.cli import tables

    if as_json:
        tables.print_json(tables.make_console(), fields)
    else:
        click.echo(sentence, err=True)
