"""Points of a deal (docs/rules.md, part 6)."""

from __future__ import annotations

from dataclasses import dataclass

from bots_sdk.rules.cards import SEATS
from bots_sdk.rules.events import Declaration, SoloKind
from bots_sdk.rules.options import Options

REBELS_OF_SOLO = 4


@dataclass(frozen=True, slots=True)
class Standing:
    """How a deal came out, as far as points, tribute and beans need it.

    Attributes:
        places: the seats in the order of going out.
        emperor: the emperor's seat.
        guard: the guard's seat, or None if the emperor was alone.
        solo: how he came to be alone, or None.
        declaration: what was declared before play.
        kicked: it was answered with a kick.
    """

    places: tuple[int, ...]
    emperor: int
    guard: int | None
    solo: SoloKind | None = None
    declaration: Declaration = Declaration.NONE
    kicked: bool = False

    @property
    def revealed(self) -> bool:
        """The guard had shown itself."""
        return self.declaration is Declaration.REVEAL

    @property
    def rebelled(self) -> bool:
        """There was a rebellion."""
        return self.declaration is Declaration.REBELLION

    @property
    def rebels(self) -> tuple[int, ...]:
        """The rebels in the order of going out."""
        return tuple(seat for seat in self.places if seat not in (self.emperor, self.guard))

    def place_of(self, seat: int) -> int:
        """The place of a seat, 1 to 5."""
        return self.places.index(seat) + 1

    @property
    def margin(self) -> int:
        """G of the rules: what the guard wins undoubled; for a solo 1 or -1 (0 is a draw, see `solo_outcome`)."""
        if self.guard is None:
            return 1 if self.places[0] == self.emperor else -1
        return 6 - self.place_of(self.emperor) - self.place_of(self.guard)

    @property
    def doublings(self) -> int:
        """The whole multiplier of the declarations: 1, 2 or 4 (rules 6.3). Open solos have no declarations."""
        return (2 if self.revealed or self.rebelled else 1) * (2 if self.kicked else 1)


def solo_outcome(options: Options, standing: Standing) -> int:
    """1 if the solo emperor has won, -1 if he has lost, 0 if it is a draw (rules 6.4)."""
    place = standing.place_of(standing.emperor)
    if place == 2 and standing.solo is SoloKind.DARK and options.dark_second_is_draw:
        return 0
    return 1 if place == 1 else -1


def points_of(options: Options, standing: Standing) -> tuple[int, ...]:
    """The points of the five seats; they add up to 0."""
    if standing.solo is not None:
        score = options.solo_scores[standing.solo - SoloKind.GRAB]
        if standing.solo is SoloKind.DARK:
            score *= standing.doublings
        score *= solo_outcome(options, standing)
        emperors, guards, rebels = score, 0, -score // REBELS_OF_SOLO
    else:
        unit = standing.margin * standing.doublings
        # After a kick emperor and guard share evenly; the multiplier is even then.
        emperors, guards = (3 * unit // 2, 3 * unit // 2) if standing.kicked else (2 * unit, unit)
        rebels = -unit
    return tuple(
        emperors if seat == standing.emperor else guards if seat == standing.guard else rebels for seat in range(SEATS)
    )
