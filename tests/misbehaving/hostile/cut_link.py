"""A platform and a bot on two machines with a cable between them, which is pulled: to be run by `test_half_open.py`.

    unshare [--user --map-root-user] --net -- python -m tests.misbehaving.hostile.cut_link FOLDER

Runs in a network namespace of its own and makes a second one, in which the bot lives; nothing outside is touched, and
both are gone when the last process in them is. Prints what became of the match as JSON.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from baohuang.lobby.v1 import lobby_service_pb2_grpc
from services.access.callers import bot_key
from services.access.gate import Gate
from services.access.interceptor import AccessInterceptor
from services.access.needs import AccessRules
from services.common.clock import SystemClock
from services.common.matches import ClockRules, Entrant, FaultRules, MatchOutcome
from services.common.metrics import LobbyMetrics, MatchMetrics
from services.gateway.grpc_server import GrpcServer
from services.ledger.ledger import Ledger
from services.lobby.attendance import MatchServiceInfo
from services.lobby.lobby import Lobby
from services.lobby.presence import Presence
from services.lobby.servicer import LobbyServicer
from services.match.service import MatchService, MatchServiceSettings
from tests.misbehaving.hostile.replaying import verify_outcome
from tests.misbehaving.raw_bot import KEY, order_of

PLATFORM, BOT = "10.77.0.1", "10.77.0.2"
HEARTBEAT_S = 0.5
SECONDS = 60.0
"""How long anything may take before it counts as failed; the machine may be busy."""
CLOCK = ClockRules(limit=timedelta(seconds=0.4), grace=timedelta(seconds=0.2), ready=timedelta(seconds=60))
BOT_FILE = """
import time
from bots_sdk.house import RandomBot

class Slow(RandomBot):
    def answer(self, view):
        time.sleep(0.02)
        return super().answer(view)
