"""Many bots in one process, each with a runner of its own: what a test that wants two hundred tables starts a few of.

    python -m tests.integration.platform.many_bots SERVER TABLES [CA CERTIFICATE KEY] < TOKENS

TOKENS is JSON, tokens by name; with three files there is TLS. A bot called greedy-N is `greedy`; fickle-N is so too,
most of the time.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from zlib import crc32

from bots_sdk.bot import Bot
from bots_sdk.client import Tls
from bots_sdk.house import GreedyBot
from bots_sdk.loading import BotSource
from bots_sdk.rules.answers import Answer
from bots_sdk.rules.view import View
from bots_sdk.runner import BotRunner, RunnerSettings
from services.common.reaper import Reaper


class FickleBot(GreedyBot):
    """Leaves nothing to chance either: what it sees tells it when to be foolish."""

    def answer(self, view: View) -> Answer:
        legal = view.legal()
        mood = crc32(view.hand, len(legal))
        return legal[mood // FICKLE % len(legal)] if mood % FICKLE == 0 else super().answer(view)


FICKLE = 3
"""It is foolish once in so many answers."""

KINDS: dict[str, type[Bot]] = {"greedy": GreedyBot, "fickle": FickleBot}


def kind_of(name: str) -> type[Bot]:
    return KINDS[name.partition("-")[0]]


async def run_bots(server: str, tables: int, tokens: Mapping[str, str], tls: Tls | None) -> None:
    async with asyncio.TaskGroup() as bots:
        for name, token in tokens.items():
            kind = kind_of(name)
            # They answer in microseconds and legally, as house bots do.
            source = BotSource(name, lambda seed, kind=kind: kind(), is_house=True)  # type: ignore[misc]
            settings = RunnerSettings(server=server, token=token, tables=tables, tls=tls)
            say = lambda line, name=name: print(name, line, flush=True)  # noqa: E731
            bots.create_task(BotRunner(source, settings, say).run())


@contextlib.contextmanager
def bots_in_processes(
    server: str, tokens: Mapping[str, str], logs: Path, *, processes: int, tables: int, tls: Tls | None = None
) -> Iterator[Sequence[subprocess.Popen[bytes]]]:
    """The bots, dealt out to so many processes."""
    logs.mkdir(parents=True, exist_ok=True)
    started: list[subprocess.Popen[bytes]] = []
    files = [] if tls is None else [str(path) for path in (tls.ca, tls.certificate, tls.key)]
    try:
        for part in range(processes):
            own = dict(list(tokens.items())[part::processes])
            with (logs / f"bots-{part}.log").open("wb") as log:
                process = subprocess.Popen(
                    [sys.executable, "-m", "tests.integration.platform.many_bots", server, str(tables), *files],
                    env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
                    stdin=subprocess.PIPE,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                )
            started.append(process)
            assert process.stdin is not None
            process.stdin.write(json.dumps(own).encode())
            process.stdin.close()
        with contextlib.closing(Reaper(process.pid for process in started)):
            yield started
    finally:
        for process in started:
            process.kill()
            process.wait()


if __name__ == "__main__":
    files = [Path(argument) for argument in sys.argv[3:]]
    asyncio.run(run_bots(sys.argv[1], int(sys.argv[2]), json.load(sys.stdin), Tls(*files) if files else None))
