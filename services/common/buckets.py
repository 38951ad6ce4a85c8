"""Buckets: how often something may happen, with a burst, and how long to wait when it was too often.

Pure: the time comes in. A bucket holds up to `burst` takes and is refilled at `per_second`; it is full at first.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)

KEYS_LIMIT = 10_000
"""So many keys are remembered at most, about a megabyte."""


@dataclass(frozen=True, slots=True)
class Rate:
    """So many a second in the long run, and `burst` at once; both above 0."""

    per_second: float
    burst: float

    def __post_init__(self) -> None:
        if not (self.per_second > 0 and self.burst > 0):
            raise ValueError(f"a rate has no burst or never refills: {self}")


class Bucket:
    """One bucket. `now` is monotonic seconds; a `now` that is earlier than the one before counts as the same."""

    __slots__ = ("_at", "_level", "_rate")

    def __init__(self, rate: Rate, now: float) -> None:
        self._rate = rate
        self._level = rate.burst
        self._at = now

    def try_take(self, now: float, amount: float = 1.0) -> float:
        """Takes and answers 0; or takes nothing and answers the seconds until it would succeed.

        More than the burst holds is never refused for ever: it needs a full bucket and leaves it in debt.
        """
        wait = self.wait(now, amount)
        if wait == 0.0:
            self._level -= amount
        return wait

    def wait(self, now: float, amount: float = 1.0) -> float:
        """The seconds until `try_take` would succeed, 0 if it would now."""
        self._refill(now)
        missing = min(amount, self._rate.burst) - self._level
        # Float sums may fall short of a whole take by a hair, and would then name a wait of nothing.
        return missing / self._rate.per_second if missing > 1e-9 * self._rate.burst else 0.0

    def is_full(self, now: float) -> bool:
        """Nothing was taken that has not been refilled: the bucket is as good as a new one."""
        self._refill(now)
        return self._level >= self._rate.burst

    def _refill(self, now: float) -> None:
        if now > self._at:
            self._level = min(self._rate.burst, self._level + (now - self._at) * self._rate.per_second)
            self._at = now


class Buckets(Generic[K]):
    """A bucket for each key, such as a peer or a bot, in bounded memory.

    Buckets that are full again are forgotten. Beyond `limit` keys the one used longest ago goes, and starts anew if it
    comes back: whoever has that many addresses has as many bursts anyway.
    """

    __slots__ = ("_buckets", "_limit", "_rate")

    def __init__(self, rate: Rate, limit: int = KEYS_LIMIT) -> None:
        self._rate = rate
        self._limit = limit
        self._buckets: OrderedDict[K, Bucket] = OrderedDict()

    def try_take(self, key: K, now: float, amount: float = 1.0) -> float:
        """As `Bucket.try_take`, of the bucket of the key."""
        bucket = self._buckets.get(key)
        if bucket is None:
            bucket = self._buckets[key] = Bucket(self._rate, now)
        self._buckets.move_to_end(key)
        wait = bucket.try_take(now, amount)
        self._forget(now)
        return wait

    def wait(self, key: K, now: float, amount: float = 1.0) -> float:
        """As `Bucket.wait`; nothing is remembered of a key that was never taken from."""
        bucket = self._buckets.get(key)
        return 0.0 if bucket is None else bucket.wait(now, amount)

    def forget(self, key: K) -> None:
        """The key starts anew."""
        self._buckets.pop(key, None)

    def __len__(self) -> int:
        return len(self._buckets)

    def _forget(self, now: float) -> None:
        """Drops at most two at a time from the end that was used longest ago: every call costs the same."""
        for _ in range(2):
            oldest = next(iter(self._buckets))
            if len(self._buckets) > self._limit or (len(self._buckets) > 1 and self._buckets[oldest].is_full(now)):
                del self._buckets[oldest]
            else:
                return
