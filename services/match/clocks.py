"""The clock of one seat: what a decision may take, what it cost. Pure; times are seconds of a monotonic clock."""

from __future__ import annotations

import math
from typing import NamedTuple

from bots_sdk.rules.phases import Phase
from services.common.matches import ClockRules

MOST_MS = (1 << 32) - 1
"""No field shows more milliseconds."""
WRITE_PATIENCE = 1.0
"""Seconds a request may wait to be written, while its client confirms nothing, before its clock starts all the same."""


class Charge(NamedTuple):
    """What one decision cost, in seconds: as measured, as charged, and whether it came too late."""

    elapsed: float
    charged: float
    timed_out: bool

    @property
    def elapsed_us(self) -> int:
        """Microseconds measured."""
        return int(self.elapsed * 1e6)

    @property
    def charged_us(self) -> int:
        """Microseconds charged."""
        return int(self.charged * 1e6)


UNTIMED = Charge(0.0, 0.0, timed_out=False)
"""Of a decision that the platform takes itself."""


class Departure:
    """The writing of one message, shared by the clocks of all requests in it: `at` is None until it is written.

    A message carries hundreds of requests, and to tell each clock costs a look at memory that has gone cold.
    """

    __slots__ = ("at", "lag")

    def __init__(self) -> None:
        self.at: float | None = None
        self.lag = 0.0

    def written(self, now: float, lag: float) -> None:
        """The message is on the wire."""
        self.at = now
        self.lag = lag


