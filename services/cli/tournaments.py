"""`baohuang tournament …`: everything an operator does with tournaments, over gRPC."""

from __future__ import annotations

import secrets
import shlex
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bots_sdk.cli.addresses import server_option
from bots_sdk.cli.tls import chosen_tls, tls_options
from services.cli.calling import call_platform
from services.cli.credentials import token_options
from services.cli.errors import UNREACHABLE, CommandFailed

if TYPE_CHECKING:
    from baohuang.tournament.v1 import tournament_service_pb2 as pb
    from services.cli.client import Client

EXIT_NOT_FINISHED = 3
"""The tournament was paused or cancelled by somebody or something else."""
EXIT_INTERRUPTED = 130

_Command = Callable[..., Any]


@click.group()
def tournament() -> None:
    """Run tournaments, watch them, read their standings."""


def common_options(command: _Command) -> _Command:
    """What every command takes that calls a platform."""
    command = click.option("--json", "as_json", is_flag=True, help="Print one line of JSON, for scripts.")(command)
    return server_option(tls_options(token_options(command)))


@tournament.command()
@click.argument("spec", type=click.Path(path_type=Path))
@click.option("--detach", is_flag=True, help="Return when it is started, instead of following it to its end.")
@common_options
def run(spec: Path, detach: bool, server: str, as_json: bool) -> None:
    """Start the tournament described in the YAML file SPEC and follow it.

    Ctrl-C pauses it: running matches are finished, and the command that goes on is printed.
    """
    text = read_file(spec)
    start_and_follow(server, lambda client: client.create(text), detach=detach, as_json=as_json)


@tournament.command()
@click.argument("name")
@click.option("--detach", is_flag=True, help="Return when it is started, instead of following it to its end.")
@common_options
def resume(name: str, detach: bool, server: str, as_json: bool) -> None:
    """Play what is scheduled in NAME and not done, and follow it."""
    start_and_follow(server, lambda client: client.resume(name), detach=detach, as_json=as_json)


@tournament.command()
@click.argument("spec", type=click.Path(path_type=Path))
@click.option("--rate", type=click.FloatRange(0.001), help="Deals a second of all tables, to say how long it takes.")
@common_options
def plan(spec: Path, rate: float | None, server: str, as_json: bool) -> None:
    """Check the YAML file SPEC and say what would be played, without starting anything.

    Where no platform answers it is planned here.
    """
    from services.cli.plans import ASSUMED_RATE, describe_plan, plan_here
    from services.cli.specs import is_draw_open
    from services.tournament.spec import is_nobody

    text = read_file(spec)

    async def ask(client: Client) -> tuple[pb.Plan, list[str]]:
        planned = await client.plan(text)
        return planned, await _unregistered(server, planned.entrants, client.token)

    is_here, strangers = False, list[str]()
    try:
        planned, strangers = call_platform(server, ask)
    except CommandFailed as failed:
        if failed.reason != UNREACHABLE:
            raise
        is_here, planned = True, plan_here(text, lambda: secrets.token_hex(16))
    _show(planned, describe_plan(planned, rate or ASSUMED_RATE), as_json)
    if is_here:
        click.echo(
            f"No platform answers at {server}, so this is planned here: which bots are registered was not looked at.",
            err=True,
        )
    if any(is_nobody(name) for name in planned.entrants):
        click.echo("Bots may enter: this is for the fewest that can start it.", err=True)
    if is_draw_open(text):
        click.echo("The file has no seed: another lot is drawn when it is created, and so other pools.", err=True)
    if strangers:
        click.echo(f"Not registered yet, and needed before it can run: {', '.join(strangers)}", err=True)


@tournament.command("list")
@common_options
def list_(server: str, as_json: bool) -> None:
    """List all tournaments, the newest first."""
    from services.cli import tables

    found = call_platform(server, lambda client: client.list())
    console = tables.make_console()
    if as_json:
        tables.print_json(console, [tables.as_json(one) for one in found])
    elif found:
        console.print(tables.tournaments_table(found))
    else:
        console.print("There are no tournaments yet: start one with `baohuang tournament run SPEC`.")


@tournament.command()
@click.argument("name")
@common_options
def show(name: str, server: str, as_json: bool) -> None:
    """Show where the tournament NAME stands."""
    do_verb(server, as_json, lambda client: client.get(name))


@tournament.command()
@click.argument("name")
@common_options
def pause(name: str, server: str, as_json: bool) -> None:
    """Finish the running matches of NAME and start no others."""
    do_verb(server, as_json, lambda client: client.pause(name))


