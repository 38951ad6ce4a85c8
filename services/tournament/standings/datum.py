"""What a deal is compared with: the mean of the others who held the same hand. Pure.

In a *field* every table of a round plays the same deals, and the datum of a hand is the mean of what was made of it at
all the other tables; by *par* it is the mean of the control tables. One's own table is not in it: among two tables
it would halve every difference, among twenty hardly change any, and with a table missing it would be another
measure than with all.

The same hand is the same fifth of the same deck. Later deals of a match are dealt from other seats at other tables, so
a hand goes by its place after the dealer, and by the void shuffles before it, each of which is another deck.

A deal that somebody spoiled says nothing about its hands and is in no datum. Who has nobody to be compared with, yet or
because the other tables were spoiled, has not made anything of the hand that could be counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from math import lcm

import numpy as np
from numpy.typing import NDArray

from bots_sdk.rules.cards import SEATS
from services.tournament.standings.deals import DealColumns
from services.tournament.standings.widths import Whole, magnitude, width_for

PART = 20_000
"""Deals that are compared at once."""


class DatumKind(Enum):
    """With whom one is compared."""

    FIELD = auto()
    """The other tables of the round."""
    CONTROL = auto()
    """The control tables, whose players are no entrants."""


@dataclass(frozen=True, slots=True)
class Datum:
    """How deals are compared: with whom, and with how many tables at most."""

    kind: DatumKind
    tables: int

    @property
    def scale(self) -> int:
        """The least number that every number of tables divides: differences times it are whole numbers."""
        return lcm(*range(1, max(1, self.tables) + 1))


class Hands:
    """Which hand everybody held, and which tables are in the datum of it."""

    def __init__(self, datum: Datum, deals: DealColumns, blocks: NDArray[np.int32], entrants: int) -> None:
        """`entrants` are how many there are: who has a higher number is at a control table."""
        self._deals = deals
        self._decks: Whole = blocks
        if deals.voided.any():
            decks = blocks.astype(np.int64) * (int(deals.voided.max()) + 1) + deals.voided
            self._decks = np.unique(decks, return_inverse=True)[1].astype(np.int32)
        self.count = SEATS * (int(self._decks.max(initial=-1)) + 1)
        self.has_own = datum.kind is DatumKind.FIELD
        self.is_asked = deals.spoiled == 0
        if not self.has_own:
            self.is_asked &= deals.entrants[:, 0] >= entrants

    def of(self, rows: Whole, seats: Whole | int) -> NDArray[np.int64]:
        """The hands that were held in these deals in these seats, as numbers from 0 on."""
        decks = self._decks[rows].astype(np.int64)
        hands: NDArray[np.int64] = SEATS * decks + (seats - self._deals.dealer[rows]) % SEATS
        return hands


class Made:
    """What was made of each hand, points or beans, at the tables that are in its datum."""

    def __init__(self, hands: Hands, made: Whole, is_there: NDArray[np.bool_]) -> None:
        """`made` is by deal and seat; deals in which it is not there are in no datum."""
        self._hands = hands
        self._made = made
        self._is_in = hands.is_asked & is_there
        rows = np.flatnonzero(self._is_in)
        self.largest = magnitude(made)
        self._width = width_for(self.largest * len(rows))
        self._sums: Whole = np.zeros(hands.count, dtype=self._width)
        self._tables = np.zeros(hands.count, dtype=np.int32)
        for seat in range(SEATS):
            at = hands.of(rows, seat)
            np.add.at(self._sums, at, made[rows, seat].astype(self._width))
            self._tables += np.bincount(at, minlength=hands.count).astype(np.int32)

    def others(self, rows: Whole, seats: Whole | int) -> tuple[Whole, Whole]:
        """What all others made of these hands, and how many they are."""
        at = self._hands.of(rows, seats)
        sums, tables = self._sums[at], self._tables[at]
        if self._hands.has_own:
            is_in = self._is_in[rows]
            sums -= np.where(is_in, self._made[rows, seats].astype(self._width), 0)
            tables -= is_in
        return sums, tables

    def compared(self, rows: Whole, seats: Whole, scale: int, width: type) -> Whole:
        """What was made of hands less the mean of the others, `scale` times; 0 where there are no others."""
        sums, tables = self.others(rows, seats)
        shares = [0, *(scale // many for many in range(1, int(tables.max(initial=0)) + 1))]
        own: Whole = np.where(tables > 0, self._made[rows, seats], 0).astype(width) * scale
        compared: Whole = own - np.array(shares, dtype=width)[tables] * sums.astype(width)
        return compared

    def differences(self, rows: Whole) -> tuple[Whole, NDArray[np.float64]]:
        """Those of the deals of which every hand can be compared; and by seat what was made less the mean of others."""
        kept, found, count = np.empty_like(rows), np.empty((len(rows), SEATS)), 0
        for start in range(0, len(rows), PART):
            part = rows[start : start + PART, None]
            sums, tables = self.others(part, np.arange(SEATS))
            is_compared = (tables > 0).all(axis=1)
            # Whole numbers that are no rounded ones: so the quotient is rounded but once.
            made: Whole = self._made[part[is_compared], np.arange(SEATS)].astype(self._width)
            many = int(is_compared.sum())
            found[count : count + many] = (made * tables[is_compared] - sums[is_compared]) / tables[is_compared]
            kept[count : count + many] = part[is_compared, 0]
            count += many
        return kept[:count], found[:count]
