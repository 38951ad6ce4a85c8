"""Benches a bot that keeps failing, by the rule of the tournament: the others need not pay for it for ever. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from services.common.matches import Ending, Entrant, MatchOrder, MatchOutcome
from services.ledger.values import PastAttempt


@dataclass(frozen=True, slots=True)
class BreakerRule:
    """A bot that fails `after` times in a row plays no more; `annulled`: nothing it has played counts then."""

    after: int
    annulled: bool = False


@dataclass(frozen=True, slots=True)
class Benched:
    """A bot that has failed too often: its name, and why it plays no more, for everybody."""

    name: str
    reason: str


@dataclass(slots=True)
class _Failures:
    """Failures in a row of one bot, and when the last of them ended."""

    count: int
    ended_at: datetime


class Breaker:
    """Counts failures of each bot in a row: matches that could not begin because of it, or that a house bot took over.

    What ran at the same time is one failure: a bot at thirty tables that crashes once has not failed thirty times. A
    match played to its end by the bot itself ends the row; a void says nothing about anybody.
    """

    def __init__(self, rule: BreakerRule | None) -> None:
        self._rule = rule
        self._failures: dict[str, _Failures] = {}

    def count(self, order: MatchOrder, outcome: MatchOutcome) -> Iterator[Benched]:
        """Take an outcome into account; who is to be benched because of it."""
        taken_over = tuple(seat for seat, faults in enumerate(outcome.faults) if faults.taken_over)
        past = PastAttempt(
            order.number, outcome.ending, outcome.blamed, taken_over, outcome.started_at, outcome.ended_at
        )
        yield from self.recall(order.seats, past)

    def recall(self, seats: Sequence[Entrant], outcome: PastAttempt) -> Iterator[Benched]:
        """The same of an attempt of before, by who sat there."""
        if self._rule is None or outcome.ending is Ending.VOID:
            return
        for seat, entrant in enumerate(seats):
            if entrant.is_house:
                continue
            absent = outcome.ending is Ending.NO_SHOW and seat in outcome.blamed
            if absent or seat in outcome.taken_over:
                if self._fail(entrant.name, outcome) == self._rule.after:
                    last = "could not begin" if absent else "was taken over by a house bot"
                    yield Benched(entrant.name, self._reason(outcome.number, last))
            elif outcome.ending.counts:
                self._failures.pop(entrant.name, None)

    def is_due(self, name: str) -> bool:
        """Whether the bot has failed too often by now, and not played a match well since."""
        failures = self._failures.get(name)
        return self._rule is not None and failures is not None and failures.count >= self._rule.after

    def _fail(self, name: str, outcome: PastAttempt) -> int:
        """How many failures in a row there are now; 0 if this one belongs to the last."""
        failures = self._failures.get(name)
        if failures is None:
            self._failures[name] = _Failures(1, outcome.ended_at)
            return 1
        if outcome.started_at < failures.ended_at:
            return 0
        failures.count += 1
        failures.ended_at = outcome.ended_at
        return failures.count

    def _reason(self, number: int, last: str) -> str:
        assert self._rule is not None
        times = "once" if self._rule.after == 1 else f"{self._rule.after} times in a row"
        return f"Benched by the breaker: it failed {times}, the last time in match {number}, which {last}."
