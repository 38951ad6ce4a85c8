"""What a director needs of the rest of the platform: match services, a ledger, and the scheduled matches."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Protocol

from services.common.matches import Entrant, MatchOrder, MatchOutcome
from services.ledger.values import PastAttempt, Rulings, TournamentState


class MatchServiceLost(Exception):
    """A match service died or cannot be reached; whatever it had of a tournament is gone."""


class MatchServicePort(Protocol):
    """One match service as a director sees it. Every call may raise `MatchServiceLost`.

    A match service that was restarted knows nothing of what it was told before. So that nothing slips through between
    two calls, every call after `withdraw` speaks to the incarnation that `withdraw` spoke to, or raises; it raises too
    when another director of the tournament has withdrawn it since.
    """

    @property
    def name(self) -> str:
        """Its name, the same after a restart."""
        ...

    async def withdraw(self, tournament: str) -> None:
        """Begin anew: forget all orders and outcomes of the tournament; outcomes are numbered from 1 again."""
        ...

    async def submit(self, orders: Sequence[MatchOrder]) -> None:
        """Play these as soon as their bots have free tables. The same attempt twice is one."""
        ...

    async def collect(
        self, tournament: str, confirmed: int, wait: float, enough: int
    ) -> list[tuple[int, MatchOutcome]]:
        """Outcomes not yet confirmed, with their numbers; up to `wait` seconds until there is one.

        Those with numbers up to `confirmed` are forgotten. If there are fewer than `enough`, it waits for more, but no
        longer than nobody minds.
        """
        ...

    async def missing(self, bot_ids: Sequence[str], wait: float) -> list[str]:
        """Which of these bots have no stream there; at once when none, otherwise after `wait` seconds."""
        ...


class LedgerPort(Protocol):
    """One tournament in the ledger. Calls block; they raise `PlatformError` when it cannot be written."""

    def done(self) -> Iterable[int]:
        """The numbers of the matches that have a result."""
        ...

    def record(self, outcomes: Sequence[MatchOutcome]) -> None:
        """Write attempts, and results for those that count; all or nothing, and the same attempt twice is one."""
        ...

    def rulings(self) -> Rulings:
        """What operators decided in the course of it."""
        ...

    def bench(self, name: str, *, annulled: bool, reason: str) -> None:
        """Exclude a bot, unless it is excluded already, in whatever way."""
        ...

    def past_attempts(self, most: int) -> Sequence[PastAttempt]:
        """What ended last, up to so many attempts, in the order of ending."""
        ...

    def retract(self, number: int, sharing: Collection[int], reason: str) -> bool:
        """Take the result of a match back, while not all `sharing` its deals have one; whether it had one."""
        ...

    def set_state(self, state: TournamentState, message: str) -> None:
        """Where the tournament stands, and why, for people."""
        ...


class StopPort(Protocol):
    """The rule by which a tournament may end before its schedule does."""

    @property
    def recorded(self) -> str:
        """What was decided by a director before, empty if nothing was: then it stays decided."""
        ...

    def is_due(self, is_done: Callable[[int], bool]) -> bool:
        """Whether there is something to look at, by which matches have results; not after it was enough."""
        ...

    def take_look(self) -> str:
        """Look at what the ledger has: a sentence when that is enough, else an empty one. Blocks."""
        ...


class StagesPort(Protocol):
    """What is played in stages: who plays the last one is decided when all that is before it has been played."""

    @property
    def is_open(self) -> bool:
        """Whether that is still to be entered: the fixtures have only what comes before."""
        ...

    def decide(self) -> None:
        """Decide it by what the ledger has, for good, and write it there. The same again changes nothing. Blocks."""
        ...

    def enter(self) -> None:
        """Let the fixtures have all matches from now on."""
        ...


class Fixtures(Protocol):
    """The scheduled matches of one tournament, numbered from 0."""

    @property
    def matches(self) -> int:
        """How many there are."""
        ...

    @property
    def bots(self) -> Collection[Entrant]:
        """The remote bots: entrants without the house bots that match services play themselves."""
        ...

    def among(self, name: str) -> Collection[str]:
        """Who plays in the same part of the tournament now, house bots and the bot itself included: in its pool, in
        the final, or in all of it; nobody for one that plays no more.
        """
        ...

    def seats(self, number: int) -> Sequence[Entrant]:
        """Who plays the match, by seat."""
        ...

    def sharing(self, number: int) -> Collection[int]:
        """The numbers of all matches with the same deals, this one among them."""
        ...

    def order(self, number: int, attempt: str) -> MatchOrder:
        """The match, as an attempt of this id; the deals are the same for every attempt."""
        ...
