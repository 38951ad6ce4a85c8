"""What the rules refuse, and why.

RulesError
├── OptionsError     a combination of options that cannot be played
├── NotationError    a text or a byte string that names no card, play or answer
├── DealError        hands, or a tribute, with which a deal could not be played to its end
└── IllegalAnswer    an answer that the rules do not allow now (carries a `Refusal`)
"""

from __future__ import annotations

from enum import StrEnum


class Refusal(StrEnum):
    """Why an answer was refused; the labels are part of the protocol."""

    MALFORMED = "malformed"
    NOT_ASKED = "not_asked"
    WRONG_WORD = "wrong_word"
    NOT_HELD = "not_held"
    NO_PLAY = "no_play"
    WRONG_COUNT = "wrong_count"
    TOO_WEAK = "too_weak"
    HELD_BACK = "held_back"
    WRONG_CARD = "wrong_card"
    WRONG_FACE = "wrong_face"
    WRONG_AMOUNT = "wrong_amount"
    MUST_LEAD = "must_lead"
    MUST_ACCEPT = "must_accept"


class RulesError(ValueError):
    """Root of everything this package raises on purpose."""


class OptionsError(RulesError):
    """Options that contradict each other or are out of range."""


class NotationError(RulesError):
    """A text or byte string that is not in the notation."""


class DealError(RulesError):
    """Hands, or a tribute owed, with which a deal could not be played to its end."""


class IllegalAnswer(RulesError):
    """An answer the rules do not allow; the deal is unchanged.

    Attributes:
        refusal: the kind of reason, one of a closed set.
    """

    def __init__(self, refusal: Refusal, message: str) -> None:
        super().__init__(message)
        self.refusal = refusal
