"""The phases of a deal, in their order."""

from __future__ import annotations

from enum import IntEnum


class Phase(IntEnum):
    """What is being asked now (docs/rules.md, part 4)."""

    PAY = 1
    TAKE = 2
    WINDOW = 3
    THRONE = 4
    CALL = 5
    DECLARE = 6
    KICK = 7
    STAKE = 8
    PLAY = 9
    ENDED = 10
    VOIDED = 11


SEALED_PHASES = frozenset({Phase.WINDOW, Phase.DECLARE, Phase.KICK, Phase.STAKE})
"""Several seats are asked at once, and nobody learns anything before the last answer is in."""
