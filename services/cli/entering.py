"""`baohuang tournament create | edit | open | enter | withdraw | start`: a tournament before it is played."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from services.cli.tournaments import common_options, do_verb, read_file, start_and_follow, tournament

if TYPE_CHECKING:
    from baohuang.tournament.v1 import tournament_service_pb2 as pb
    from services.cli.client import Client

__all__ = ["tournament"]


@tournament.command()
@click.argument("spec", type=click.Path(path_type=Path))
@click.option("--draft", "stage", flag_value="draft", help="Only write it down, for operators to see and edit.")
@click.option("--open", "stage", flag_value="open", help="Let bots enter; `start` begins it.")
@common_options
def create(spec: Path, stage: str | None, server: str, as_json: bool) -> None:
    """Store the tournament described in the YAML file SPEC, and start it, or leave that for later.

    `run` does the same and follows it.
    """
    text = read_file(spec)

    async def call(client: Client) -> pb.Tournament:
        from baohuang.tournament.v1 import tournament_service_pb2 as pb

        states = {None: pb.STATE_RUNNING, "draft": pb.STATE_DRAFT, "open": pb.STATE_OPEN}
        return await client.create(text, states[stage])

    do_verb(server, as_json, call)


@tournament.command()
@click.argument("spec", type=click.Path(path_type=Path))
@common_options
def edit(spec: Path, server: str, as_json: bool) -> None:
    """Put the YAML file SPEC in the place of the draft of the same name.

    If SPEC names no seed the draft keeps its own.
    """
    text = read_file(spec)
    do_verb(server, as_json, lambda client: client.edit(text))


@tournament.command("open")
@click.argument("name")
@common_options
def open_(name: str, server: str, as_json: bool) -> None:
    """Let bots enter NAME, which is a draft."""
    do_verb(server, as_json, lambda client: client.open(name))


@tournament.command()
@click.argument("name")
@click.argument("bot", default="")
@common_options
def enter(name: str, bot: str, server: str, as_json: bool) -> None:
    """Enter BOT in NAME, which must be open.

    With a bot's own token BOT may be left out, as in `baohuang bot enter NAME`.
    """
    do_verb(server, as_json, lambda client: client.enter(name, bot))


@tournament.command()
@click.argument("name")
@click.argument("bot", default="")
@common_options
def withdraw(name: str, bot: str, server: str, as_json: bool) -> None:
    """Take BOT out of NAME, which must be open.

    It cannot come back by itself; `enter` brings it back. Once NAME was started, `exclude` does it.
    """
    do_verb(server, as_json, lambda client: client.withdraw(name, bot))


@tournament.command()
@click.argument("name")
@click.option("--detach", is_flag=True, help="Return when it is started, instead of following it to its end.")
@common_options
def start(name: str, detach: bool, server: str, as_json: bool) -> None:
    """Settle who plays in NAME, play it, and follow it."""
    start_and_follow(server, lambda client: client.start(name), detach=detach, as_json=as_json)
