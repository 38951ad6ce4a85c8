"""A tournament as its file describes it, in plain values: what `parse_spec` makes and `format_spec` writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import count

from bots_sdk.rules.options import Options
from bots_sdk.rules.phases import Phase
from services.common.matches import HOUSE_PREFIX, ClockRules, FaultRules

SEATS = 5
MAX_BOTS = 500
MAX_SETS = {"full": 10_000_000, "balanced": 1_000_000, "rounds": 1_000_000, "gauntlet": 1_000_000}
"""Sets of five in one schedule, at most, by its kind; with rotation there are five times as many matches."""

HOUSE_BOTS = ("greedy", "random")
"""The house bots a tournament may name, and the order in which they fill up."""

MAX_CHALLENGERS = 20
MIN_OPPONENTS = SEATS - 1
FIELD_ENTRANTS = 2 * SEATS
"""With fewer entrants there are no two tables to compare."""

PAR_NAMES = ("house:par", "house:par#2", "house:par#3", "house:par#4", "house:par#5")
"""Who sits at a control table, by seat: names that no entrant can have."""
PAR_BOT = f"{HOUSE_PREFIX}greedy"
"""The house bot behind all of them."""

NO_SHOW_LIMIT = 5

DECISIONS = {phase.name.lower(): phase for phase in Phase if phase <= Phase.PLAY}
"""The kinds of decision by their names: those of the phases in which they are asked for."""
DECISION_GROUPS = {
    "tribute": (Phase.PAY, Phase.TAKE),
    "opening": (Phase.WINDOW, Phase.THRONE, Phase.CALL, Phase.DECLARE, Phase.KICK, Phase.STAKE),
}
"""Names for several kinds at once."""

OptionValue = str | int | bool | None | tuple[int, ...]


class ScheduleKind(StrEnum):
    """Which sets of five are played."""

    FULL = "full"
    BALANCED = "balanced"
    ROUNDS = "rounds"
    GAUNTLET = "gauntlet"
    POOL = "pool"


class Draw(StrEnum):
    """How bots are put into pools."""

    LOT = "lot"
    """By the tournament's seed."""
    SNAKE = "snake"
    """By their order in the file: the first of each pool, then back and forth."""


class FinalCounts(StrEnum):
    """Which results are in the table of a final."""

    FINAL = "final"
    ALL = "all"
    """Those of the pools as well."""


class Duplicate(StrEnum):
    """How often the same deals are played, so that luck is taken out."""

    ROTATION = "rotation"
    """Five times by the same five, moved on by one seat each time."""
    FIELD = "field"
    """At all tables of a round; everybody is compared with the others who held the same hand."""
    PAR = "par"
    """At a control table of house bots as well, with which everybody is compared."""
    NONE = "none"


class BenchedResults(StrEnum):
    """What becomes of the results of a bot that is benched."""

    KEPT = "kept"
    ANNULLED = "annulled"


@dataclass(frozen=True, slots=True)
class ScheduleRules:
    """Which sets of five are played, and how many of them.

    `full`: every set, `repeats` times. `balanced`: exactly one of the next three is set. All of them count matches,
    so with rotation five to a set: `matches` in total, `matches_per_bot` and `meetings` (of two bots) at least, on
    average. `rounds`: so many, in each of which everybody plays once; who is left over rests. `gauntlet`: each of the
    `challengers` with four of the others at a time, by `matches` in total, or by `meetings` of a challenger with each
    of the others at least, on average. `pool`: as `stages` say, which no other kind has.
    """

    kind: ScheduleKind
    repeats: int = 1
    matches: int | None = None
    matches_per_bot: int | None = None
    meetings: int | None = None
    rounds: int | None = None
    challengers: tuple[str, ...] = ()
    stages: PoolRules | None = None


