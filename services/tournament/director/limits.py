"""How much a director has on the way at once, and how long it is patient."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil

from services.tournament.director.breaker import BreakerRule


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one director; times are seconds.

    `per_service` matches at most are on the way at one match service and `per_bot` with one bot in them, so that a slow
    bot cannot fill every place with matches that wait for it (`bot_bound`, where it is given, goes before it, whatever
    `in_flight` is); `in_flight` bounds all together, and `busiest` is the part of all matches that one bot may be in.
    More than `void_limit` voids, or `no_show_limit` no-shows, of one match pause the tournament; `breaker` says when a
    bot that keeps failing is benched, None: never. `drain` is how long a pause waits for what runs before it is
    withdrawn and left to be played again. `poll` and `gather` are how long one call waits for outcomes, and for bots to
    come in.
    """

    per_service: int = 64
    per_bot: int = 32
    bot_bound: int | None = None
    in_flight: int | None = None
    busiest: float = 1.0
    void_limit: int = 10
    no_show_limit: int = 5
    drain: float = 60.0
    poll: float = 20.0
    gather: float = 5.0
    breaker: BreakerRule | None = None
    retry_first: float = 0.25
    retry_most: float = 10.0

    def with_in_flight(self, in_flight: int | None) -> Limits:
        """With so many matches at once, as an operator asks; None: as it is.

        Whoever asks for so many means it, whatever one match service usually gets. One bot may have three times what it
        has on average, and never so much that a slow one leaves no room for matches without it.
        """
        if in_flight is None:
            return self
        usual = in_flight * self.busiest
        per_bot = ceil(min((in_flight + usual) / 2, max(self.per_bot, 3 * usual)))
        return replace(self, per_service=in_flight, per_bot=min(per_bot, in_flight), in_flight=in_flight)

    @property
    def bound_of_bot(self) -> int:
        """How many matches of one bot may be on the way."""
        return self.per_bot if self.bot_bound is None else self.bot_bound

    def retries(self) -> Retries:
        """Pauses between attempts at something that keeps failing, doubling."""
        return Retries(self.retry_first, self.retry_most)


class Retries:
    """Seconds to wait before the next try: doubling up to a bound, and from the start again after a success."""

    def __init__(self, first: float, most: float) -> None:
        self._first = first
        self._most = most
        self._next = first

    def next(self) -> float:
        """How long to wait now."""
        delay = self._next
        self._next = min(self._most, delay * 2)
        return delay

    def reset(self) -> None:
        """It worked."""
        self._next = self._first
