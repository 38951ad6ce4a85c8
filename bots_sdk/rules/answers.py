"""What a seat may say: one value type for every phase (docs/rules.md, "Answers")."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple


class Word(IntEnum):
    """The word of an answer; the numbers are those of `baohuang.match.v1.Word`."""

    STAY = 1
    SOLO = 2
    ACCEPT = 3
    PASS = 4
    CALL = 5
    DARK = 6
    BRIGHT = 7
    SILENT = 8
    REVEAL = 9
    REBEL = 10
    KICK = 11
    STAKE = 12
    PAY = 13
    TAKE = 14
    PLAY = 15
    YIELD = 16
    WIND = 17


class Answer(NamedTuple):
    """One answer of one seat.

    Attributes:
        word: what is said.
        cards: card codes in ascending order: the cards of a play; the one card of `pay`, `take` or of a `pass` with a
            sticker; the called face of `call`, `dark` and `bright` (empty where a face is not named).
        amount: the multiplier of `stake`, else 0.
        special: a solo emperor plays one of the called face as the special card. Never set for a guard, whose card of
            that face is the special card and nothing else.
    """

    word: Word
    cards: bytes = b""
    amount: int = 0
    special: bool = False


STAY = Answer(Word.STAY)
SOLO = Answer(Word.SOLO)
ACCEPT = Answer(Word.ACCEPT)
PASS = Answer(Word.PASS)
SILENT = Answer(Word.SILENT)
REVEAL = Answer(Word.REVEAL)
REBEL = Answer(Word.REBEL)
KICK = Answer(Word.KICK)
YIELD = Answer(Word.YIELD)
WIND = Answer(Word.WIND)
