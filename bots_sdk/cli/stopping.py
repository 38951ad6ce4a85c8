"""How `baohuang bot run` ends: in order at the first Ctrl-C or SIGTERM, and in any case, whatever the bot is doing."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from types import FrameType

from bots_sdk.asking import frames_of_call, place_of_call

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}
"""Exit codes, as shells have them."""

PATIENCE_S = 5.0
"""Seconds for a bot that thinks in the thread of the network to come back to it."""

ONE_PRESS_S = 0.5
"""Seconds within which signals are one: a wrapper may hand on what the terminal has sent to us already."""


@contextmanager
def stop_signals(say: Callable[[str], None]) -> Iterator[asyncio.Future[int]]:
    """A future for the exit code, done at the first Ctrl-C or SIGTERM; made within a loop, in the main thread.

    A second signal ends the process at once; so does the first if the loop does not come to hear of it, since the bot
    holds its thread and does not come back.
    """
    told: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    stop = _Stop(told, say)
    before = {number: signal.signal(number, stop.on_signal) for number in CODES}
    try:
        yield told
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Stop:
    def __init__(self, told: asyncio.Future[int], say: Callable[[str], None]) -> None:
        self._told = told
        self._say = say
        self._first: float | None = None
        self._heard = threading.Event()
        self._main = threading.get_ident()

    def on_signal(self, number: int, _: FrameType | None) -> None:
        code = CODES[signal.Signals(number)]
        if self._first is None:
            self._first = monotonic()
            self._told.get_loop().call_soon_threadsafe(self._hear, code)
            threading.Thread(target=self._end_unheard, args=(code,), name="stop", daemon=True).start()
        elif monotonic() - self._first > ONE_PRESS_S:
            os._exit(code)

    def _hear(self, code: int) -> None:
        self._heard.set()
        if not self._told.done():
            self._told.set_result(code)

    def _end_unheard(self, code: int) -> None:
        if not self._heard.wait(PATIENCE_S):
            frames = frames_of_call(self._main)
            place = f" ({place_of_call(frames)})" if frames else ""
            self._say(f"Left in the middle of an answer: the bot holds the thread of the network{place}.")
            os._exit(code)