@tournament.command()
@click.argument("name")
@common_options
def cancel(name: str, server: str, as_json: bool) -> None:
    """End NAME for good; its results are kept."""
    do_verb(server, as_json, lambda client: client.cancel(name))


@tournament.command()
@click.argument("name")
@click.argument("bot")
@click.option(
    "--results",
    type=click.Choice(["kept", "annulled"]),
    required=True,
    help="Whether what it has played counts, or counts for nobody.",
)
@click.option("--reason", default="", help="Why; everybody can read it.")
@common_options
def exclude(name: str, bot: str, results: str, reason: str, server: str, as_json: bool) -> None:
    """Let BOT play no more in NAME.

    Its matches that have not begun are left out. Said again, the last word counts, also when NAME is finished.
    """
    do_verb(server, as_json, lambda client: client.exclude(name, bot, annulled=results == "annulled", reason=reason))


@tournament.command()
@click.argument("name")
@click.argument("number", type=click.IntRange(min=0, max=2**63 - 1))
@click.option("--reason", default="", help="Why; it is kept with the result that is taken back.")
@common_options
def requeue(name: str, number: int, reason: str, server: str, as_json: bool) -> None:
    """Have match NUMBER of NAME played again, with the same deals.

    What is played of it now will not count; a result is taken back, unless its deals are known by now.
    """
    do_verb(server, as_json, lambda client: client.requeue(name, number, reason))


@tournament.command("in-flight")
@click.argument("name")
@click.argument("matches", type=click.IntRange(min=0, max=100_000))
@common_options
def in_flight(name: str, matches: int, server: str, as_json: bool) -> None:
    """Play at most MATCHES of NAME at once from now on; 0: as many as its file says.

    What runs is finished, also if it is more.
    """
    do_verb(server, as_json, lambda client: client.set_in_flight(name, matches))


@tournament.command()
@click.argument("name")
@click.option(
    "--by", type=click.Choice(["points", "beans"]), default="points", show_default=True, help="What comes first."
)
@click.option("--roles", is_flag=True, help="Also what each bot makes as emperor, guard, rebel and solo.")
@click.option("--ratings", is_flag=True, help="Also least-squares ratings, and OpenSkill.")
@click.option("--stage", type=click.IntRange(min=1), help="With pools: 1 their tables, 2 that of the final.")
@common_options
def standings(  # noqa: PLR0913 - options
    name: str, by: str, roles: bool, ratings: bool, stage: int | None, server: str, as_json: bool
) -> None:
    """Print the table of NAME, with 95 % intervals; with pools that of the latest stage."""

    async def read(client: Client) -> tuple[pb.Tournament, pb.GetStandingsResponse]:
        from baohuang.tournament.v1 import tournament_service_pb2 as pb

        order = pb.STANDINGS_ORDER_BY_BEANS if by == "beans" else pb.STANDINGS_ORDER_BY_POINTS
        return await client.get(name), await client.standings(name, order, stage or 0)

    _print_standings(*call_platform(server, read), as_json, roles=roles, ratings=ratings)


@tournament.command()
@click.argument("name")
@click.option("--limit", type=click.IntRange(min=0), default=100, show_default=True, help="So many at most; 0: all.")
@common_options
def matches(name: str, limit: int, server: str, as_json: bool) -> None:
    """List the matches of NAME that have a result, by their numbers."""
    from services.cli import tables

    found = call_platform(server, lambda client: client.matches(name, limit))
    console = tables.make_console()
    if as_json:
        tables.print_json(console, [tables.as_json(one) for one in found])
    elif found:
        console.print(tables.matches_table(found))
    else:
        console.print(f"No match of {name} has a result yet.", markup=False)


@tournament.command()
@click.argument("name")
@click.argument("number", type=click.IntRange(min=0, max=2**63 - 1))
@click.option(
    "--output", "-o", type=click.Path(path_type=Path), help="The file to write; usually NAME-NUMBER.pb.z here."
)
@common_options
def record(name: str, number: int, output: Path | None, server: str, as_json: bool) -> None:
    """Save the record of match NUMBER of NAME, for `baohuang replay`.

    Matches are numbered from 0. While other matches with the same deals are still to be played it is kept back.
    """
    from services.cli import tables

    found = call_platform(server, lambda client: client.record(name, number))
    file = output or Path(f"{name}-{number}.pb.z")
    try:
        file.write_bytes(found)
    except OSError as error:
        raise CommandFailed(f"The file {file} cannot be written ({error.strerror}): name another one.") from None
    if as_json:
        tables.print_json(tables.make_console(), {"file": str(file), "bytes": len(found)})
    else:
        click.echo(f"{file}: match {number} of {name}. Check it with: baohuang replay verify {shlex.quote(str(file))}")


