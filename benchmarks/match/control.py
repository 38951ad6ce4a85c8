"""How a running benchmark tells the processes of bots to pause, and how long the slow bot thinks."""

from __future__ import annotations

import asyncio
import ctypes
from dataclasses import dataclass
from multiprocessing.sharedctypes import RawArray
from typing import Any

LOOK_S = 0.02
_RUNNING, _THINKING = range(2)


@dataclass(frozen=True, slots=True)
class Control:
    """Shared with the processes of bots of one load."""

    shared: Any

    @classmethod
    def make(cls, *, running: bool) -> Control:
        """For bots that run at once, or that come in and wait."""
        control = cls(RawArray(ctypes.c_double, 2))
        control.run(running=running)
        return control

    def run(self, *, running: bool) -> None:
        """Lets bots go on, or makes them stop: what they have read last is then answered later."""
        self.shared[_RUNNING] = running

    def think(self, seconds: float) -> None:
        """How long the slow bot thinks from now on."""
        self.shared[_THINKING] = seconds

    @property
    def running(self) -> bool:
        return bool(self.shared[_RUNNING])

    @property
    def thinking(self) -> float:
        return float(self.shared[_THINKING])


class Gate:
    """One for all bots of a process: `if gate.shut: await gate.open()`. Only one task looks at the shared memory."""

    __slots__ = ("_control", "_opened", "_watching", "shut")

    def __init__(self, control: Control) -> None:
        self._control = control
        self._opened = asyncio.Event()
        self.shut = True
        self._watching = asyncio.create_task(self._watch())

    async def open(self) -> None:
        """Waits until bots may go on."""
        await self._opened.wait()

    @property
    def thinking(self) -> float:
        """How long the slow bot thinks."""
        return self._control.thinking

    async def _watch(self) -> None:
        while True:
            self.shut = not self._control.running
            if self.shut:
                self._opened.clear()
            else:
                self._opened.set()
            await asyncio.sleep(LOOK_S)
