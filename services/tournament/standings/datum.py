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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import islice
from math import lcm

from bots_sdk.rules.cards import SEATS
from services.common.matches import DealScore, FaultRules
from services.tournament.standings.paying import NOTHING, Paid, paid_by
from services.tournament.standings.roles import Role, role_of
from services.tournament.standings.values import PlayedMatch

Hand = tuple[int, int]
"""Void shuffles before the deal, and seats after the dealer."""


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


@dataclass(frozen=True, slots=True)
class Compared:
    """One entrant in one deal: points and beans against the datum, each `scale` times, and what was paid of it.

    `deals` is 1, or 0 for a deal that does not count because there was nothing to compare it with. `raw` are the points
    as they were played, `beans` is None without beans. `role` is None in a void deal. `spared`: somebody else
    spoiled the deal.
    """

    entrant: int
    deals: int
    points: int
    raw: int
    beans: int | None
    raw_beans: int
    paid: Paid
    spoils: bool
    spared: bool
    role: Role | None


@dataclass(frozen=True, slots=True)
class _Held:
    """One deal at one table."""

    entrants: tuple[int, ...]
    deal: DealScore
    dealer: int

    def hand(self, seat: int) -> Hand:
        return self.deal.voided, (seat - self.dealer) % SEATS


class DatumBlock:
    """The same deal at several tables: what everybody made of it."""

    __slots__ = ("_tables",)

    def __init__(self) -> None:
        self._tables: list[_Held] = []

    def add(self, entrants: tuple[int, ...], deal: DealScore, dealer: int) -> None:
        """Takes in one table."""
        self._tables.append(_Held(entrants, deal, dealer))

    def compared(self, datum: Datum, entrants: int, rules: FaultRules, unit: int) -> Iterator[Compared]:
        """Everybody but the control tables against the datum. Whoever spoils a deal pays of what it made against it.

        Args:
            datum: with whom.
            entrants: how many there are; who has a higher number is at a control table.
            rules: what faults cost.
            unit: the beans of a point.
        """
        kind, scale = datum.kind, datum.scale
        sums: dict[Hand, list[int]] = {}
        for table in self._tables:
            if not table.deal.spoiled and (kind is DatumKind.FIELD or table.entrants[0] >= entrants):
                for seat in range(SEATS):
                    held = sums.setdefault(table.hand(seat), [0, 0, 0, 0])
                    _count(held, table.deal, seat, 1)
        for table in self._tables:
            if table.entrants[0] >= entrants:
                continue
            for seat, entrant in enumerate(table.entrants):
                others = list(sums.get(table.hand(seat), (0, 0, 0, 0)))
                if kind is DatumKind.FIELD and not table.deal.spoiled:
                    _count(others, table.deal, seat, -1)
                yield _compare(table.deal, seat, entrant, others, scale, rules, unit)

    def compared_tables(
        self, datum: Datum, entrants: int, rules: FaultRules, unit: int
    ) -> Iterator[tuple[DealScore, list[Compared]]]:
        """The same by table: how the deal ended there, and who sat there, by seat."""
        everybody = self.compared(datum, entrants, rules, unit)
        for table in self._tables:
            if table.entrants[0] < entrants:
                yield table.deal, list(islice(everybody, SEATS))


def _count(sums: list[int], deal: DealScore, seat: int, sign: int) -> None:
    sums[0] += sign * deal.points[seat]
    sums[1] += sign
    if deal.beans is not None:
        sums[2] += sign * deal.beans[seat]
        sums[3] += sign


def _compare(  # noqa: PLR0913 - one step of the loop above
    deal: DealScore, seat: int, entrant: int, others: Sequence[int], scale: int, rules: FaultRules, unit: int
) -> Compared:
    points, tables, beans, with_beans = others
    won = scale * deal.points[seat] - scale // tables * points if tables else 0
    won_beans = None
    if deal.beans is not None:
        won_beans = scale * deal.beans[seat] - scale // with_beans * beans if with_beans else 0
    spoils = seat in deal.spoiled
    paid = NOTHING
    if spoils or deal.faults[seat]:
        paid = paid_by(seat, deal, rules, unit, against=(-(-won // scale), -(-(won_beans or 0) // scale)))
    return Compared(
        entrant=entrant,
        deals=int(tables > 0),
        points=won,
        raw=deal.points[seat],
        beans=won_beans,
        raw_beans=deal.beans[seat] if deal.beans is not None else 0,
        paid=paid,
        spoils=spoils,
        spared=bool(deal.spoiled) and not spoils,
        role=role_of(deal, seat),
    )


def dealers(match: PlayedMatch) -> list[int]:
    """The seat each deal was dealt from: the first seat, then whoever was emperor (rules 3.1, 3.4)."""
    found, dealer = [], 0
    for deal in match.deals:
        found.append(dealer)
        dealer = dealer if deal.emperor is None else deal.emperor
    return found
