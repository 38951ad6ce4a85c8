"""`baohuang demo`: the whole platform at work, with bots in processes of their own, in less than a minute."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from services.cli.errors import CommandFailed, plain_errors

if TYPE_CHECKING:
    from baohuang.tournament.v1 import tournament_service_pb2 as pb
    from services.gateway.gateway import Addresses

NAME = "demo"
DEALS_A_MATCH = 2
TABLES = 32
"""Tables that each bot takes at once: the more there are, the fuller the messages, and the less a decision costs."""

MATCH_SERVICES = 1
"""The bots need the other cores, and one match service with all the tables has the fullest messages."""

BOT_PATIENCE = 5.0
"""Seconds for the bots to end when they are told to."""

GRACE = 2.0
"""Seconds for the platform to end: nothing is being played any more."""

EXIT_INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Player:
    """A house bot that plays as a remote one: its name, which bot it is, and what proves who it is."""

    name: str
    kind: str
    token: str = field(repr=False)


@click.command()
@click.option("--bots", default=8, show_default=True, type=click.IntRange(6, 40), help="House bots, each a process.")
@click.option("--deals", default=300, show_default=True, type=click.IntRange(300, 100_000), help="Deals, at least.")
@click.option("--data", type=click.Path(path_type=Path), default=Path("demo-data"), show_default=True, help="Folder.")
@click.option("--keep", is_flag=True, envvar="KEEP", help="Stay up afterwards, until Ctrl-C (also KEEP=1).")
def demo(bots: int, deals: int, data: Path, keep: bool) -> None:
    """Start a platform here, connect house bots to it as any remote bot would, and play a tournament."""
    with plain_errors():
        code = asyncio.run(_demo(bots, deals, data, keep))
    raise click.exceptions.Exit(code)


async def _demo(bots: int, deals: int, data: Path, keep: bool) -> int:
    """Gives the exit code: asyncio reports on whatever is raised here after a second Ctrl-C."""
    from services.cli.running import Interrupted
    from services.common.logging import configure_logging
    from services.common.settings import Settings
    from services.main import Platform, streams_to

    settings = Settings(data_dir=_fresh_folder(data), port=0, http_port=0, match_services=MATCH_SERVICES)
    with streams_to(settings.logs_dir / "ray.log") as terminal:
        configure_logging(NAME, settings, terminal)
        terminal.write("Starting the platform: gateway and match service, on a Ray of their own ...\n")
        platform = Platform(settings)
        try:
            addresses = (await platform.start()).addresses
            async with _connected_bots(addresses.grpc, bots, settings.logs_dir, terminal) as players:
                token = platform.operator_file.read_text(encoding="utf-8").strip()
                table = await _play(addresses.grpc, token, players, deals, terminal)
                terminal.write(f"Ledger: {platform.ledger_place}  logs: {settings.logs_dir}\n")
                if keep:
                    await _stay_up(addresses, terminal)
            await platform.stop(GRACE)
        except Interrupted:
            terminal.write(f"Interrupted. What was played is in {platform.ledger_place}\n")
            return EXIT_INTERRUPTED
        finally:
            platform.close()
        progress = table.progress
        terminal.write(
            f"{progress.deals_done} deals, {progress.matches_done} matches, {progress.faults} faults "
            f"({progress.attempts_void} attempts void)\n"
        )
    return 0


async def _play(
    server: str, token: str, players: Sequence[Player], deals: int, terminal: TextIO
) -> pb.GetStandingsResponse:
    """Run the tournament, with a progress bar, and print its table."""
    from services.cli.client import connect
    from services.cli.running import follow_to_the_end
    from services.cli.tables import make_console, remark, standings_table

    console = make_console(terminal)
    async with connect(server, token=token) as client:
        spec = make_spec([player.name for player in players], deals)
        one, table = await follow_to_the_end(client, lambda client: client.create(spec), server, console, quiet=False)
    if table.progress.matches_done != table.progress.matches:
        raise CommandFailed(f"The tournament did not finish: {remark(one) or 'the logs tell why'}")
    console.print(standings_table(table.standings))
    return table


def make_spec(names: Sequence[str], deals: int) -> str:
    """The tournament of the demo: every two bots meet about equally often, every deal is played in five rotations."""
    matches = -(-deals // DEALS_A_MATCH)
    bots = "".join(f"  - {name}\n" for name in names)
    return (
        f"name: {NAME}\nprofile: qingdao\nbots:\n{bots}schedule:\n  kind: balanced\n  matches: {matches}\n"
        f"duplicate: rotation\ndeals: {DEALS_A_MATCH}\nclock:\n  limit: 5s\n"
    )


# ---- bots


@asynccontextmanager
async def _connected_bots(server: str, count: int, logs: Path, terminal: TextIO) -> AsyncIterator[list[Player]]:
    """House bots, registered and started as operating-system processes; they end with the context."""
    from bots_sdk.client import LobbyClient

    players: list[Player] = []
    async with LobbyClient(server) as lobby:
        for index in range(count):
            kind = ("greedy", "random")[index % 2]
            made = await lobby.register(f"{kind}-{index // 2 + 1}", owner="demo", version="")
            players.append(Player(made.name, kind, made.token))
    with _processes(players, server, logs):
        terminal.write(f"Started {count} bots, each a process of its own: {', '.join(one.name for one in players)}\n")
        yield players


@contextmanager
def _processes(players: Sequence[Player], server: str, logs: Path) -> Iterator[None]:
    from services.common.reaper import Reaper

    processes = [_start_bot(player, server, logs) for player in players]
    reaper = Reaper(process.pid for process in processes)
    try:
        yield
    finally:
        for process in processes:
            process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            for process in processes:
                process.wait(BOT_PATIENCE)
        reaper.close()  # kills those that did not listen
        for process in processes:
            process.wait()


def _start_bot(player: Player, server: str, logs: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "bots_sdk.cli", "bot", "run", player.kind]
    # The token goes by the environment: a list of processes shows arguments to everybody.
    # What it says of TLS is for another platform: this one is of this machine only.
    surroundings = {name: value for name, value in os.environ.items() if not name.startswith("BAOHUANG_TLS")}  # noqa: TID251
    surroundings["BAOHUANG_TOKEN"] = player.token
    with (logs / f"bot-{player.name}.log").open("wb") as log:
        return subprocess.Popen(
            [*command, "--server", server, "--tables", str(TABLES)],
            env=surroundings,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C is for the demo, which then ends them
        )


# ---- surroundings


def _fresh_folder(data: Path) -> Path:
    """A folder below `data` that is not there yet: every demo has a ledger of its own."""
    number = 1
    while (folder := data / f"{number:03}").exists():
        number += 1
    return folder


async def _stay_up(addresses: Addresses, terminal: TextIO) -> None:
    terminal.write(
        f"Page: http://{addresses.http}/  metrics: http://{addresses.http}/sd  gRPC: {addresses.grpc}\n"
        f"Try: baohuang tournament standings {NAME} --server {addresses.grpc}\n"
        "Staying up; Ctrl-C ends.\n"
    )
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        current = asyncio.current_task()
        assert current is not None
        current.uncancel()
