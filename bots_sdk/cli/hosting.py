"""What surrounds bots whose code runs in this process: a progress bar, a watch over them, and a clean stdout."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from time import monotonic
from types import FrameType, TracebackType
from typing import TextIO

import click

from bots_sdk.asking import frames_of_call, place_of_call

STALLED_S = 5.0
"""After so long a bot that does not come back is named."""


class BotHung(Exception):
    """A bot was given up that did not come back; its text is the place in its file."""


@contextmanager
def hosting(deals: int, *, hidden: bool, give_up_s: float | None = None) -> Iterator[Callable[[int], None]]:
    """While bots play: a bar on stderr if that is a terminal, and what bots print goes there too.

    Args:
        deals: how many deals make the bar full; what is yielded moves it on by so many.
        hidden: no bar.
        give_up_s: a bot is given up after so many seconds of one and the same call.

    Raises:
        BotHung: a bot was given up.
    """
    watch = StallWatch(lambda line: click.echo(line, err=True), give_up_s=give_up_s)
    try:
        with bots_print_to_stderr(), _bar(deals, hidden=hidden) as advance, watch:
            yield advance
    except KeyboardInterrupt:
        if watch.given_up is None:
            raise
        raise BotHung(watch.given_up) from None


def bots_print_to_stderr() -> redirect_stdout[TextIO]:
    """Bots may print; stdout is for what the command has to say, and maybe read by a program."""
    return redirect_stdout(sys.stderr)


@contextmanager
def _bar(deals: int, *, hidden: bool) -> Iterator[Callable[[int], None]]:
    if hidden or not sys.stderr.isatty():
        yield lambda played: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("deals"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("deals", total=deals)
        yield lambda played: bar.advance(task, played)


class StallWatch:
    """Says when a bot does not come back, and where in its file it is.

    It looks at the stack of the thread that made it from a thread of its own, so bots that play are not slowed down.

    Args:
        say: told after `first_s` of one and the same call of a bot, and again whenever that time has doubled.
        first_s: seconds.
        give_up_s: seconds after which the main thread gets what Ctrl-C sends.
    """

    def __init__(
        self, say: Callable[[str], None], *, first_s: float = STALLED_S, give_up_s: float | None = None
    ) -> None:
        self.given_up: str | None = None
        self._say = say
        self._first_s = first_s
        self._give_up_s = give_up_s
        self._watched = threading.get_ident()
        self._left = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="stall watch", daemon=True)

    def __enter__(self) -> StallWatch:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self._left.set()
        self._thread.join()

    def _watch(self) -> None:
        call: FrameType | None = None
        since = due = 0.0
        while not self._left.wait(self._first_s / 10):
            now = monotonic()
            frames = frames_of_call(self._watched)
            found = frames[-1] if frames else None
            if found is None or found is not call:
                call, since, due = found, now, self._first_s
                continue
            seconds = now - since
            if seconds >= due:
                due *= 2
                self._say(f"A bot has been thinking for {seconds:.0f} s ({place_of_call(frames)}).")
            if self._give_up_s is not None and seconds >= self._give_up_s:
                self.given_up = place_of_call(frames)
                self._give_up_s *= 2  # once more, if the bot catches that too
                signal.pthread_kill(self._watched, signal.SIGINT)
