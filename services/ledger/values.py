"""What the ledger takes and gives: plain values, without anything of a database in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Generic, TypeVar

from services.common.matches import DealScore, Ending, MatchOutcome, SeatFaults
from services.common.qualifiers import Qualifier
from services.common.scopes import Scope

T = TypeVar("T")


class TournamentState(StrEnum):
    """Where a tournament stands; the names are those of `baohuang.tournament.v1.State`."""

    DRAFT = "draft"
    """Written down, and shown to operators alone."""
    OPEN = "open"
    """Bots may enter."""
    RUNNING = "running"
    """Its line-up is settled; it is played, or waits for its bots."""
    DRAINING = "draining"
    PAUSED = "paused"
    FINISHED = "finished"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        """Whether the tournament stays there for good."""
        return self in (TournamentState.FINISHED, TournamentState.CANCELLED)

    @property
    def has_begun(self) -> bool:
        """Whether it was started, so that who plays is settled; one that was cancelled may never have been."""
        return self not in (TournamentState.DRAFT, TournamentState.OPEN)


class Side(StrEnum):
    """Who enters a bot in a tournament, or withdraws it."""

    BOT = "bot"
    """The bot itself."""
    OPERATOR = "operator"


@dataclass(frozen=True, slots=True)
class Tournament:
    """One tournament. All its deals come from `secret`, which must not be shown before it is over.

    `qualified` are the holders of the places of its final, in the order of its schedule; empty before they are decided,
    and without pools.
    """

    name: str
    spec_yaml: str
    secret: bytes = field(repr=False)
    state: TournamentState
    message: str
    created_at: datetime
    updated_at: datetime
    qualified: tuple[Qualifier, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """A bot that has entered a tournament before it was started; `left_at` is set if it was withdrawn again."""

    name: str
    at: datetime
    by: Side
    left_at: datetime | None = None
    left_by: Side | None = None

    @property
    def is_in(self) -> bool:
        """Whether it is still among those who will play."""
        return self.left_at is None


@dataclass(frozen=True, slots=True)
class Exclusion:
    """An entrant of a tournament that plays no more; `annulled`: nothing it has played counts, for anybody.

    `at_final` is what `annulled` was when it was decided who plays the final; None if it was not excluded by then.
    """

    name: str
    annulled: bool
    reason: str
    at: datetime
    at_final: bool | None = None


@dataclass(frozen=True, slots=True)
class Rulings:
    """What operators decided in the course of a tournament; `in_flight` None: as many as the specification says."""

    exclusions: tuple[Exclusion, ...] = ()
    in_flight: int | None = None

    @property
    def excluded(self) -> frozenset[str]:
        """The names of those who play no more."""
        return frozenset(exclusion.name for exclusion in self.exclusions)


@dataclass(frozen=True, slots=True)
class Bot:
    """One registered bot; `revoked_at` is set while it has no token.

    `token_since` is since when it has its token, or has none; it grows with every change.
    """

    bot_id: str
    name: str
    owner: str
    version: str
    created_at: datetime
    token_since: datetime
    revoked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class AccessToken:
    """The token of a person or a program, without what would let anybody in; `revoked_at` is set once it is revoked."""

    name: str
    scopes: frozenset[Scope]
    created_at: datetime
    rotated_at: datetime | None = None
    revoked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A part of a list. `after` asks for the next part; empty on the last."""

    items: tuple[T, ...]
    after: str


@dataclass(frozen=True, slots=True)
class Result:
    """The one result of a scheduled match: the outcome of the first attempt that counted. It never changes."""

    number: int
    attempt: str
    ending: Ending
    blamed: tuple[int, ...]
    deals: tuple[DealScore, ...]
    faults: tuple[SeatFaults, SeatFaults, SeatFaults, SeatFaults, SeatFaults]
    decisions: int
    started_at: datetime
    ended_at: datetime
    match_service: str

    @property
    def points(self) -> tuple[int, ...]:
        """The points of the whole match, by seat."""
        return tuple(sum(points) for points in zip(*(deal.points for deal in self.deals), strict=True))


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at a scheduled match, whether it counted or not."""

    number: int
    attempt: str
    ending: Ending
    blamed: tuple[int, ...]
    message: str
    started_at: datetime
    ended_at: datetime
    match_service: str


@dataclass(frozen=True, slots=True)
class PastAttempt:
    """How an attempt ended, and the seats that failed in it: those to blame, and those taken over by a house bot."""

    number: int
    ending: Ending
    blamed: tuple[int, ...]
    taken_over: tuple[int, ...]
    started_at: datetime
    ended_at: datetime


@dataclass(frozen=True, slots=True)
class Recorded:
    """What `Ledger.record` made of its outcomes; each is in exactly one of the three.

    `new` became results, `void` are attempts that do not count, and `duplicates` changed no result: the match had one,
    or the very attempt was recorded before. `attempts` is the number of attempts that were not recorded before.
    """

    new: tuple[MatchOutcome, ...]
    void: tuple[MatchOutcome, ...]
    duplicates: tuple[MatchOutcome, ...]
    attempts: int


@dataclass(frozen=True, slots=True)
class Totals:
    """How far a tournament is. All but `attempts` count what is in results."""

    matches: int = 0
    deals: int = 0
    decisions: int = 0
    timeouts: int = 0
    illegal_answers: int = 0
    disconnects: int = 0
    takeovers: int = 0
    attempts: int = 0

    @property
    def attempts_void(self) -> int:
        """Attempts that made no result."""
        return self.attempts - self.matches

    @property
    def faults(self) -> int:
        """Faults of bots as `SeatFaults.total` counts them."""
        return self.timeouts + self.illegal_answers + self.takeovers
