"""What each entrant made of its deals: what counts by the rules, what it is compared with, what is paid. Pure.

A deal in which the platform decided for a seat is *spoiled* by it. For that seat it counts, by the rule of `paying`;
for the others it is left out, so that they neither gain nor lose by it. With rotation it is left out in its whole
block: whoever leaves out one of the five matches leaves out good hands or bad ones, and a bot could choose which.

Where deals are compared with a *datum* (`datum.py`) all that is made of it: a block is the deal at all its tables, and
everybody has one observation in it. What somebody spoiled is then left out at that table only: the others are compared
with the same hand, good or bad, so nobody gains by which deals are left out.

Everything is computed from the columns of deals when it is asked for, one entrant after another, in whole numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bots_sdk.rules.cards import SEATS
from services.common.matches import FaultRules, FaultScore, OthersScore
from services.tournament.standings.datum import Datum, Hands, Made
from services.tournament.standings.deals import DealColumns
from services.tournament.standings.paying import paid_by
from services.tournament.standings.rating import RatedDeals
from services.tournament.standings.roles import NO_KIND
from services.tournament.standings.widths import Whole, magnitude, width_for

_NOBODY, _SEVERAL = -1, -2


@dataclass(frozen=True, slots=True)
class Amounts:
    """Points or beans of one entrant.

    By deal, in the order of the deals: what was won, `scale` times, less what was paid, wide enough for their sum; and
    1 where the deal counts. `raw` is all as it was played in deals that count, less what was paid, and `paid` that.
    """

    won: Whole
    deals: Whole
    raw: int
    paid: int


@dataclass(frozen=True, slots=True)
class Account:
    """All deals of one entrant. `blocks` and `kinds` are by deal; `played_in_beans` are the deals that have any."""

    played: int
    played_in_beans: int
    spoiled: int
    blocks: NDArray[np.int32]
    kinds: Whole
    points: Amounts
    beans: Amounts | None


@dataclass(frozen=True, slots=True)
class Price:
    """What counts and what is paid: the rules of faults, the beans of a point, with what deals are compared."""

    rules: FaultRules
    unit: int
    datum: Datum | None

    @property
    def scale(self) -> int:
        """What was won is so many times what it is, so that it is a whole number."""
        return self.datum.scale if self.datum else 1


@dataclass(frozen=True, slots=True)
class _Seat:
    """One entrant in all its deals: which, and in which seats; what it did wrong, and whether they count."""

    rows: Whole
    seats: Whole
    spoils: NDArray[np.bool_]
    faults: Whole
    counts: NDArray[np.bool_]


class Accounts:
    """The accounts of all entrants, of deals that do not change any more."""

    def __init__(self, deals: DealColumns, entrants: int, price: Price, *, beans: bool) -> None:
        """With `beans` those are accounted for as well."""
        self._deals = deals
        self._entrants = entrants
        self._price = price
        self._has_beans = beans
        self._blocks = deals.blocks()
        self._spoilers = self._find_spoilers()
        self._points: Made | None = None
        self._beans: Made | None = None
        if price.datum is not None:
            hands = Hands(price.datum, deals, self._blocks, entrants)
            self._points = Made(hands, deals.points, np.ones(len(deals), dtype=bool))
            self._beans = Made(hands, deals.beans, deals.with_beans != 0) if beans else None

    def of(self, entrant: int) -> Account:
        """The account of one entrant."""
        deals = self._deals
        rows, seats = np.divmod(np.flatnonzero(deals.entrants == entrant), SEATS)
        spoils = (deals.spoiled[rows] >> seats & 1).astype(bool)
        counts = self._counts(entrant, rows, spoils)
        if self._points is not None:
            counts &= self._points.others(rows, seats)[1] > 0
        seat = _Seat(rows, seats, spoils, deals.faults[rows, seats], counts)
        has_beans = (deals.with_beans[rows] != 0) & self._has_beans
        return Account(
            played=len(rows),
            played_in_beans=int(has_beans.sum()),
            spoiled=int(spoils.sum()),
            blocks=self._blocks[rows],
            kinds=deals.kinds[rows, seats],
            points=self._amounts(seat, deals.points, self._points, 1, np.ones(len(rows), dtype=bool)),
            beans=self._amounts(seat, deals.beans, self._beans, self._price.unit, has_beans)
            if self._has_beans
            else None,
        )

    def rated(self) -> RatedDeals:
        """The deals that tell how good anybody is.

        Deals that somebody spoiled do not, so they are out of it like out of the means of the others: with rotation in
        their whole block. What they cost is in the means alone.
        """
        deals = self._deals
        is_rated = deals.kinds[:, 0] != NO_KIND
        if self._price.rules.others is not OthersScore.PLAYED:
            is_rated &= (deals.spoiled == 0) & (self._spoilers[self._blocks] == _NOBODY)
        if self._points is None:
            return RatedDeals(self._blocks, deals.entrants, deals.kinds, deals.points).only(is_rated)
        is_rated &= deals.entrants[:, 0] < self._entrants
        rows = np.flatnonzero(is_rated)
        # Tables of a block go by their first entrants, whatever the numbers of their matches.
        rows = rows[np.lexsort((deals.entrants[rows].min(axis=1), self._blocks[rows]))]
        rows, points = self._points.differences(rows)
        return RatedDeals(self._blocks[rows], deals.entrants[rows], deals.kinds[rows], points)

    def _find_spoilers(self) -> NDArray[np.int32]:
        """By block: who has spoiled a deal of it, as far as others are to be spared that; or nobody, or several."""
        deals = self._deals
        spoilers = np.full(int(self._blocks[-1]) + 1 if len(deals) else 0, _NOBODY, dtype=np.int32)
        if self._price.datum is None and self._price.rules.others is OthersScore.BLOCK:
            rows, pairs = np.flatnonzero(deals.spoiled), []
            for seat in range(SEATS):
                own = rows[(deals.spoiled[rows] >> seat & 1).astype(bool)]
                pairs.append(self._blocks[own].astype(np.int64) * self._entrants + deals.entrants[own, seat])
            blocks, who = np.divmod(np.unique(np.concatenate(pairs)), self._entrants)
            spoilers[blocks] = who
            spoilers[blocks[1:][blocks[1:] == blocks[:-1]]] = _SEVERAL
        return spoilers

    def _counts(self, entrant: int, rows: Whole, spoils: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which deals are not left out because of somebody else."""
        others = self._price.rules.others
        if others is OthersScore.PLAYED:
            return np.ones(len(rows), dtype=bool)
        spoiler = self._spoilers[self._blocks[rows]]
        is_spared = (self._deals.spoiled[rows] != 0) | ((spoiler != _NOBODY) & (spoiler != entrant))
        counts: NDArray[np.bool_] = spoils | ~is_spared
        return counts

    def _amounts(
        self, seat: _Seat, played: Whole, made: Made | None, unit: int, is_there: NDArray[np.bool_]
    ) -> Amounts:
        """Points, or beans: a point is worth `unit` of them, and not in all deals are they there."""
        rules, scale = self._price.rules, self._price.scale
        own = played[seat.rows, seat.seats]
        largest = magnitude(own) if made is None else made.largest
        dearest = 1 + unit * (rules.penalty * (1 + magnitude(seat.faults)) + rules.forfeit) + 2 * largest
        width = width_for((1 + len(own)) * scale * (2 * largest + dearest))
        own = own.astype(width)
        won = own if made is None else made.compared(seat.rows, seat.seats, scale, width)
        paid: Whole = np.zeros(len(own), dtype=width)
        if rules.score is not FaultScore.PLAYED:
            at = np.flatnonzero((seat.spoils | (seat.faults != 0)) & is_there)
            paid[at] = paid_by(rules, seat.spoils[at], seat.faults[at].astype(width), -(-won[at] // scale), unit)
        counts = seat.counts & is_there
        return Amounts(
            won=np.where(counts, won, 0) - paid * scale,
            deals=counts.astype(np.int8),
            raw=int(own[counts].sum()) - int(paid.sum()),
            paid=int(paid.sum()),
        )
