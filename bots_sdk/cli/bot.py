"""`baohuang bot`: run a bot against a platform, check it, register it, enter it in tournaments."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import click

from bots_sdk.cli.addresses import server_option
from bots_sdk.cli.tls import chosen_tls, format_tls_options, tls_options
from bots_sdk.rules.profiles import PROFILES

TOKEN_VARIABLE = "BAOHUANG_TOKEN"
GIVE_UP_S = 10.0
"""A check waits so long for a decision."""
_Value = TypeVar("_Value")
_Command = TypeVar("_Command", bound=Callable[..., object])


def _server_option(command: _Command) -> _Command:
    return server_option(tls_options(command))


def _token_options(command: _Command) -> _Command:
    # There is no option for the token itself: every user of the machine can list what others have typed.
    return click.option(
        "--token-file",
        type=click.Path(dir_okay=False, path_type=Path),
        help=f"A file with the bot's token; the variable {TOKEN_VARIABLE} does as well.",
    )(command)


@click.group()
def bot() -> None:
    """Run, check and register a bot."""


@bot.command()
@click.argument("bot_text", metavar="BOT")
@_server_option
@_token_options
@click.option("--tables", type=click.IntRange(1), default=8, show_default=True, help="Tables the bot takes at once.")
@click.option(
    "--threads",
    type=click.IntRange(0),
    help="Tables that think at the same time; 0: in the network's own thread, for bots that answer in microseconds."
    "  [default: 4; 0 for house bots]",
)
@click.option("--seed", default="0", show_default=True, help="For bots whose __init__ takes a seed.")
def run(
    bot_text: str,
    server: str,
    token_file: Path | None,
    tables: int,
    threads: int | None,
    seed: str,
) -> None:
    """Connect BOT to a platform and play until Ctrl-C.

    BOT is `greedy`, `random`, or a class in a file as in `my_bot.py:MyBot`. Whatever breaks, it comes back by itself.
    """
    tls = chosen_tls()
    from bots_sdk.loading import load_bot
    from bots_sdk.runner import BotRunner, RunnerSettings

    settings = RunnerSettings(server, _token(token_file), tables, threads, seed, tls)
    runner = BotRunner(load_bot(bot_text), settings, say=lambda line: click.echo(line, err=True))
    code = 0
    try:
        code = asyncio.run(_until_told(runner))
    finally:
        if runner.has_been_in:
            left = f"; {runner.tables} tables were still being played" if runner.tables else ""
            click.echo(f"Left{left}: {runner.statistics.summary()}.", err=True)
    raise click.exceptions.Exit(code)


async def _until_told(runner: Any) -> int:
    """Run until SIGINT or SIGTERM; returns the exit code that says which."""
    from bots_sdk.cli.stopping import stop_signals

    with stop_signals(lambda line: click.echo(line, err=True)) as told:
        task = asyncio.create_task(runner.run())
        await asyncio.wait([task, told], return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            task.result()
            return 0
        task.cancel()
        await asyncio.wait([task])
        return told.result()


@bot.command()
@click.argument("name")
@_server_option
@click.option("--owner", default="", help="Who answers for the bot; shown to operators.")
@click.option("--bot-version", "version", default="", help="The bot's own version.")
@click.option(
    "--token-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the token to this new file, readable by you alone, instead of printing it.",
)
@click.option(
    "--operator-token-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A file with an operator's token, for a platform on which operators register bots.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object, for scripts.")
def register(  # noqa: PLR0913 - one for each option
    name: str,
    server: str,
    owner: str,
    version: str,
    token_file: Path | None,
    operator_token_file: Path | None,
    as_json: bool,
) -> None:
    """Register a bot. Its token is printed, or written to a file, this once."""
    from bots_sdk.client.lobby import LobbyClient

    address, tls = server, chosen_tls()
    operator = _read_token(operator_token_file, "--operator-token-file") if operator_token_file else ""
    write = _new_secret(token_file) if token_file else None

    async def call() -> Any:
        async with LobbyClient(address, tls) as lobby:
            return await lobby.register(name, owner, version, operator)

    try:
        made = _wait_for(call())
    except BaseException:
        if token_file:
            token_file.unlink(missing_ok=True)
        raise
    if write is not None:
        write(made.token)
    if as_json:
        told = {"bot_id": made.bot_id, "name": made.name}
        click.echo(json.dumps(told if write else {**told, "token": made.token}))
        return
    if write is not None:
        click.echo(
            f"{name} is registered; its token is in {token_file}, and nowhere else. Then:\n"
            f"  baohuang bot run my_bot.py:MyBot --server {address}{format_tls_options()} "
            f"--token-file {token_file}",
            err=True,
        )
        return
    click.echo(made.token)
    click.echo(
        f"{name} is registered. The line above is its token; keep it, it is not shown again. Then:\n"
        f"  export {TOKEN_VARIABLE}=TOKEN\n  baohuang bot run my_bot.py:MyBot --server {address}{format_tls_options()}",
        err=True,
    )


def _new_secret(path: Path) -> Callable[[str], None]:
    """Makes a file that only its owner can read, before there is anything to lose; returns what writes into it."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise click.UsageError(f"{path} is there already; a token is written to a new file only.") from None
    except OSError as error:
        raise click.UsageError(f"{path} cannot be written: {error.strerror}.") from None

    def write(secret: str) -> None:
        with os.fdopen(descriptor, "w") as file:
            file.write(f"{secret}\n")

    return write


