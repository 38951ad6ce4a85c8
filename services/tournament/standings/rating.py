"""The least-squares rating: how good each bot is, with role, partner and opponents taken into account. Pure.

A deal is won and lost by sides. What a seat makes of it is taken as

    points = what is usual for its role + its share · (mean strength of its side - mean strength of the other side)

with the shares of the rules: emperor 2, guard 1, rebels 1, an emperor alone 4. So a bot's own strength, its partner's
and its opponents' are in one equation, with one number a bot and one a role, and whoever had strong partners has them
taken off. The rating is that strength in points per deal: what the bot would make of the usual mixture of roles among
average bots; the mean of all is 0.

The normal equations have as many rows as there are bots and roles. Deals are put into them in parts, so a million deals
of 500 bots take seconds, and no memory that grows with them but the columns of `deals.py`.

The interval is a bootstrap over deal blocks, never over single deals: blocks are drawn again, and each draw moves the
solution by the blocks' scores (the score bootstrap of Kline and Santos, 2012, which solves the equations once). Blocks
beyond `BAGS` share bags of whole blocks, which are drawn in their place: that bounds the memory, and a thousand bags
are as good as more. The spread of the draws is widened by Student's t and for the numbers fitted, as for few blocks
draws are too even.

Deals are in their own order, whatever that in which they came, so sums are the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bots_sdk.rules.cards import SEATS
from services.tournament.standings.roles import KINDS
from services.tournament.standings.student import t_quantile
from services.tournament.standings.widths import Whole

MIN_RATED_BLOCKS = 10
"""With fewer of an entrant there is no interval, as in the whole table."""
BAGS = 1_000
DRAWS = 2_000
PART = 20_000
"""Deals put into the equations at once."""
_UPPER = 0.975
_SEED = 5
"""The draws are the same for everybody and always: an interval is part of a table that can be computed again."""
_SHARES = np.array([2.0, 1.0, -1.0, 4.0, -1.0])
"""By kind: the share, negative on the side of the rebels."""
_WORTH = np.array([1.0, 0.5, 1 / 3, 4.0, 0.25])
"""By kind: what one more of strength is worth in points among average bots: share over the size of the side."""
_FADED = 1e-9
"""Directions of the equations with less than this of the strongest say nothing."""

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Rating:
    """A rating in points per deal, and its 95 % interval; no interval with too few blocks."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class RatedDeals:
    """The deals that ratings are made of, in the order of their blocks, as columns of numbers.

    `blocks` is by deal: the deal blocks as ascending numbers. By deal and seat: `seats` are the entrants, `kinds` as
    `kinds_of` has them, `points` what each made of it, against a datum if there is one.
    """

    blocks: Whole
    seats: Whole
    kinds: Whole
    points: Whole | _Floats

    def __len__(self) -> int:
        return len(self.blocks)

    def only(self, kept: NDArray[np.bool_]) -> RatedDeals:
        """Some of the deals."""
        if kept.all():
            return self
        return RatedDeals(self.blocks[kept], self.seats[kept], self.kinds[kept], self.points[kept])

    def parts(self) -> Iterator[RatedDeals]:
        """The same in parts that take little memory, as wide as sums of them need; blocks are numbered from 0 on."""
        last, number = None, -1
        for start in range(0, len(self), PART):
            part = slice(start, start + PART)
            blocks = self.blocks[part]
            new = np.ones(len(blocks), dtype=bool)
            new[1:] = blocks[1:] != blocks[:-1]
            new[0] = last is None or blocks[0] != last
            numbers = number + np.cumsum(new)
            last, number = blocks[-1], int(numbers[-1])
            yield RatedDeals(
                numbers,
                self.seats[part].astype(np.int64),
                self.kinds[part].astype(np.int64),
                self.points[part].astype(np.float64),
            )

    @property
    def bags(self) -> int:
        """Into how many bags the blocks go."""
        return min(1 + int(np.count_nonzero(self.blocks[1:] != self.blocks[:-1])), BAGS)

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


