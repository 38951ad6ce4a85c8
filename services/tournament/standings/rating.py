"""The least-squares rating: how good each bot is, with role, partner and opponents taken into account. Pure.

A deal is won and lost by sides. What a seat makes of it is taken as

    points = what is usual for its role + its share · (mean strength of its side - mean strength of the other side)

with the shares of the rules: emperor 2, guard 1, rebels 1, an emperor alone 4. So a bot's own strength, its partner's
and its opponents' are in one equation, with one number a bot and one a role, and whoever had strong partners has them
taken off. The rating is that strength in points per deal: what the bot would make of the usual mixture of roles among
average bots; the mean of all is 0.

The normal equations have as many rows as there are bots and roles. Deals are kept as a few numbers each and put into
them in parts, so a million deals of 500 bots take seconds, and tens of bytes a deal.

The interval is a bootstrap over deal blocks, never over single deals: blocks are drawn again, and each draw moves the
solution by the blocks' scores (the score bootstrap of Kline and Santos, 2012, which solves the equations once). Blocks
beyond `BAGS` share bags of whole blocks, which are drawn in their place: that bounds the memory, and a thousand bags
are as good as more. The spread of the draws is widened by Student's t and for the numbers fitted, as for few blocks
draws are too even.

Whatever the order in which deals came, they are put into their own before anything is summed.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bots_sdk.rules.cards import SEATS
from services.common.matches import DealScore
from services.tournament.standings.roles import Role, role_of
from services.tournament.standings.student import t_quantile

MIN_RATED_BLOCKS = 10
"""With fewer of an entrant there is no interval, as in the whole table."""
BAGS = 1_000
DRAWS = 2_000
PART = 20_000
"""Deals put into the equations at once."""
_UPPER = 0.975
_SEED = 5
"""The draws are the same for everybody and always: an interval is part of a table that can be computed again."""
_AGAINST_SOLO = len(Role)
"""A rebel against an emperor alone: it has another usual result than one against two."""
_KINDS = len(Role) + 1
_SHARES = np.array([2.0, 1.0, -1.0, 4.0, -1.0])
"""By kind: the share, negative on the side of the rebels."""
_WORTH = np.array([1.0, 0.5, 1 / 3, 4.0, 0.25])
"""By kind: what one more of strength is worth in points among average bots: share over the size of the side."""
_FADED = 1e-9
"""Directions of the equations with less than this of the strongest say nothing."""

_Block = tuple[int, int]
_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Rating:
    """A rating in points per deal, and its 95 % interval; no interval with too few blocks."""

    value: float
    low: float | None
    high: float | None


class RatedDeals:
    """The deals that ratings are made of, in any order, as columns of numbers."""

    def __init__(self, entrants: int) -> None:
        self._entrants = entrants
        self._groups = array("q")
        self._deals = array("q")
        self._places = array("q")
        self._seats = array("h")
        self._kinds = array("b")
        self._points = array("d")

    def __len__(self) -> int:
        return len(self._places)

    def add(self, block: _Block, place: int, entrants: Sequence[int], deal: DealScore, points: Sequence[float]) -> None:
        """Takes in a deal that ended; one that was void for good says nothing about anybody.

        Args:
            block: the deal block.
            place: tells the tables of a block apart.
            entrants: indices, by seat.
            deal: how it ended.
            points: what each seat made of it, against a datum if there is one.
        """
        if deal.emperor is None:
            return
        self._groups.append(block[0])
        self._deals.append(block[1])
        self._places.append(place)
        self._seats.extend(entrants)
        self._kinds.extend(_kind(deal, seat) for seat in range(SEATS))
        self._points.extend(points)

    def ratings(self, without: Collection[_Block] = ()) -> list[Rating | None]:
        """The ratings by entrant, None for those without a deal; `without` are blocks that are left out."""
        return _solve(_Columns.of(self, without), self._entrants)

    def columns(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], _Floats]:
        """Keys (group, deal, place), entrants by seat, kinds by seat, points by seat: copies, in the deals' order."""
        keys = np.array([self._groups, self._deals, self._places], dtype=np.int64)
        order = np.lexsort(keys[::-1])
        seats, kinds = (np.array(one, dtype=np.int64).reshape(-1, SEATS) for one in (self._seats, self._kinds))
        points = np.array(self._points, dtype=np.float64).reshape(-1, SEATS)
        return keys[:, order], seats[order], kinds[order], points[order]


@dataclass(frozen=True, slots=True)
class _Columns:
    """Deals in their order; `blocks` numbers the deal blocks from 0 on."""

    blocks: NDArray[np.int64]
    seats: NDArray[np.int64]
    kinds: NDArray[np.int64]
    points: _Floats

    @classmethod
    def of(cls, deals: RatedDeals, without: Collection[_Block]) -> _Columns:
        keys, seats, kinds, points = deals.columns()
        if without:
            kept = np.array([block not in without for block in zip(*keys[:2].tolist(), strict=True)], dtype=bool)
            keys, seats, kinds, points = keys[:, kept], seats[kept], kinds[kept], points[kept]
        new = np.ones(len(seats), dtype=bool)
        new[1:] = (keys[:2, 1:] != keys[:2, :-1]).any(axis=0)
        return cls(np.cumsum(new) - 1, seats, kinds, points)

    def parts(self) -> Iterator[_Columns]:
        """The same in parts that fit in little memory."""
        for start in range(0, len(self.seats), PART):
            part = slice(start, start + PART)
            yield _Columns(self.blocks[part], self.seats[part], self.kinds[part], self.points[part])

    @property
    def shares(self) -> _Floats:
        """Signed shares by seat."""
        return _SHARES[self.kinds]

    @property
    def sides(self) -> _Floats:
        """By seat: what one more of its strength does to the difference of the two sides."""
        above = self.shares > 0
        many = above.sum(axis=1, keepdims=True)
        sides: _Floats = np.where(above, 1 / many, -1 / (SEATS - many))
        return sides