class SeatClock:
    """Limit, bank, increment and grace for one seat of one match.

    One decision is `ask`, perhaps a departure, then `stop`, or for one in time `elapsed` and `settle`. `lag` is the
    service's own accumulated lateness in seconds, a number that only grows: what it grew by during a decision is not
    charged. `allowed` is how many seconds the decision may take, with bank and grace. `limit_ms` and `bank_ms` are
    `limit` and `bank` in milliseconds, as a field of 32 bits shows them. `departure` is that of the message with the
    request, and `place` where in it the request stands; they are the session's business.
    """

    __slots__ = (
        "_grace",
        "_increment",
        "_lag_at_start",
        "_limit",
        "_rules",
        "_runs",
        "_shortest",
        "_start",
        "allowed",
        "bank",
        "bank_ms",
        "departure",
        "limit_ms",
        "place",
    )

    def __init__(self, rules: ClockRules) -> None:
        self._rules = rules if rules.limits and rules.limit is not None else None
        limit = None if rules.limit is None else rules.limit.total_seconds()
        self._grace = rules.grace.total_seconds()
        self._increment = rules.increment.total_seconds()
        self.bank = 0.0
        self._set_limit(limit)
        self._set_bank(rules.bank.total_seconds())
        self._shortest = min((limit or 0.0, *(limit.total_seconds() for _, limit in rules.limits)))
        self.departure: Departure | None = None
        self.place = 0
        # When time began to run or, while the request waits to be written, will begin for want of patience.
        self._start = 0.0
        self._runs = False
        self._lag_at_start = 0.0

    @property
    def limit(self) -> float:
        """Seconds for the decision asked for last, before the bank is touched; 0 with clocks off."""
        return self._limit or 0.0

    def _set_limit(self, limit: float | None) -> None:
        self._limit = limit
        self.limit_ms = min(int((limit or 0.0) * 1000), MOST_MS)
        self._allow()

    def _set_bank(self, bank: float) -> None:
        # It may grow beyond seven weeks.
        self.bank = bank
        self._allow()
        self.bank_ms = min(int(bank * 1000), MOST_MS)

    def _allow(self) -> None:
        self.allowed = math.inf if self._limit is None else self._limit + self.bank + self._grace

    def ask(self, now: float, lag: float, phase: Phase) -> None:
        """A decision of this kind is asked for; without a wire to the bot `unreachable` comes next."""
        if self._rules is not None:
            self._set_limit(limit_of(self._rules, phase))
        self._runs = False
        self._start = now + WRITE_PATIENCE
        self._lag_at_start = lag
        self.departure = None

    def look_back(self) -> None:
        """If the message with the request has been written meanwhile, time runs since then, unless it did already, be
        it for want of patience. To be called before another departure takes the place of this one.
        """
        departure = self.departure
        if departure is None or (written := departure.at) is None:
            return
        self.departure = None
        if not self._runs and written <= self._start + departure.lag - self._lag_at_start:
            self._runs = True
            self._start = written
            self._lag_at_start = departure.lag

    def unreachable(self, now: float) -> None:
        """There is no wire to write the request to, or none any more: time runs from now on, unless it did already."""
        self.look_back()
        self.departure = None
        if not self._runs:
            self._runs = True
            self._start = min(now, self._start)

    def soonest(self, now: float) -> float | None:
        """When this seat could be overdue at the earliest; None with clocks off.

        That holds for whatever it is asked next as well, even if that has a shorter limit: what the bank lends to
        this decision passes before the next one begins. So one deadline at a time is enough to watch.
        """
        return None if self._limit is None else now + self._shortest + self.bank + self._grace

    def due(self, lag: float) -> float | None:
        """When the decision is overdue; None with clocks off."""
        if self._limit is None:
            return None
        if self.departure is not None:
            self.look_back()
        return self._start + (lag - self._lag_at_start) + self.allowed

    def left(self, now: float, lag: float) -> float:
        """Seconds left of the limit, without bank and grace, never below 0; 0 with clocks off."""
        if self._limit is None:
            return 0.0
        self.look_back()
        return max(0.0, self._limit - max(0.0, now - self._start - (lag - self._lag_at_start)))

    def bank_left(self, now: float, lag: float) -> float:
        """Seconds left of the bank: what of it this decision has not used up yet, without the grace, never below 0."""
        if self._limit is None:
            return self.bank
        return max(0.0, self.bank - max(0.0, self.elapsed(now, lag) - self._limit))

    def elapsed(self, now: float, lag: float) -> float:
        """Seconds that the decision has taken so far; more than `allowed`, and it is too late."""
        # Once for every decision: it looks back without writing down what it sees, as most clocks are set anew after
        # it, and a comparison costs a fifth of what `max` costs.
        start = self._start
        lag_at_start = self._lag_at_start
        departure = self.departure
        if (
            departure is not None
            and (written := departure.at) is not None
            and not self._runs
            and written <= start + departure.lag - lag_at_start
        ):
            start = written
            lag_at_start = departure.lag
        elapsed = now - start - (lag - lag_at_start)
        return elapsed if elapsed > 0.0 else 0.0

    def settle(self, elapsed: float, *, in_time: bool = True) -> float:
        """The decision is over after so many seconds: how many of them are charged. The bank lends what is lacking.

        Whether it is in time has been asked before, and is not asked again: of sums in another order the last digit
        is another one. What is not leaves nothing in the bank.
        """
        charged = elapsed - self._grace
        if charged < 0.0:
            charged = 0.0
        limit = self._limit
        if limit is not None and (charged > limit or self._increment):
            left = self.bank - (charged - limit) if charged > limit else self.bank
            self._set_bank((left if left > 0.0 else 0.0) + self._increment if in_time else 0.0)
        return charged

    def stop(self, now: float, lag: float, *, overdue: bool = False) -> Charge:
        """The decision is over, by an answer or because it is overdue: that it is from its very deadline on."""
        elapsed = self.elapsed(now, lag)
        timed_out = overdue or elapsed > self.allowed
        return Charge(elapsed, self.settle(elapsed, in_time=not timed_out), timed_out)


def limit_of(rules: ClockRules, phase: Phase) -> float | None:
    """Seconds for one kind of decision; None with clocks off."""
    if rules.limit is None:
        return None
    limit = next((limit for kind, limit in rules.limits if kind is phase), rules.limit)
    return limit.total_seconds()


class Lag:
    """How late the service's own loop has been, accumulated; what it was late is charged to nobody.

    The loop promises to look in again by a time (`promise`); whoever comes first after that time (`observe`) accounts
    for the lateness, so that an answer read before the late sweep is treated no worse than one read after it.
    """

    __slots__ = ("_due", "total")

    def __init__(self, now: float) -> None:
        self.total = 0.0
        self._due = now

    def promise(self, due: float) -> None:
        """The loop means to look in by `due`."""
        self._due = due

    def observe(self, now: float) -> float:
        """Accounts for lateness up to `now`; returns the seconds added."""
        late = now - self._due
        if late <= 0.0:
            return 0.0
        self.total += late
        self._due = now
        return late
