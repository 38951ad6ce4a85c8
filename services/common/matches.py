"""What crosses between the director, the match services and the ledger: orders and outcomes, as plain values.

The director hands out `MatchOrder`s and gets `MatchOutcome`s back; the ledger stores outcomes. None of the three
imports another, they meet in these types.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from bots_sdk.rules.events import SoloKind
from bots_sdk.rules.options import Options
from bots_sdk.rules.phases import Phase

HOUSE_PREFIX = "house:"
"""Bot ids with this prefix are house bots that a match service plays itself, for example `house:greedy`."""


class IllegalPolicy(StrEnum):
    """What happens after an illegal answer."""

    RETRY = "retry"
    DEFAULT = "default"


class FaultScore(StrEnum):
    """What a bot gets for a deal in which it was at fault."""

    PLAYED = "played"
    """The points as they were played."""
    PENALTY = "penalty"
    """Those, less so many points for each fault."""
    FORFEIT = "forfeit"
    """A fixed loss for each deal it spoiled, or the points as played less a penalty where that is still worse."""


class OthersScore(StrEnum):
    """What the others get for a deal that a bot has spoiled."""

    BLOCK = "block"
    """Nothing, good or bad: the deal is left out of their means, in all its rotations."""
    DEAL = "deal"
    """The same, but only the one match in which it was spoiled is left out."""
    PLAYED = "played"
    """The points as they were played."""


class Ending(StrEnum):
    """How an attempt at a match ended: the outcome apart from the points."""

    COMPLETED = "completed"
    COMPLETED_WITH_FAULTS = "completed_with_faults"
    VOID = "void"
    NO_SHOW = "no_show"

    @property
    def counts(self) -> bool:
        """Whether the points count; otherwise the match is played again with the same deals."""
        return self in (Ending.COMPLETED, Ending.COMPLETED_WITH_FAULTS)


@dataclass(frozen=True, slots=True)
class Entrant:
    """A bot in a seat: who it is to the platform, and the name shown to others."""

    bot_id: str
    name: str

    @property
    def is_house(self) -> bool:
        """Whether a match service plays it itself."""
        return self.bot_id.startswith(HOUSE_PREFIX)


@dataclass(frozen=True, slots=True)
class ClockRules:
    """The clock of every seat of a match; `limit` None: clocks are off (debugging).

    `limits` are the kinds of decision that have a limit of their own, each at most once, in the order of the phases;
    with clocks off they mean nothing.
    """

    limit: timedelta | None = timedelta(seconds=2)
    bank: timedelta = timedelta(0)
    increment: timedelta = timedelta(0)
    grace: timedelta = timedelta(milliseconds=200)
    ready: timedelta = timedelta(seconds=30)
    limits: tuple[tuple[Phase, timedelta], ...] = ()


@dataclass(frozen=True, slots=True)
class FaultRules:
    """How faults of bots are treated, and what they cost.

    `illegal_limit` illegal answers to one request are borne under the policy `retry`; `takeover_after` timeouts in a
    row give the seat to a house bot for the rest of the match (0: never).

    A seat *spoils* a deal when the platform decides in it: by a default, or through a house bot that has taken over. An
    illegal answer that is mended in time is a fault and spoils nothing. `score` is what the bot itself gets for that,
    with `penalty` points for each fault, or `forfeit` points for each spoiled deal and `penalty` at least; `others` is
    what the others get.
    """

    illegal: IllegalPolicy = IllegalPolicy.RETRY
    illegal_limit: int = 3
    takeover_after: int = 5
    score: FaultScore = FaultScore.PLAYED
    penalty: int = 2
    forfeit: int = 6
    others: OthersScore = OthersScore.BLOCK


@dataclass(frozen=True, slots=True)
class MatchOrder:
    """One attempt at one scheduled match, ready to be played.

    `number` is the place in the schedule; `attempt` an opaque text, unique, which is also the match id the bots see, so
    it must tell nothing about schedule, rotation or deals. `secret` (32 bytes) is what the deals come from, and `suits`
    the exchange of suits they are dealt with (`shuffle.suit_table`); with `withhold` neither is told to the bots when
    the match ends, because other matches with the same deals are still to be played.
    """

    tournament: str
    number: int
    attempt: str
    seats: tuple[Entrant, Entrant, Entrant, Entrant, Entrant]
    options: Options
    deals: int
    secret: bytes
    nonce: bytes
    withhold: bool = True
    clock: ClockRules = field(default_factory=ClockRules)
    faults: FaultRules = field(default_factory=FaultRules)
    suits: int = 0


NO_FAULTS = (0, 0, 0, 0, 0)
"""By seat: nobody did anything wrong."""


@dataclass(frozen=True, slots=True)
class DealScore:
    """One deal of a match as it ended; all tuples are by seat but `places`, the seats in the order of going out.

    `voided` counts the void shuffles before it. A deal that was void for good has points 0, no places and no emperor.
    `beans` is None in a match that is not settled in beans; the five need not add up to 0, each being rounded.
    `spoiled` are the seats for which the platform decided, ascending, and `faults` what each seat did wrong, as
    `SeatFaults.total` counts; both with the void shuffles before the deal.
    """

    number: int
    points: tuple[int, ...]
    places: tuple[int, ...]
    emperor: int | None
    guard: int | None
    solo: SoloKind | None
    voided: int = 0
    beans: tuple[int, ...] | None = None
    spoiled: tuple[int, ...] = ()
    faults: tuple[int, ...] = NO_FAULTS


@dataclass(frozen=True, slots=True)
class SeatFaults:
    """What one seat did wrong in a match."""

    timeouts: int = 0
    illegal_answers: int = 0
    disconnects: int = 0
    taken_over: bool = False

    @property
    def total(self) -> int:
        """Timeouts and illegal answers and a takeover; a disconnect that cost no decision is counted but no fault."""
        return self.timeouts + self.illegal_answers + int(self.taken_over)

    def describe(self) -> str:
        """The faults in words, for example "2 timeouts, taken over"; empty without any."""
        counts = ((self.timeouts, "timeout"), (self.illegal_answers, "illegal answer"))
        parts = [f"{count} {what}{'s' if count > 1 else ''}" for count, what in counts if count]
        return ", ".join(parts + ["taken over"] * self.taken_over)


@dataclass(frozen=True, slots=True)
class MatchOutcome:
    """What came of one order. `deals` is complete only where `ending.counts`; `blamed` are seats.

    `record` is the compressed `baohuang.record.v1.MatchRecord` where `ending.counts`. The secret of the deals is in it:
    nobody may see it before all matches with the same deals have been played (`MatchOrder.withhold`).
    """

    tournament: str
    number: int
    attempt: str
    ending: Ending
    blamed: tuple[int, ...]
    message: str
    deals: tuple[DealScore, ...]
    faults: tuple[SeatFaults, SeatFaults, SeatFaults, SeatFaults, SeatFaults]
    decisions: int
    started_at: datetime
    ended_at: datetime
    match_service: str = ""
    record: bytes = b""