def _kind(deal: DealScore, seat: int) -> int:
    role = role_of(deal, seat)
    assert role is not None
    return _AGAINST_SOLO if role is Role.REBEL and deal.solo is not None else int(role)


def _solve(columns: _Columns, entrants: int) -> list[Rating | None]:
    if not len(columns.seats):
        return [None] * entrants
    size = _KINDS + entrants
    normal, right = np.zeros((size, size)), np.zeros(size)
    for part in columns.parts():
        _add_equations(part, normal, right)
    inverse, rank = _pseudo_inverse(normal)
    solution = inverse @ right
    kinds = np.diag(normal)[:_KINDS]
    worth = float(_WORTH @ kinds / kinds.sum())
    played = np.bincount(columns.seats.ravel(), minlength=entrants) > 0
    centre = _centre(played)
    values = worth * (centre @ solution[_KINDS:])

    bags = min(int(columns.blocks[-1]) + 1, BAGS)
    scores = np.zeros((bags, size))
    for part in columns.parts():
        _add_scores(part, solution, scores)
    drawn = np.random.default_rng(_SEED).multinomial(bags, np.full(bags, 1 / bags), size=DRAWS) - 1.0
    moved = worth * (drawn @ (scores @ inverse[:, _KINDS:] @ centre.T))
    blocks = _blocks_of(columns, entrants)
    # As the residuals of least squares are too small by the numbers fitted, blocks have been seen to fit too well.
    freedom = bags - rank
    errors = np.sqrt(bags / max(1, freedom) * (moved**2).mean(axis=0))
    return [
        _rating(float(value), float(error), int(count), freedom) if is_in else None
        for value, error, count, is_in in zip(values, errors, blocks, played, strict=True)
    ]


def _rating(value: float, error: float, blocks: int, freedom: int) -> Rating:
    if blocks < MIN_RATED_BLOCKS or freedom < MIN_RATED_BLOCKS - 1:
        return Rating(value, None, None)
    margin = t_quantile(_UPPER, min(blocks - 1, freedom)) * error
    return Rating(value, value - margin, value + margin)


def _add_equations(part: _Columns, normal: _Floats, right: _Floats) -> None:
    """Adds deals to the normal equations; unknowns are what is usual for each kind, then the strengths."""
    size = len(right)
    shares, sides, own = part.shares, part.sides, _KINDS + part.seats
    weight = (shares**2).sum(axis=1)
    pairs = own[:, :, None] * size + own[:, None, :]
    products = weight[:, None, None] * sides[:, :, None] * sides[:, None, :]
    crossed = part.kinds[:, :, None] * size + own[:, None, :]
    mixed = shares[:, :, None] * sides[:, None, :]
    flat = np.bincount(
        np.concatenate([pairs.ravel(), crossed.ravel(), (part.kinds * (size + 1)).ravel()]),
        np.concatenate([products.ravel(), mixed.ravel(), np.ones(part.kinds.size)]),
        minlength=size * size,
    ).reshape(size, size)
    flat[_KINDS:, :_KINDS] = flat[:_KINDS, _KINDS:].T
    normal += flat
    _add_right(part, part.points, right)


def _add_right(part: _Columns, points: _Floats, right: _Floats) -> None:
    size = len(right)
    won = (part.shares * points).sum(axis=1, keepdims=True) * part.sides
    right += np.bincount(part.kinds.ravel(), points.ravel(), minlength=size)
    right += np.bincount(_KINDS + part.seats.ravel(), won.ravel(), minlength=size)


def _add_scores(part: _Columns, solution: _Floats, scores: _Floats) -> None:
    """What each bag of blocks would move the equations by: its part of the right side that is not explained."""
    bags, size = scores.shape
    difference = (part.sides * solution[_KINDS + part.seats]).sum(axis=1, keepdims=True)
    left = part.points - solution[part.kinds] - part.shares * difference
    won = (part.shares * left).sum(axis=1, keepdims=True) * part.sides
    bag = (part.blocks % bags)[:, None] * size
    at = np.concatenate([(bag + part.kinds).ravel(), (bag + _KINDS + part.seats).ravel()])
    moved = np.bincount(at, np.concatenate([left.ravel(), won.ravel()]), minlength=bags * size)
    scores += moved.reshape(bags, size)


def _pseudo_inverse(normal: _Floats) -> tuple[_Floats, int]:
    """The inverse, and how many directions it has: all strengths together are none, and so is what was not played."""
    values, vectors = np.linalg.eigh(normal)
    kept = values > _FADED * values[-1]
    inverse: _Floats = (vectors[:, kept] / values[kept]) @ vectors[:, kept].T
    return inverse, int(kept.sum())


def _centre(played: NDArray[np.bool_]) -> _Floats:
    """What takes the mean of those who have played off everybody."""
    centre: _Floats = np.eye(len(played)) - played / played.sum()
    return centre


def _blocks_of(columns: _Columns, entrants: int) -> NDArray[np.int64]:
    """In how many blocks each entrant has played."""
    ids = np.unique(columns.blocks[:, None] * entrants + columns.seats)
    return np.bincount(ids % entrants, minlength=entrants)