@bot.command(name="list")
@_server_option
@_token_options
@click.option("--json", "as_json", is_flag=True, help="One JSON object for each bot, for scripts.")
def list_bots(server: str, token_file: Path | None, as_json: bool) -> None:
    """List the bots of a platform and who is in."""
    from bots_sdk.client.lobby import LobbyClient

    address, tls = server, chosen_tls()
    known = _token(token_file, needed=False)

    async def call() -> Any:
        async with LobbyClient(address, tls) as lobby:
            return await lobby.list_bots(known)

    found = _wait_for(call())
    if as_json:
        for one in found:
            since = one.since.isoformat() + "Z" if one.since else None
            click.echo(
                json.dumps(
                    {"bot_id": one.bot_id, "name": one.name, "owner": one.owner, "version": one.version}
                    | {"here": one.here, "presence": one.presence, "since": since}
                )
            )
        return
    if not found:
        click.echo("No bot is registered yet.", err=True)
    width = max((len(one.name) for one in found), default=0)
    for one in found:
        # Platforms forget at a restart who came before.
        presence = "not seen since the platform started" if one.presence == "never" else one.presence
        since = f" since {one.since:%Y-%m-%d %H:%M} UTC" if one.since else ""
        click.echo(f"{one.name:<{width}}  {presence}{since}  {one.version}  {one.owner}".rstrip())


@bot.command()
@click.argument("tournament")
@_server_option
@_token_options
@click.option("--json", "as_json", is_flag=True, help="One JSON object, for scripts.")
def enter(tournament: str, server: str, token_file: Path | None, as_json: bool) -> None:
    """Enter the bot whose token it is in TOURNAMENT, which must be open.

    Who plays is settled when an operator starts it. Until then `baohuang bot withdraw` takes it back.
    """
    one = _at_the_entrance(server, _token(token_file), tournament, "enter")
    _show_entrance(one, as_json, f"Entered in {tournament}")


@bot.command()
@click.argument("tournament")
@_server_option
@_token_options
@click.option("--json", "as_json", is_flag=True, help="One JSON object, for scripts.")
def withdraw(tournament: str, server: str, token_file: Path | None, as_json: bool) -> None:
    """Take the bot whose token it is out of TOURNAMENT, as long as that was not started."""
    one = _at_the_entrance(server, _token(token_file), tournament, "withdraw")
    _show_entrance(one, as_json, f"Withdrawn from {tournament}")


def _at_the_entrance(address: str, token: str, tournament: str, verb: str) -> Any:
    from bots_sdk.client.entrance import EntranceClient

    tls = chosen_tls()

    async def call() -> Any:
        async with EntranceClient(address, tls) as entrance:
            return await getattr(entrance, verb)(token, tournament)

    return _wait_for(call())