def rate(deals: RatedDeals, entrants: int) -> list[Rating | None]:
    """The ratings by entrant, None for those without a deal."""
    if not len(deals):
        return [None] * entrants
    size = KINDS + entrants
    normal, right = np.zeros((size, size)), np.zeros(size)
    for part in deals.parts():
        _add_equations(part, normal, right)
    inverse, rank = _pseudo_inverse(normal)
    solution = inverse @ right
    kinds = np.diag(normal)[:KINDS]
    worth = float(_WORTH @ kinds / kinds.sum())
    bags = deals.bags
    scores = np.zeros((bags, size))
    blocks = _Counted(entrants)
    for part in deals.parts():
        _add_scores(part, solution, scores)
        blocks.add(part)
    played = blocks.counts > 0
    centre = _centre(played)
    values = worth * (centre @ solution[KINDS:])

    drawn = np.random.default_rng(_SEED).multinomial(bags, np.full(bags, 1 / bags), size=DRAWS) - 1.0
    moved = worth * (drawn @ (scores @ inverse[:, KINDS:] @ centre.T))
    # As the residuals of least squares are too small by the numbers fitted, blocks have been seen to fit too well.
    freedom = bags - rank
    errors = np.sqrt(bags / max(1, freedom) * (moved**2).mean(axis=0))
    return [
        _rating(float(value), float(error), int(count), freedom) if is_in else None
        for value, error, count, is_in in zip(values, errors, blocks.counts, played, strict=True)
    ]


def _rating(value: float, error: float, blocks: int, freedom: int) -> Rating:
    if blocks < MIN_RATED_BLOCKS or freedom < MIN_RATED_BLOCKS - 1:
        return Rating(value, None, None)
    margin = t_quantile(_UPPER, min(blocks - 1, freedom)) * error
    return Rating(value, value - margin, value + margin)


def _add_equations(part: RatedDeals, normal: _Floats, right: _Floats) -> None:
    """Adds deals to the normal equations; unknowns are what is usual for each kind, then the strengths."""
    size = len(right)
    shares, sides, own = part.shares, part.sides, KINDS + part.seats
    weight = (shares**2).sum(axis=1)
    # One after another: each is 25 numbers a deal, and they never meet in a place.
    products = weight[:, None, None] * sides[:, :, None] * sides[:, None, :]
    normal += _sums(own[:, :, None] * size + own[:, None, :], products, size)
    del products
    mixed = _sums(part.kinds[:, :, None] * size + own[:, None, :], shares[:, :, None] * sides[:, None, :], size)
    normal += mixed + mixed.T
    normal += _sums(part.kinds * (size + 1), np.ones(part.kinds.shape), size)
    _add_right(part, right)


def _sums(places: NDArray[np.int64], numbers: _Floats, size: int) -> _Floats:
    """A square of so many rows, with the sums of the numbers that go in each place, counted row by row."""
    sums: _Floats = np.bincount(places.ravel(), numbers.ravel(), minlength=size * size).astype(np.float64, copy=False)
    return sums.reshape(size, size)


def _add_right(part: RatedDeals, right: _Floats) -> None:
    size = len(right)
    won = (part.shares * part.points).sum(axis=1, keepdims=True) * part.sides
    right += np.bincount(part.kinds.ravel(), part.points.ravel(), minlength=size)
    right += np.bincount(KINDS + part.seats.ravel(), won.ravel(), minlength=size)


def _add_scores(part: RatedDeals, solution: _Floats, scores: _Floats) -> None:
    """What each bag of blocks would move the equations by: its part of the right side that is not explained."""
    bags, size = scores.shape
    difference = (part.sides * solution[KINDS + part.seats]).sum(axis=1, keepdims=True)
    left = part.points - solution[part.kinds] - part.shares * difference
    won = (part.shares * left).sum(axis=1, keepdims=True) * part.sides
    bag = (part.blocks % bags)[:, None] * size
    at = np.concatenate([(bag + part.kinds).ravel(), (bag + KINDS + part.seats).ravel()])
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


class _Counted:
    """In how many blocks each entrant has played: takes in parts one after another."""

    def __init__(self, entrants: int) -> None:
        self.counts = np.zeros(entrants, dtype=np.int64)
        # Of the last block, as it may go on in the next part: block times entrants, plus entrant.
        self._open = np.zeros(0, dtype=np.int64)

    def add(self, part: RatedDeals) -> None:
        entrants = len(self.counts)
        ids = np.setdiff1d(part.blocks[:, None] * entrants + part.seats, self._open)
        self.counts += np.bincount(ids % entrants, minlength=entrants)
        still = np.concatenate([self._open, ids])
        self._open = still[still // entrants == part.blocks[-1]]
