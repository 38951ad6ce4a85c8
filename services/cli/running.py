"""Follows a tournament that was just started, to its end or to Ctrl-C."""

from __future__ import annotations

import asyncio
import contextlib
import shlex
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import click
import grpc

from baohuang.tournament.v1 import tournament_service_pb2 as pb
from bots_sdk.cli.addresses import DEFAULT_SERVER
from bots_sdk.cli.tls import format_tls_options
from services.cli.client import ENDED, Client
from services.cli.credentials import format_token_option
from services.cli.errors import CommandFailed
from services.cli.following import follow

if TYPE_CHECKING:
    from rich.console import Console


class Interrupted(Exception):
    """Ctrl-C came, and the tournament was paused, or at least told to."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


async def follow_to_the_end(
    client: Client, start: Callable[[Client], Awaitable[pb.Tournament]], server: str, console: Console, *, quiet: bool
) -> tuple[pb.Tournament, pb.GetStandingsResponse]:
    """Start a tournament and follow it until nothing happens any more; how it stands then, and its table.

    Raises Interrupted after Ctrl-C, CommandFailed when the platform goes away, grpc.RpcError for what it refuses.
    """
    name = (await start(client)).name
    try:
        last = await _watch(client, name, console, quiet=quiet)
    except asyncio.CancelledError:  # Ctrl-C
        current = asyncio.current_task()
        assert current is not None
        current.uncancel()
        await _pause(client, name)
        raise Interrupted(name) from None
    except grpc.aio.AioRpcError as error:
        if error.code() is not grpc.StatusCode.UNAVAILABLE:
            raise
        last = None
    if last is None or last.state not in ENDED:
        raise CommandFailed(
            f"The platform at {server} is gone; nothing finished is lost. Start it again with `baohuang serve`, then "
            f"follow the tournament with: {resume_command(name, server)}",
            "REASON_UNREACHABLE",
        )
    return last, await client.standings(name)


def resume_command(name: str, server: str) -> str:
    """What to type to go on."""
    where = "" if server == DEFAULT_SERVER else f" --server {server}"
    return f"baohuang tournament resume {shlex.quote(name)}{where}{format_tls_options()}{format_token_option()}"


async def _watch(client: Client, name: str, console: Console, *, quiet: bool) -> pb.Tournament | None:
    if not quiet:
        return await follow(client.watch(name), console)
    last = None
    async for one in client.watch(name):
        last = one
    return last


async def _pause(client: Client, name: str) -> None:
    """Finish what runs. A second Ctrl-C ends the command by KeyboardInterrupt; the pause goes on without it."""
    click.echo(f"Pausing {name}: running matches are finished; Ctrl-C again leaves at once.", err=True)
    with contextlib.suppress(grpc.aio.AioRpcError):
        await client.pause(name)
        async for one in client.watch(name):
            if one.state in ENDED:
                break
