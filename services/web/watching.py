"""What the pages show, and the port through which the composition root supplies it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from services.common.targets import Target
from services.ledger.values import TournamentState


@dataclass(frozen=True, slots=True)
class TournamentCard:
    """One tournament on the page. `message` says why it stands where it does; `missing_bots` are those it waits for.

    Of one that is open, `entrants` have entered so far, and it takes `least` to `most` of them. `qualified` are those
    who have gone on from its pools to its final, each with its place; none before that is decided, and without pools.
    """

    name: str
    state: TournamentState
    created_at: datetime
    matches: int
    matches_done: int
    matches_running: int
    deals_done: int
    attempts_void: int
    faults: int
    message: str = ""
    missing_bots: tuple[str, ...] = ()
    entrants: tuple[str, ...] = ()
    least: int = 0
    most: int = 0
    qualified: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BotCard:
    """One bot on the page."""

    name: str
    owner: str
    version: str
    attending: bool


class RatingLine(Protocol):
    """A rating, and its 95 % interval if there is one."""

    @property
    def value(self) -> float: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...


class StandingLine(Protocol):
    """One line of a table of standings, best first; `services.tournament.standings.values.Standing` is one.

    `title` is empty without titles, `beans_per_deal` None without beans. `counted` of the `deals` are in the mean.
    `rating` and `openskill` are None where there is nothing to rate. `pool` counts from 1, 0 where there are none.
    """

    @property
    def rank(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def points_per_deal(self) -> float: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...
    @property
    def matches(self) -> int: ...
    @property
    def deals(self) -> int: ...
    @property
    def faults(self) -> int: ...
    @property
    def title(self) -> str: ...
    @property
    def beans_per_deal(self) -> float | None: ...
    @property
    def counted(self) -> int: ...
    @property
    def points_paid(self) -> int: ...
    @property
    def rating(self) -> RatingLine | None: ...
    @property
    def openskill(self) -> float | None: ...
    @property
    def pool(self) -> int: ...


class Watchable(Protocol):
    """The platform as a watcher sees it. Every call may raise `PlatformError`."""

    async def tournaments(self) -> Sequence[TournamentCard]:
        """The tournaments to show, the newest first."""
        ...

    async def standings(self, tournament: str) -> Sequence[StandingLine]:
        """The table of one tournament, best first; empty before the first result."""
        ...

    async def bots(self) -> Sequence[BotCard]:
        """The bots to show."""
        ...

    async def targets(self) -> Sequence[Target]:
        """Every process that serves `/metrics`, this one included."""
        ...