"""


def _run(*command: str) -> None:
    subprocess.run(command, check=True)


@contextlib.contextmanager
def _cable() -> Iterator[tuple[str, ...]]:
    """A second namespace with a cable to it; what to put before a command to run it there."""
    _run("ip", "link", "set", "lo", "up")
    own = os.readlink("/proc/self/ns/net")
    with subprocess.Popen(["unshare", "--net", "sleep", "600"]) as holder:
        try:
            while os.readlink(f"/proc/{holder.pid}/ns/net") == own:
                pass
            there = ("nsenter", f"--net=/proc/{holder.pid}/ns/net")
            _run("ip", "link", "add", "cable0", "type", "veth", "peer", "name", "cable1", "netns", str(holder.pid))
            _run("ip", "address", "add", f"{PLATFORM}/24", "dev", "cable0")
            _run("ip", "link", "set", "cable0", "up")
            _run(*there, "ip", "address", "add", f"{BOT}/24", "dev", "cable1")
            _run(*there, "ip", "link", "set", "cable1", "up")
            _run(*there, "ip", "link", "set", "lo", "up")
            yield there
        finally:
            holder.kill()


class _Platform:
    """A lobby and a match service."""

    def __init__(self, lobby: Lobby, address: str, service: MatchService, metrics: MatchMetrics) -> None:
        self.lobby = lobby
        self.address = address
        self.service = service
        self.metrics = metrics

    def presence(self, bot_id: str) -> Presence | None:
        sighting = self.lobby.sighting(bot_id)
        return None if sighting is None else sighting.presence

    def is_connected(self, bot_id: str) -> bool:
        return bot_id in self.service.floor.sessions

    @property
    def decisions(self) -> int:
        """Answers of the bot, at all times."""
        families = {family.name: family for family in self.metrics.collect()}
        return int(sum(sample.value for sample in families["baohuang_decisions_made"].samples))


@contextlib.asynccontextmanager
async def _platform(folder: Path) -> AsyncIterator[_Platform]:
    ledger = await asyncio.to_thread(Ledger.open, folder / "arena.db")
    gate = Gate(ledger, AccessRules(), SystemClock(), LobbyMetrics())
    lobby = Lobby(ledger, KEY, clock=SystemClock(), token_ended=lambda end: gate.end(bot_key(end.bot_id)))
    servicer = LobbyServicer(lobby)
    add: Callable[..., None] = lobby_service_pb2_grpc.add_LobbyServiceServicer_to_server
    front = GrpcServer(
        {"baohuang.lobby.v1.LobbyService": lambda server: add(servicer, server)},
        HEARTBEAT_S,
        lambda reason: None,
        AccessInterceptor(gate),
    )
    metrics = MatchMetrics()
    settings = MatchServiceSettings("m1", host=PLATFORM, ticket_key=KEY, heartbeat_s=HEARTBEAT_S)
    service = MatchService(settings, metrics, SystemClock())
    port = await front.start(PLATFORM, 0)
    lobby.set_match_services([MatchServiceInfo("m1", await service.start())])
    try:
        yield _Platform(lobby, f"{PLATFORM}:{port}", service, metrics)
    finally:
        lobby.drain()
        await front.stop()
        await service.stop()
        await asyncio.to_thread(ledger.close)


async def _until(what: str, condition: Callable[[], bool]) -> None:
    try:
        async with asyncio.timeout(SECONDS):
            while not condition():  # noqa: ASYNC110 - what is waited for has no event
                await asyncio.sleep(0.02)
    except TimeoutError:
        raise AssertionError(f"not within {SECONDS:g} s: {what}") from None


async def _listen(stream: asyncio.StreamReader, said: list[str]) -> None:
    async for line in stream:
        said.append(line.decode().strip())


async def _story(platform: _Platform, bot_id: str, bot: asyncio.subprocess.Process, said: list[str]) -> MatchOutcome:
    """The bot plays, is cut off, comes back, is stopped in the middle of everything, and goes on."""
    await _until("the bot has come", lambda: platform.is_connected(bot_id))
    entrant = Entrant(bot_id, "slow")
    order = order_of("slow", clock=CLOCK, deals=6, faults=FaultRules(takeover_after=0))
    order = replace(order, seats=(entrant, *order.seats[1:]))
    await platform.service.submit([order])
    troubles: list[tuple[Callable[[], None], Callable[[], None], bool]] = [
        (lambda: _run("ip", "link", "set", "cable0", "down"), lambda: _run("ip", "link", "set", "cable0", "up"), True),
        (lambda: bot.send_signal(signal.SIGSTOP), lambda: bot.send_signal(signal.SIGCONT), False),
    ]
    for cut, mend, can_speak in troubles:
        played = platform.decisions
        await _until("the bot plays", lambda played=played: platform.decisions > played)  # type: ignore[misc]
        timeouts = platform.metrics.timeouts
        cut()
        await _until("the session has ended", lambda: not platform.is_connected(bot_id))
        await _until("the bot is away", lambda: platform.presence(bot_id) is Presence.AWAY)
        await _until("defaults are played", lambda timeouts=timeouts: platform.metrics.timeouts > timeouts)  # type: ignore[misc]
        if can_speak:
            await _until("the client has noticed", lambda: any("m1: n" in line for line in said))
        mend()
        await _until("the bot is back at its table", lambda: platform.is_connected(bot_id))
        await _until("the bot is back in the lobby", lambda: platform.presence(bot_id) is Presence.HERE)
    while not (found := await platform.service.collect("t", 0, SECONDS)):
        pass
    return found[0][1]


async def main(folder: Path) -> None:
    """Plays the story and prints what became of it."""
    (folder / "slow.py").write_text(BOT_FILE)
    with _cable() as there:
        async with _platform(folder) as platform:
            made = await platform.lobby.register("slow", "ann", "1")
            (folder / "token").write_text(made.token)
            command = (*there, sys.executable, "-m", "bots_sdk.cli", "bot", "run", str(folder / "slow.py:Slow"))
            bot = await asyncio.create_subprocess_exec(
                *command, "--server", platform.address, "--token-file", str(folder / "token"),
                stderr=asyncio.subprocess.PIPE,
            )  # fmt: skip
            said: list[str] = []
            assert bot.stderr is not None
            listening = asyncio.create_task(_listen(bot.stderr, said))
            try:
                outcome = await _story(platform, made.bot.bot_id, bot, said)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    bot.send_signal(signal.SIGCONT)
                    bot.terminate()
                await bot.wait()
                await listening
                print(*said, sep="\n", file=sys.stderr)
    verify_outcome(outcome, None)
    faults = outcome.faults[0]
    print(json.dumps({
        "ending": outcome.ending.value, "blamed": outcome.blamed, "disconnects": faults.disconnects,
        "timeouts": faults.timeouts, "illegal_answers": faults.illegal_answers, "said": said,
    }))  # fmt: skip


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
