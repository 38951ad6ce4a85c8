"""A bot in the lobby and at several match services, in this process and as `baohuang bot run`."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import grpc
import pytest

from baohuang.lobby.v1 import lobby_service_pb2 as lobby_pb
from bots_sdk.errors import Refused, Superseded, TokenRejected
from bots_sdk.loading import load_bot
from bots_sdk.runner import BotRunner, RunnerSettings
from bots_sdk.testing.fake_lobby import FakeLobby
from bots_sdk.testing.fake_match_service import FakeMatchService, abort
from bots_sdk.testing.hosted_match import HostedMatch, host

TOKEN = "token-of-mine"


class Platform:
    """A lobby and two match services."""

    def __init__(self, lobby: FakeLobby, services: list[FakeMatchService]) -> None:
        self.lobby = lobby
        self.services = services
        self.lobby.tokens[TOKEN] = "bot-1"
        self.said: list[str] = []
        self.runner = BotRunner(load_bot("greedy"), RunnerSettings(lobby.address, TOKEN, 4), self.said.append)
        self.task: asyncio.Task[None] | None = None

    def name(self, *indexes: int, ticket: str = "t") -> None:
        self.lobby.name_services(
            *(
                lobby_pb.MatchServiceTicket(
                    name=f"ms-{index}", address=self.services[index].address, ticket=ticket, tables=2
                )
                for index in indexes
            )
        )

    def start(self) -> asyncio.Task[None]:
        self.task = asyncio.create_task(self.runner.run())
        return self.task

    async def until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            assert self.task is not None
            assert not self.task.done(), self.task
            await asyncio.sleep(0.005)


@pytest.fixture
async def platform() -> AsyncIterator[Platform]:
    async with FakeLobby() as lobby, FakeMatchService() as first, FakeMatchService() as second:
        made = Platform(lobby, [first, second])
        yield made
        if made.task is not None:
            made.task.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await made.task


async def test_a_bot_plays_at_every_match_service_it_is_told(platform: Platform) -> None:
    platform.name(0, 1)
    platform.start()
    matches = [HostedMatch(1), HostedMatch(1, 3)]
    streams = [await service.next_stream() for service in platform.services]
    await asyncio.gather(*(host(stream, match) for stream, match in zip(streams, matches, strict=True)))
    await platform.until(lambda: platform.runner.statistics.matches == 2)
    assert [(stream.hello.ticket, stream.hello.tables) for stream in streams if stream.hello] == [("t", 2)] * 2
    assert platform.said[0] == f"in the lobby of {platform.lobby.address}"


async def test_a_match_service_named_later_is_joined_and_one_named_no_more_is_left(platform: Platform) -> None:
    platform.name(0)
    platform.start()
    first = await platform.services[0].next_stream()
    await first.welcome()
    platform.name(1)
    second = await platform.services[1].next_stream()
    await second.welcome()
    await first.gone()


async def test_play_goes_on_while_the_lobby_is_away(platform: Platform) -> None:
    platform.name(0)
    platform.start()
    stream = await platform.services[0].next_stream()
    await platform.lobby.stop()
    match = HostedMatch()
    await host(stream, match)
    await platform.until(lambda: platform.runner.statistics.matches == 1)
    await platform.lobby.start()
    attended = len(platform.lobby.attended)
    await platform.until(lambda: len(platform.lobby.attended) > attended)
    await platform.until(lambda: platform.said[-1].startswith("in the lobby"))
    assert len(platform.services[0].streams) == 1
    assert len([line for line in platform.said if "nobody answers" in line]) == 1


async def test_a_newer_ticket_is_used_for_the_next_stream(platform: Platform) -> None:
    platform.name(0, ticket="old")
    platform.start()
    stream = await platform.services[0].next_stream()
    assert (await stream.welcome()).ticket == "old"
    platform.name(0, ticket="new")
    # The lobby is asked for its word on both: when the second service is named too, the renewal has been read.
    platform.name(0, 1, ticket="new")
    await platform.services[1].next_stream()
    stream.end()
    assert (await (await platform.services[0].next_stream()).welcome()).ticket == "new"


async def test_a_revoked_token_ends_the_run(platform: Platform) -> None:
    task = platform.start()
    await platform.until(lambda: platform.lobby.attending.get(TOKEN, 0) == 1)
    platform.lobby.revoke(TOKEN)
    with pytest.raises(TokenRejected):
        await task


async def test_what_a_platform_can_never_take_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(_lobby: FakeLobby, _request: object, context: Any) -> None:
        await abort(context, grpc.StatusCode.INVALID_ARGUMENT, "REASON_MALFORMED", "tables is 20000, too many.", {})

    monkeypatch.setattr(FakeLobby, "Attend", refuse)
    async with FakeLobby() as lobby:
        runner = BotRunner(load_bot("greedy"), RunnerSettings(lobby.address, TOKEN, 20_000))
        with pytest.raises(Refused, match=r"^tables is 20000, too many\.$"):
            await runner.run()


async def test_a_second_process_of_the_same_bot_ends_the_run(platform: Platform) -> None:
    platform.name(0, 1)
    task = platform.start()
    stream = await platform.services[0].next_stream()
    await stream.welcome()
    stream.refuse("REASON_SUPERSEDED", "a newer stream took over.", grpc.StatusCode.ABORTED)
    with pytest.raises(Superseded, match="Only one process may run a bot"):
        await task


# ------------------------------------------------------------------------------------------------------------ processes

BOT = """
from bots_sdk import Answer, Bot, View

