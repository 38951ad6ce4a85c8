"""`baohuang serve`, bots and `baohuang tournament` as the processes they are, for tests that kill them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from bots_sdk.client import LobbyClient, Tls
from services.common.errors import PlatformError
from services.common.reaper import Reaper, descendants_of
from services.ledger.ledger import Access, Ledger
from services.ledger.values import TournamentState

BAOHUANG = str(Path(sys.executable).with_name("baohuang"))

START_SECONDS = 180.0
END_SECONDS = 110.0

_PORTS = range(20_000, 32_000)
"""Below those that Linux gives to whoever asks for any: they could be somebody else's when a platform comes back."""


def eventually(condition: Callable[[], Any], seconds: float = 100.0, what: str = "") -> Any:
    """The first true value of the condition; fails after so long."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, f"{what or condition} did not come true within {seconds} s"
        time.sleep(0.05)
    return value


def own_ports(count: int) -> list[int]:
    """Ports that are free, and that nobody else is given while what listens there is killed and started again."""
    found: list[int] = []
    with contextlib.ExitStack() as held:
        while len(found) < count:
            port = secrets.choice(_PORTS)
            with contextlib.suppress(OSError):
                held.enter_context(socket.create_server(("127.0.0.1", port)))
                found.append(port)
    return found


def run_baohuang(*arguments: str, code: int = 0, seconds: float = 110.0) -> subprocess.CompletedProcess[str]:
    """A command that ends by itself, with the exit code expected."""
    done = subprocess.run([BAOHUANG, *arguments], capture_output=True, text=True, timeout=seconds, check=False)
    assert done.returncode == code, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    assert "Traceback" not in done.stdout + done.stderr
    return done


class Serve:
    """A running `baohuang serve`; `more` are options of its own, `tls` is how its operator calls it."""

    def __init__(
        self, data: Path, *, port: int = 0, ray_address: str = "", more: Sequence[str] = (), tls: Tls | None = None
    ) -> None:
        self.data = data
        self.tls = tls
        data.mkdir(parents=True, exist_ok=True)
        self.output = data / f"serve-{time.monotonic_ns()}.out"
        pages, calls = own_ports(2)
        command = [BAOHUANG, "serve", "--data", str(data), "--http-port", str(pages), "--port", str(port or calls)]
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                [*command, "--match-services", "2", "--ray-address", ray_address, *more],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._ledger: Ledger | None = None
        self._reaper = Reaper([self.process.pid])  # should the tests themselves be killed
        try:
            eventually(lambda: "Ready." in self.said() or self.process.poll() is not None, START_SECONDS)
            assert self.process.poll() is None, self.said()
        except BaseException:
            self.kill()
            raise
        self.server = self._find(r"tournament`: (\S+)")
        self.http = self._find(r"https?://(\S+?)/ ")

    def said(self) -> str:
        """What it has printed so far."""
        return self.output.read_text()

    def _find(self, pattern: str) -> str:
        found = re.search(pattern, self.said())
        assert found, self.said()
        return found[1]

    @property
    def port(self) -> int:
        return int(self.server.rpartition(":")[2])

    @property
    def operator(self) -> tuple[str, ...]:
        """The options of a command with which its operator calls it."""
        return ("--server", self.server, "--token-file", str(self.data / "operator.token"), *tls_options(self.tls))

    def pids(self, title: str) -> list[int]:
        """Its processes whose title begins so, for example `ray::DirectorActor`."""
        found = []
        for pid in descendants_of(self.process.pid):
            with contextlib.suppress(OSError):
                if Path(f"/proc/{pid}/cmdline").read_bytes().startswith(title.encode()):
                    found.append(pid)
        return sorted(found)

    def kill_one(self, title: str) -> int:
        """Kills one of its processes with SIGKILL; which."""
        pid: int = eventually(lambda: self.pids(title), what=title)[0]
        os.kill(pid, signal.SIGKILL)
        return pid

    def kill(self) -> set[int]:
        """kill -9 of the process itself; all the others it had."""
        self._close_ledger()
        others = descendants_of(self.process.pid)
        self.process.kill()
        self._wait()
        return others

    def kill_whole(self) -> set[int]:
        """kill -9 of every process it has at once, Ray's too, as if the machine had failed; the others than itself."""
        self._close_ledger()
        found: set[int] = set()
        # What is stopped starts nothing more, and ends nobody.
        while new := {self.process.pid, *descendants_of(self.process.pid)} - found:
            for pid in new:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGSTOP)
            found |= new
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._wait()
        return found - {self.process.pid}

    def interrupt(self, number: signal.Signals = signal.SIGINT) -> str:
        """Ctrl-C, or another signal; what it had printed when it ended."""
        self._close_ledger()
        self.process.send_signal(number)
        self._wait()
        return self.said()

    def _wait(self) -> None:
        self.process.wait(END_SECONDS)
        self._reaper.close()

    def _close_ledger(self) -> None:
        """Before it ends: whoever closes last tidies up, and what a crash leaves is for the platform alone."""
        if self._ledger is not None:
            self._ledger.close()
            self._ledger = None

    def done(self, tournament: str) -> int:
        """How many matches have a result; 0 for a tournament that is not there yet. Read from the ledger itself."""
        with contextlib.suppress(PlatformError):
            return self._reader().totals(tournament).matches
        return 0

    def state(self, tournament: str) -> TournamentState:
        """Where it stands, by the ledger."""
        return self._reader().tournament(tournament).state

    def _reader(self) -> Ledger:
        """The ledger, opened once: that costs far more than to look."""
        if self._ledger is None:
            self._ledger = Ledger.open(self.data / "ledger.db", access=Access.READER)
        return self._ledger

    def tournament(self, *arguments: str, code: int = 0) -> Any:
        """The JSON of `baohuang tournament …` against it, as its operator."""
        done = run_baohuang("tournament", *arguments, *self.operator, "--json", code=code, seconds=110)
        return json.loads(done.stdout)


