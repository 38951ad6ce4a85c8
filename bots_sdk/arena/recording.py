"""The record of a match of local play; loaded only where one is wanted, as it needs protobuf."""

from __future__ import annotations

import hashlib
from typing import Literal

from bots_sdk.replay import Cause, RecordBuilder, RecordHead
from bots_sdk.rules.answers import Answer
from bots_sdk.rules.match import Match

Came = Literal["answered", "failed", "illegal"]
"""Where an answer came from: the bot, or the default after the bot broke or cheated."""


class MatchRecorder:
    """Takes part in a match: what is to be recorded is answered through it.

    Args:
        match: the match, not yet started.
        names: five names by seat.
        match_id: as the bots are told it.
        secret: what the shuffles come from.
    """

    def __init__(self, match: Match, names: tuple[str, ...], match_id: str, secret: bytes) -> None:
        # Nobody is told a commitment here; the record has one that fits.
        nonce = hashlib.sha256(b"baohuang local nonce/" + secret).digest()
        players = tuple((name, name) for name in names)
        self._match = match
        self._builder = RecordBuilder(RecordHead(match_id, players, match.options, match.deals, secret, nonce))

    def verified(self, seat: int, answer: Answer) -> Answer:
        """The answer in its normal form.

        Raises:
            IllegalAnswer: the rules do not allow it.
        """
        return self._match.deal.verify(seat, answer)

    def note(self, seat: int, answer: Answer, came: Came) -> None:
        """Note an answer that is about to be given, in its normal form."""
        refused = int(came == "illegal")
        self._builder.answered(seat, self._match.deal.phase, answer, Cause[came.upper()], refused=refused)

    def end_deal(self) -> None:
        """Note that the deal is over."""
        self._builder.end_deal(self._match.deal)

    def finish(self) -> bytes:
        """The record of the match, which is over."""
        return self._builder.finish(self._builder.local_end())