class MyBot(Bot):
    def answer(self, view: View) -> Answer:
        return view.default()
"""


async def baohuang(*arguments: str, token: str = "") -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bots_sdk.cli", *arguments,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "BAOHUANG_TOKEN": token},
    )  # fmt: skip


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
async def test_bot_run_plays_and_leaves_cleanly(platform: Platform, tmp_path: Path, sent: int, code: int) -> None:
    file = tmp_path / "my_bot.py"
    file.write_text(BOT)
    platform.name(0)
    process = await baohuang("bot", "run", f"{file}:MyBot", "--server", platform.lobby.address, token=TOKEN)
    await host(await platform.services[0].next_stream(), HostedMatch())
    process.send_signal(sent)
    out, err = await process.communicate()
    assert process.returncode == code
    assert out == b""
    lines = err.decode().splitlines()
    assert lines[0] == f"in the lobby of {platform.lobby.address}"
    assert lines[1].startswith("joining match service ms-0 at ")
    assert lines[-1].startswith("Left: 1 matches, ")
    assert len(lines) == 3, lines


async def test_bot_run_with_a_wrong_token_says_so(platform: Platform) -> None:
    process = await baohuang("bot", "run", "greedy", "--server", platform.lobby.address, token="guessed")
    _, err = await process.communicate()
    assert process.returncode == 1
    assert err.decode().splitlines()[-1] == (
        "Error: no such token. Check the token, or register the bot anew: baohuang bot register NAME."
    )


STUCK = """
import sys
from time import sleep

from bots_sdk import Bot


class Stuck(Bot):
    def answer(self, view):
        print("stuck", file=sys.stderr, flush=True)
        while True:
            sleep(0.1)
"""


@pytest.mark.parametrize("presses", [1, 2])
async def test_a_bot_that_holds_the_thread_of_the_network_can_be_stopped(
    platform: Platform, tmp_path: Path, presses: int
) -> None:
    file = tmp_path / "my_bot.py"
    file.write_text(STUCK)
    platform.name(0)
    process = await baohuang(
        "bot", "run", f"{file}:Stuck", "--server", platform.lobby.address, "--threads", "0", token=TOKEN
    )
    hosting = asyncio.create_task(host(await platform.services[0].next_stream(), HostedMatch()))
    assert process.stderr is not None
    while await process.stderr.readline() != b"stuck\n":
        pass
    process.send_signal(signal.SIGINT)
    if presses == 2:
        await asyncio.sleep(1.0)  # two presses and not one
        process.send_signal(signal.SIGINT)
    said = (await process.stderr.read()).decode()
    assert await process.wait() == 130
    if presses == 1:
        assert said.startswith(
            "Left in the middle of an answer: the bot holds the thread of the network (my_bot.py, line "
        )
    hosting.cancel()
    await asyncio.wait([hosting])


async def test_bots_are_registered_and_listed(platform: Platform) -> None:
    address = platform.lobby.address
    process = await baohuang("bot", "register", "mine", "--server", address, "--json")
    out, _ = await process.communicate()
    assert json.loads(out) == {"bot_id": "bot-1", "name": "mine", "token": "token-1"}
    process = await baohuang("bot", "register", "mine", "--server", address)
    out, err = await process.communicate()
    assert (process.returncode, out) == (1, b"")
    assert err.decode() == "Error: the name 'mine' is taken. Choose another name.\n"
    process = await baohuang("bot", "register", "yours", "--server", address)
    out, err = await process.communicate()
    assert out == b"token-2\n"
    assert b"baohuang bot run" in err
    process = await baohuang("bot", "list", "--server", address)
    out, _ = await process.communicate()
    assert [line.split() for line in out.decode().splitlines()] == [["mine", "away"], ["yours", "away"]]
    process = await baohuang("bot", "list", "--server", address, "--json")
    out, _ = await process.communicate()
    assert [json.loads(line)["name"] for line in out.splitlines()] == ["mine", "yours"]


async def test_a_token_is_written_to_a_new_file_that_only_its_owner_reads(platform: Platform, tmp_path: Path) -> None:
    async def register(name: str, file: Path) -> tuple[int | None, str, str]:
        address = platform.lobby.address
        process = await baohuang("bot", "register", name, "--server", address, "--token-file", str(file))
        out, err = await process.communicate()
        return process.returncode, out.decode(), err.decode()

    file, other = tmp_path / "my.token", tmp_path / "other.token"
    code, out, err = await register("mine", file)
    assert (code, out, file.read_text()) == (0, "", "token-1\n")
    assert file.stat().st_mode & 0o777 == 0o600
    assert "token-1" not in err
    code, _, err = await register("yours", file)
    assert code == 2
    assert "is there already" in err
    assert file.read_text() == "token-1\n"
    code, _, _ = await register("mine", other)
    assert code == 1
    assert not other.exists(), "a refused registration leaves no file"