async def _unregistered(server: str, entrants: Iterable[str], token: str) -> list[str]:
    from bots_sdk.client import LobbyClient
    from bots_sdk.errors import ArenaError
    from services.tournament.spec import house_bot_id, is_nobody

    try:
        async with LobbyClient(server, chosen_tls()) as lobby:
            known = {bot.name for bot in await lobby.list_bots(token)}
    except ArenaError:  # it is a remark only
        return []
    remote = [name for name in entrants if house_bot_id(name) is None and not is_nobody(name)]
    return [name for name in remote if name not in known]


def do_verb(server: str, as_json: bool, call: Callable[[Client], Awaitable[pb.Tournament]]) -> None:
    """Say it to the platform, and show the tournament as it is then."""
    from services.cli import tables

    one = call_platform(server, call)
    _show(one, tables.describe_tournament(one), as_json)


def _show(message: Any, lines: Iterable[str], as_json: bool) -> None:
    from services.cli import tables

    console = tables.make_console()
    if as_json:
        tables.print_json(console, tables.as_json(message))
    else:
        console.print("\n".join(lines), markup=False, soft_wrap=True)


def start_and_follow(
    server: str, call: Callable[[Client], Awaitable[pb.Tournament]], *, detach: bool, as_json: bool
) -> None:
    """Start or resume a tournament, and follow it unless told otherwise."""
    from services.cli import tables
    from services.cli.running import Interrupted, follow_to_the_end, resume_command

    if detach:
        do_verb(server, as_json, call)
        return
    try:
        one, table = call_platform(
            server, lambda client: follow_to_the_end(client, call, server, tables.make_console(), quiet=as_json)
        )
    except Interrupted as interrupted:
        click.echo(f"Go on with: {resume_command(interrupted.name, server)}", err=True)
        raise click.exceptions.Exit(EXIT_INTERRUPTED) from None
    _print_standings(one, table, as_json)
    state = tables.state_name(one.state)
    if state != "finished":
        remark = f": {tables.remark(one)}" if tables.remark(one) else ""
        click.echo(f"{one.name} is {state}{remark}", err=True)
        if state == "paused":
            click.echo(f"Go on with: {resume_command(one.name, server)}", err=True)
        raise click.exceptions.Exit(EXIT_NOT_FINISHED)


def _print_standings(
    one: pb.Tournament, table: pb.GetStandingsResponse, as_json: bool, *, roles: bool = False, ratings: bool = False
) -> None:
    from services.cli import tables
    from services.cli.specs import describe_datum

    console = tables.make_console()
    if as_json:
        lines = [tables.as_json(line) for line in table.standings]
        stage = {"stage": table.stage, "stages": table.stages} if table.stages > 1 else {}
        tables.print_json(console, {"tournament": tables.as_json(one), **stage, "standings": lines})
        return
    progress = table.progress
    for title, lines_of in tables.by_pool(table):
        if title:
            console.print(title, markup=False)
        console.print(tables.standings_table(lines_of))
        if ratings:
            console.print(tables.ratings_table(lines_of))
        if roles:
            console.print(tables.roles_table(lines_of))
    if datum := describe_datum(one.spec_yaml):
        console.print(datum, markup=False, soft_wrap=True)
    for line in tables.describe_exclusions(one):
        console.print(line, markup=False, soft_wrap=True)
    console.print(
        f"{one.name}: {progress.deals_done} of {progress.deals} deals in {progress.matches_done} matches, "
        f"{progress.faults} faults",
        markup=False,
        soft_wrap=True,
    )


def read_file(spec: Path) -> str:
    """The text of a tournament file without mistakes; the platform itself could not send a long list of them."""
    from services.tournament.spec import SpecError, parse_spec

    try:
        text = spec.read_text(encoding="utf-8")
        parse_spec(text)
    except OSError as error:
        raise CommandFailed(f"The file {spec} cannot be read ({error.strerror}): name a YAML file.") from None
    except UnicodeDecodeError:
        raise CommandFailed(f"The file {spec} is no UTF-8 text: name a YAML file.") from None
    except SpecError as error:
        mistakes = "\n".join(f"  {problem}" for problem in error.problems)
        number = len(error.problems)
        raise CommandFailed(
            f"The file {spec} has {'a mistake' if number == 1 else f'{number} mistakes'}:\n{mistakes}",
            "REASON_SPEC_INVALID",
        ) from None
    return text
