"""`baohuang serve` as the process it is, and what its processes cost by their roles, read from outside."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from services.common.reaper import Reaper, descendants_of

START_S = 300.0
STOP_S = 60.0
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
ROLES = {
    "MatchServiceActor": "match services",
    "DirectorActor": "director",
    "GatewayActor": "gateway",
}
"""By the class of an actor, which stands in the title that Ray gives its process, before it or behind its name."""
RAY = "ray"
"""Whatever else runs for a platform: Ray's own processes, and `serve` that watches over all."""


class Process:
    """A program that is started, says something, and is gone with all it has started in the end.

    It gets a process group of its own, so that a Ctrl-C is for the benchmark alone, which ends this one. It gets no
    session of its own: Linux shares processors among sessions first (`sched_autogroup`), and the match service alone, a
    child of the benchmark like the bots, is in theirs. A platform in another one has as much as all bots together: it
    answers at once what would fill a message, and what is compared are the kernel's shares (docs/adr/0016).
    """

    def __init__(self, command: Sequence[str], output: Path, environ: Mapping[str, str]) -> None:
        self._output = output
        with output.open("wb") as file:
            self.process = subprocess.Popen(
                command,
                env={**os.environ, **environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                process_group=0,
            )
        self._reaper = Reaper([self.process.pid])

    @property
    def pid(self) -> int:
        return self.process.pid

    def said(self, pattern: str, seconds: float = START_S) -> str:
        """What it has printed in the place of the pattern's group, once it has.

        Raises:
            RuntimeError: it has died, or does not say it.
        """
        until = time.monotonic() + seconds
        while (found := re.search(pattern, self._output.read_text(encoding="utf-8"))) is None:
            if self.process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"{pattern!r} was not said:\n{self._output.read_text(encoding='utf-8')}")
            time.sleep(0.05)
        return found[1]

    def close(self) -> None:
        """Ends it in order if it can be, and for certain."""
        # By descriptors from now on: a number may be given to somebody else once its process has ended.
        left = Reaper([self.pid, *descendants_of(self.pid)])
        self.process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(STOP_S)
        left.close()
        self.process.wait()
        self._reaper.close()


class Platform:
    """A running `baohuang serve`. `roots` are the processes below which its own are to be found."""

    def __init__(self, data: Path, serve: Process, roots: Sequence[int]) -> None:
        self.data = data
        self.server = serve.said(r"tournament`: (\S+)")
        self.http = serve.said(r"https?://(\S+?)/ ")
        serve.said("(Ready)")
        self._roots = roots

    @property
    def token(self) -> str:
        """The operator's."""
        return (self.data / "operator.token").read_text(encoding="utf-8").strip()

    def roles(self) -> dict[int, str]:
        """Every process of the platform by its id."""
        found = {}
        for root in self._roots:
            for pid in (root, *descendants_of(root)):
                with contextlib.suppress(OSError):
                    title = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0].decode(errors="replace")
                    found[pid] = role_of(title)
        return found

    def resident(self, roles: Mapping[int, str]) -> dict[str, float]:
        """Resident bytes by role."""
        return _add_up({pid: (role, _resident(pid)) for pid, role in roles.items()})


@contextlib.contextmanager
def serving(
    data: Path, services: int, nodes: Process | None = None, environ: Mapping[str, str] | None = None
) -> Iterator[Platform]:
    """A platform on a Ray of its own, or on the nodes of a cluster."""
    data.mkdir(parents=True)
    command = [str(Path(sys.executable).with_name("baohuang")), "serve", "--data", str(data)]
    command += ["--port", "0", "--http-port", "0", "--match-services", str(services)]
    if nodes is not None:
        command += ["--ray-address", nodes.said(r"(?m)^nodes at (\S+)$")]
        command += ["--host", "0.0.0.0", "--advertised-host", "127.0.0.1"]
        command += ["--allow-plaintext", "--registration", "open"]
    serve = Process(command, data / "serve.out", environ or {})
    try:
        yield Platform(data, serve, [serve.pid] if nodes is None else [serve.pid, nodes.pid])
    finally:
        serve.close()


def role_of(title: str) -> str:
    """What a process is for, by its title."""
    if not title.startswith("ray::"):
        return RAY
    return next((role for actor, role in ROLES.items() if actor in title), RAY)


def fetch(url: str) -> bytes:
    """A page. Raises OSError."""
    with urllib.request.urlopen(url, timeout=10) as response:
        found: bytes = response.read()
    return found


def _add_up(found: Mapping[int, tuple[str, float]]) -> dict[str, float]:
    sums: defaultdict[str, float] = defaultdict(float)
    for role, amount in found.values():
        sums[role] += amount
    return dict(sums)


def processor_s_of(pid: int) -> float:
    """Seconds of processor time that a process has used; 0 if it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _resident(pid: int) -> float:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    except OSError:
        return 0.0