@contextlib.contextmanager
def ray_cluster(folder: Path) -> Iterator[str]:
    """A Ray cluster that somebody else has started; its address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [str(Path(sys.executable).with_name("ray")), "start", "--head", "--block", f"--port={port}"]
    quiet = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled"}
    with (folder / "ray-start.log").open("wb") as log:
        process = subprocess.Popen(
            [*command, "--include-dashboard=false", "--num-cpus=4", "--object-store-memory=100000000"],
            env={**os.environ, **quiet},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        eventually(lambda: "ray stop" in (folder / "ray-start.log").read_text(), START_SECONDS, "ray start")
        yield f"127.0.0.1:{port}"
    finally:
        Reaper([process.pid, *descendants_of(process.pid)]).close()
        process.wait()


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended but was not waited for does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def tls_options(tls: Tls | None) -> list[str]:
    """How a command is told of these files."""
    files = () if tls is None else (("--tls-ca", tls.ca), ("--tls-cert", tls.certificate), ("--tls-key", tls.key))
    return [word for option, path in files if path is not None for word in (option, str(path))]


def register_bots(server: str, names: Sequence[str], tls: Tls | None = None) -> dict[str, str]:
    """Tokens by name."""

    async def register() -> dict[str, str]:
        async with LobbyClient(server, tls) as lobby:
            return {name: (await lobby.register(name, "tests", "1")).token for name in names}

    return asyncio.run(register())


@contextlib.contextmanager
def bot_processes(
    server: str, tokens: dict[str, str], logs: Path, tls: Tls | None = None
) -> Iterator[list[subprocess.Popen[bytes]]]:
    """House bots, each a process as a bot author would start it; the name says which one: greedy-1, random-2."""
    logs.mkdir(parents=True, exist_ok=True)
    processes = []
    try:
        for name, token in tokens.items():
            with (logs / f"{name}.log").open("wb") as log:
                processes.append(
                    subprocess.Popen(
                        [BAOHUANG, "bot", "run", name.partition("-")[0], "--server", server, "--tables", "32"]
                        + tls_options(tls),
                        env={**os.environ, "BAOHUANG_TOKEN": token},
                        stdin=subprocess.DEVNULL,
                        stdout=log,
                        stderr=subprocess.STDOUT,
                    )
                )
        with contextlib.closing(Reaper(process.pid for process in processes)):
            yield processes
    finally:
        for process in processes:
            process.kill()
            process.wait()


def write_spec(folder: Path, name: str, bots: Sequence[str], *, matches: int, deals: int = 2) -> Path:
    """A tournament file with a fixed seed."""
    path = folder / f"{name}.yaml"
    path.write_text(
        f"name: {name}\nprofile: qingdao\nbots: [{', '.join(repr(bot) for bot in bots)}]\n"
        f"schedule: {{kind: balanced, matches: {matches}}}\ndeals: {deals}\nseed: {name}\nclock: {{limit: 20s}}\n"
    )
    return path


def verify_ledger(data: Path, name: str, matches: int, deals: int) -> None:
    """Exactly one result for every scheduled match, each complete, and sums that agree with the rows."""
    with Ledger.open(data / "ledger.db", access=Access.READER) as ledger:
        results = list(ledger.results(name))
        assert [result.number for result in results] == list(range(matches))
        assert {len(result.deals) for result in results} == {deals}
        assert all(sum(deal.points) == 0 for result in results for deal in result.deals)
        assert ledger.totals(name) == ledger.recount(name)


def void_attempts(data: Path, name: str) -> int:
    """How many attempts made no result."""
    with Ledger.open(data / "ledger.db", access=Access.READER) as ledger:
        return ledger.totals(name).attempts_void
