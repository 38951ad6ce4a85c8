"""How a bot behaves on the wire: what it sends in vain, and how often it comes. Pure; the time comes in.

What an honest client sends is bounded by what it was asked: an answer for a request, a confirmation for a message, a
heartbeat now and then. That is never counted, however fast it is. Counted is what comes in vain.
"""

from __future__ import annotations

from services.common.buckets import Bucket, Rate
from services.common.errors import PlatformError, Reason
from services.common.peers import Crowd

WASTE = Rate(per_second=100, burst=1000)
"""Records in vain: a heartbeat is one, and comes some twenty times a second where the agreed pace is the quickest."""
COMINGS = Rate(per_second=2, burst=100)
"""Streams of one bot: a client that pauses between its attempts, ever longer, never comes near."""
RETOLD = 100
"""So many seats of a bot cost as much as a stream more: on each one it is told all of them anew."""
RETRY_S = WASTE.burst / WASTE.per_second
"""So long a bot that was sent away stays away: until its bucket is full again."""
EMPTY_COST = 10
"""What a message costs that says nothing and confirms nothing: reading it costs more than many records."""
BROKEN_COST = 250
"""What a stream costs that had to be ended because of what the client sent."""
CROSSED = 2
"""An answer and a `ready` may be on their way while a match ends."""
EXCUSED_LIMIT = 50_000
"""No more than this crosses at once, at ten thousand tables; who behaves for long saves up nothing for a flood."""

STRANGERS_OF_PEER = 1_000
STRANGERS_LIMIT = 4_000
"""Streams that have not said hello: of one peer, behind which may be many bots, and in all."""
STRANGER_RETRY_S = 1.0


class Conduct:
    """One bot on one match service; outlives its streams, so that a new stream begins with no new bucket."""

    __slots__ = ("_comings", "_excused", "_shut_until", "_waste")

    def __init__(self, now: float) -> None:
        self._waste = Bucket(WASTE, now)
        self._comings = Bucket(COMINGS, now)
        self._excused = 0
        self._shut_until = now

    def come(self, now: float, seats: int = 0) -> None:
        """The bot, with so many seats here, opens a stream. Raises PlatformError RATE_LIMITED if it must not yet."""
        wait = self._shut_until - now
        if wait > 0:
            raise rate_limited("the bot sent too much that nobody had asked for, and was sent away", wait)
        wait = self._comings.try_take(now, 1 + seats / RETOLD)
        if wait > 0:
            # A second stream at the earliest moment would be refused with the next: let some gather.
            raise rate_limited("the bot opens too many streams", max(wait, STRANGER_RETRY_S))

    def excuse(self, records: int) -> None:
        """So many records may come in vain that the bot could not know to be so."""
        self._excused = min(self._excused + records, EXCUSED_LIMIT)

    def waste(self, now: float, cost: int = 1) -> bool:
        """Something came in vain; True if that was too much, and the bot has to go.

        What costs more than one record does is no record that crossed with anything: for that there is no excuse.
        """
        if cost == 1 and self._excused:
            self._excused -= 1
            return False
        if self._waste.try_take(now, cost) == 0.0:
            return False
        self.shut(now, RETRY_S)
        return True

    def shut(self, now: float, seconds: float) -> None:
        """The bot's streams are refused for so long."""
        self._shut_until = max(self._shut_until, now + seconds)

    def is_clean(self, now: float) -> bool:
        """Nothing is held against the bot: it is as good as a new one."""
        return now >= self._shut_until and self._waste.is_full(now) and self._comings.is_full(now)


def make_strangers() -> Crowd:
    """Streams that have not said who they are, counted by peer: they cost memory, and no bot answers for them."""
    return Crowd(STRANGERS_OF_PEER, STRANGERS_LIMIT, "Too many streams are open that have not said hello.")


def rate_limited(message: str, seconds: float) -> PlatformError:
    """The error that says when to come back."""
    milliseconds = format_retry(seconds)
    sentence = f"{message}; it may come back in {int(milliseconds) / 1000:g} s"
    return PlatformError(Reason.RATE_LIMITED, sentence, retry_after_ms=milliseconds)


def format_retry(seconds: float) -> str:
    """`retry_after_ms` as metadata: never early."""
    return str(int(seconds * 1000) + 1)
