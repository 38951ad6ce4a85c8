"""What a kind of schedule has to say: which sets of five are played, in which order, each with its line-up."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Lineups = NDArray[np.int16]
"""Shape (sets, 5): entrants by seat."""


class Selection(Protocol):
    """Sets of five in a fixed order. The same arguments give the same sets, in every process and at every time."""

    @property
    def entrants(self) -> int:
        """How many entrants there are; they are 0, 1, 2, …"""
        ...

    @property
    def sets(self) -> int:
        """How many sets of five are played; known without making them."""
        ...

    def lineups(self, start: int, stop: int) -> Lineups:
        """The sets `start` to `stop` - 1, each in the order of the seats in its first match."""
        ...
