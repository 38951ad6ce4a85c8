"""How long to wait before a wire that has ended is opened again."""

from __future__ import annotations

from random import Random

LASTING_S = 1.0
"""What held at least so long has worked; a server that lets one in and sends one away at once has not."""


class Backoff:
    """Pauses that double, up to a bound, and begin anew after what has lasted; each a quarter more or less.

    Args:
        first: seconds of the first pause.
        most: seconds of the longest one.
        seed: of the quarter, so that not all bots of a platform come back at the same instant.
    """

    def __init__(self, first: float, most: float, seed: str) -> None:
        self._first = self._next = first
        self._most = most
        self._jitter = Random(seed)

    def pause(self, lasted: float) -> float:
        """Seconds to wait after something that worked for `lasted` seconds."""
        if lasted >= LASTING_S:
            self._next = self._first
        pause = self._next * (0.75 + 0.5 * self._jitter.random())
        self._next = min(2 * self._next, self._most)
        return pause