@dataclass(frozen=True, slots=True)
class PoolRules:
    """Pools that feed a final. Exactly one of `pools`, how many, and `size`, how many bots in each at least, is set.

    `each` is played inside every pool. The first `advance` of each go on to the `final`, and the best `rest` of all
    others.
    """

    each: ScheduleRules
    final: ScheduleRules
    advance: int
    pools: int | None = None
    size: int | None = None
    rest: int = 0
    draw: Draw = Draw.LOT
    counts: FinalCounts = FinalCounts.FINAL

    def sizes(self, entrants: int) -> tuple[int, ...]:
        """How many are in each pool, the larger ones first: they differ by one at most."""
        pools = self.pools or max(1, entrants // (self.size or entrants))
        size, more = divmod(entrants, pools)
        return (size + 1,) * more + (size,) * (pools - more)

    def places(self, entrants: int) -> int:
        """How many play in the final."""
        return self.advance * len(self.sizes(entrants)) + self.rest


@dataclass(frozen=True, slots=True)
class StopRules:
    """When a tournament may end before its schedule does: the `first` of the table are apart from all others.

    `level`: per cent of the tournaments in which those that are declared first are to be the right ones, at least.
    """

    first: int = 1
    level: int = 95


@dataclass(frozen=True, slots=True)
class BreakerRules:
    """When a bot that keeps failing is benched: after so many failures in a row, 0: never.

    `results` says what becomes of what it has played by then.
    """

    after: int = 0
    results: BenchedResults = BenchedResults.KEPT


@dataclass(frozen=True, slots=True)
class EntryRules:
    """Who may enter before the start: `min` to `max` bots in all, by themselves those of `names`; none there: any."""

    min: int = 1
    max: int = MAX_BOTS
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TournamentSpec:
    """One tournament. `bots` are the names as written (1 to 500); `entrants` has the house bots that fill up as well.

    `overrides` are the options that differ from the profile, `options` the two put together. `seed` None: whoever
    creates the tournament draws one and keeps it (`dataclasses.replace`); deals follow from it, so no bot may see it.
    `in_flight`: matches being played at once, None: as many as the platform likes. `no_show_limit`: how many attempts
    at one match may end as no-show. `per_bot`: matches of one bot on the way at once, None: as many as the platform
    likes. `stop`: when it may end early, None: never. `entries`: who may enter, as long as it was not started; `bots`
    are then those who are named beforehand, possibly none, and not yet who plays.
    """

    name: str
    profile: str
    options: Options
    bots: tuple[str, ...]
    schedule: ScheduleRules
    deals: int
    overrides: tuple[tuple[str, OptionValue], ...] = ()
    duplicate: Duplicate = Duplicate.ROTATION
    clock: ClockRules = field(default_factory=ClockRules)
    faults: FaultRules = field(default_factory=FaultRules)
    seed: str | None = None
    in_flight: int | None = None
    no_show_limit: int = NO_SHOW_LIMIT
    per_bot: int | None = None
    breaker: BreakerRules = field(default_factory=BreakerRules)
    stop: StopRules | None = None
    entries: EntryRules | None = None

    @property
    def entrants(self) -> tuple[str, ...]:
        """Names of all that play, at least five; an index into it is what the schedule calls an entrant."""
        return fill_up(self.bots)

    @property
    def players(self) -> tuple[str, ...]:
        """The entrants, and behind them who sits at the control tables if there are any."""
        return self.entrants + (PAR_NAMES if self.duplicate is Duplicate.PAR else ())


def fill_up(bots: Sequence[str]) -> tuple[str, ...]:
    """The bots, and house bots until there are five: greedy and random in turn, under names that are not taken."""
    names = list(bots)
    spare = (house_name(kind, copy) for copy in count(1) for kind in HOUSE_BOTS)
    while len(names) < SEATS:
        name = next(spare)
        if name not in names:
            names.append(name)
    return tuple(names)


def house_name(kind: str, copy: int = 1) -> str:
    """The name of a house bot: `house:greedy`, its second copy `house:greedy#2`."""
    return f"{HOUSE_PREFIX}{kind}" if copy == 1 else f"{HOUSE_PREFIX}{kind}#{copy}"


def house_bot_id(name: str) -> str | None:
    """The bot id behind the name of a house bot (`house:greedy#2` is played by `house:greedy`), None for others."""
    if name in PAR_NAMES:
        return PAR_BOT
    return name.partition("#")[0] if name.startswith(HOUSE_PREFIX) else None
