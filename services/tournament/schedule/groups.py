"""Finite abelian groups on the numbers 0 to n - 1: what a block design is developed in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SEATS = 5
_MODULI = {25: (5, 5), 45: (3, 3, 5)}
"""Where every two can meet once by development, but not in the cyclic group (the affine plane of order 5, for one)."""


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """`plus[a, b]` is a + b; `kind[a, b]` numbers the differences ±(a - b) from 1 on, 0 where a = b.

    `pairs[k]` is how many pairs differ by kind k; `each[k]` how often such a pair meets when one difference of the
    kind is developed (once; twice where a - b = b - a). `subgroup` has five elements, or none if n is no multiple of
    five.
    """

    order: int
    moduli: tuple[int, ...]
    plus: NDArray[np.int64]
    minus: NDArray[np.int64]
    kind: NDArray[np.int64]
    pairs: NDArray[np.int64]
    each: NDArray[np.int64]
    subgroup: tuple[int, ...]

    def multiplied(self, elements: NDArray[np.int64], unit: int) -> NDArray[np.int64]:
        """Each element `unit` times added to itself; with a unit prime to the order this takes designs to designs."""
        digits = np.unravel_index(elements, self.moduli)
        scaled = tuple(digit * unit % modulus for digit, modulus in zip(digits, self.moduli, strict=True))
        return np.asarray(np.ravel_multi_index(scaled, self.moduli))

    def cosets(self) -> NDArray[np.int64]:
        """The sets a + subgroup, each once, shape (order / 5, 5); none without a subgroup of five."""
        if not self.subgroup:
            return np.empty((0, SEATS), dtype=np.int64)
        return np.unique(np.sort(self.plus[:, list(self.subgroup)], axis=1), axis=0)


def make_group(order: int) -> Group:
    """The group in which a schedule for so many entrants is developed."""
    moduli = _MODULI.get(order, (order,))
    digits = np.stack(np.unravel_index(np.arange(order), moduli), axis=1)
    sizes = np.array(moduli)
    plus = np.ravel_multi_index(tuple(np.moveaxis((digits[:, None] + digits[None]) % sizes, 2, 0)), moduli)
    minus = np.ravel_multi_index(tuple(np.moveaxis((digits[:, None] - digits[None]) % sizes, 2, 0)), moduli)
    inverse = minus[0]
    least = np.minimum(np.arange(order), inverse)
    _, numbered = np.unique(least, return_inverse=True)  # 0 is its own inverse and stays kind 0
    twice = inverse == np.arange(order)
    each = np.ones(int(numbered.max()) + 1, dtype=np.int64)
    each[numbered[twice]] = 2
    subgroup = tuple(range(0, order, order // SEATS)) if order % SEATS == 0 and len(moduli) == 1 else ()
    if len(moduli) > 1:
        subgroup = tuple(range(SEATS))  # the last modulus is 5
    return Group(order, moduli, plus, minus, numbered[minus], order // each, each, subgroup)
