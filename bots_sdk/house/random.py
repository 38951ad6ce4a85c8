"""The house bot `random`: any legal answer, each as likely."""

from __future__ import annotations

from random import Random

from bots_sdk.bot import Bot
from bots_sdk.rules.answers import Answer
from bots_sdk.rules.view import View


class RandomBot(Bot):
    """Says any of the legal answers.

    Args:
        seed: of its own generator, so that matches can be played again.
    """

    def __init__(self, seed: int | str = 0) -> None:
        # Not secure and not meant to be; `int(random() * n)` is three times as fast as `choice`.
        self._number = Random(seed).random

    def answer(self, view: View) -> Answer:
        """One of `view.legal()`."""
        legal = view.legal()
        return legal[int(self._number() * len(legal))]