def _show_entrance(one: Any, as_json: bool, what: str) -> None:
    if as_json:
        told = {"tournament": one.name, "entrants": list(one.entrants)}
        click.echo(json.dumps(told | {"least": one.least, "most": one.most}))
    else:
        bots = "1 bot" if len(one.entrants) == 1 else f"{len(one.entrants)} bots"
        click.echo(f"{what}; {bots} entered so far, {one.least} to {one.most} may play.")


@bot.command(short_help="Play under every profile of the rules and report what goes wrong.")
@click.argument("bot_text", metavar="BOT")
@click.option("--deals", type=click.IntRange(1), default=60, show_default=True, help="How many deals, at least.")
@click.option("--profile", "profiles", multiple=True, type=click.Choice(list(PROFILES)), help="[default: all of them]")
@click.option("--seed", default="0", show_default=True, help="The same seed gives the same deals.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object, for scripts.")
def check(bot_text: str, deals: int, profiles: tuple[str, ...], seed: str, as_json: bool) -> None:
    """Play deals with BOT under every profile of the rules and report what goes wrong.

    Exit code 1 if it raises, answers what is not legal, changes its view, takes longer than a second for a decision, or
    does not answer at all within ten.
    """
    from bots_sdk.cli.hosting import BotHung, bots_print_to_stderr, hosting
    from bots_sdk.loading import load_bot
    from bots_sdk.testing import check_bot

    with bots_print_to_stderr():
        source = load_bot(bot_text)
    names = profiles or tuple(PROFILES)
    try:
        with hosting(deals, hidden=as_json, give_up_s=GIVE_UP_S) as advance:
            report = check_bot(lambda: source.make(seed), deals, profiles=names, seed=seed, on_match=advance)
    except BotHung as error:
        hung = f"no answer within {GIVE_UP_S:g} s ({error})"
        click.echo(json.dumps({"fit": False, "hung": hung}) if as_json else f"{source.name} needs mending: {hung}.")
        raise click.exceptions.Exit(1) from None
    _show_check(source.name, report, as_json=as_json)
    raise click.exceptions.Exit(0 if report.is_fit else 1)


def _show_check(name: str, report: Any, *, as_json: bool) -> None:
    if as_json:
        click.echo(
            json.dumps(
                {"fit": report.is_fit, "deals": report.deals, "decisions": report.decisions, "slow": report.slow}
                | {"mean_s": report.mean_s, "most_s": report.most_s, "mishaps": dict(report.mishaps), "hung": None}
            )
        )
    else:
        click.echo("\n".join(report.sentences()))
        click.echo(f"{name} is fit to play." if report.is_fit else f"{name} needs mending.")


def _wait_for(call: Coroutine[Any, Any, _Value]) -> _Value:
    from bots_sdk.errors import Unreachable

    try:
        return asyncio.run(call)
    except Unreachable as error:
        raise click.ClickException(
            f"{error}: is `baohuang serve` running there? --server HOST:PORT names another platform"
        ) from error


def _token(file: Path | None, *, needed: bool = True) -> str:
    if file is not None:
        return _read_token(file, "--token-file")
    token = os.environ.get(TOKEN_VARIABLE, "").strip()
    if not token and needed:
        raise click.UsageError(
            f"a token is needed: --token-file or the variable {TOKEN_VARIABLE}; `baohuang bot register NAME` gives one"
        )
    return _verified(token)


def _read_token(file: Path, option: str) -> str:
    try:
        token = file.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a text"
        raise click.BadParameter(f"{file} cannot be read: {reason}", param_hint=option) from error
    if not token:
        raise click.BadParameter(f"{file} is empty: was the bot registered?", param_hint=option)
    return _verified(token)


def _verified(token: str) -> str:
    # It travels in a header, which takes printable ASCII only.
    if not all(" " < sign <= "~" for sign in token):
        raise click.UsageError("the token has signs that no token has; was it copied completely?")
    return token
