"""What a deal came to."""

from __future__ import annotations

from dataclasses import dataclass

from bots_sdk.rules.beans import Beans
from bots_sdk.rules.cards import SEATS
from bots_sdk.rules.events import SoloKind, Tribute
from bots_sdk.rules.public import PublicState
from bots_sdk.rules.scoring import Standing


@dataclass(frozen=True, slots=True)
class DealResult:
    """The result of a deal.

    Attributes:
        number: the deal of the match, from 0.
        dealer: the seat dealt the first card.
        voided: nobody became emperor; there is no standing, and all points are 0.
        standing: places, roles and declarations; None if the deal is void.
        points: by seat; they add up to 0.
        stakes: the multipliers by seat.
        tribute: what the next deal owes; None without tribute. After a void deal what was owed for it is still owed.
        beans: the settlement in beans; None without beans.
    """

    number: int
    dealer: int
    voided: bool
    standing: Standing | None
    points: tuple[int, ...]
    stakes: tuple[int, ...]
    tribute: Tribute | None
    beans: Beans | None

    @classmethod
    def void(cls, public: PublicState) -> DealResult:
        """The result of a deal nobody would be emperor of."""
        return cls(public.number, public.dealer, True, None, (0,) * SEATS, public.stakes, public.tribute, None)

    @property
    def places(self) -> tuple[int, ...]:
        """The seats in the order of going out; empty if the deal is void."""
        return self.standing.places if self.standing else ()

    @property
    def emperor(self) -> int | None:
        """The emperor's seat; None if the deal is void."""
        return self.standing.emperor if self.standing else None

    @property
    def guard(self) -> int | None:
        """The guard's seat; None if the deal is void or the emperor was alone."""
        return self.standing.guard if self.standing else None

    @property
    def solo(self) -> SoloKind | None:
        """How the emperor came to be alone, if he was."""
        return self.standing.solo if self.standing else None

    @property
    def revealed(self) -> bool:
        """The guard had shown itself before play."""
        return self.standing is not None and self.standing.revealed

    @property
    def rebelled(self) -> bool:
        """There was a rebellion."""
        return self.standing is not None and self.standing.rebelled

    @property
    def kicked(self) -> bool:
        """There was a kick."""
        return self.standing is not None and self.standing.kicked
