"""Base blocks under whose development every two entrants meet exactly once.

For 25, 45, 65 and 85 the cosets of the subgroup of five come on top. 21, 41, 61, 81: difference families (Colbourn,
Dinitz, Handbook of Combinatorial Designs, II.3 and VI.16). 25: the affine plane, from the points (x, x²). 85: the
lines of the projective space PG(3, 4) under a Singer cycle. 45, 65, 101: found by computer. A test recounts them all.
"""

from __future__ import annotations

from typing import Final

DESIGNS: Final[dict[int, tuple[tuple[int, int, int, int, int], ...]]] = {
    21: ((0, 1, 4, 14, 16),),
    25: ((0, 6, 14, 19, 21),),
    41: ((0, 1, 4, 11, 29), (0, 2, 8, 17, 22)),
    45: ((11, 35, 27, 42, 15), (26, 17, 0, 22, 35)),
    61: ((0, 1, 3, 13, 34), (0, 4, 9, 23, 45), (0, 6, 17, 24, 32)),
    65: ((0, 1, 3, 31, 45), (0, 4, 10, 19, 57), (0, 5, 16, 41, 48)),
    81: ((0, 1, 5, 12, 26), (0, 2, 10, 40, 64), (0, 3, 18, 47, 53), (0, 9, 32, 48, 68)),
    85: ((0, 1, 25, 41, 72), (0, 2, 50, 59, 82), (0, 4, 15, 33, 79), (0, 7, 19, 27, 49)),
    101: ((0, 1, 3, 25, 40), (0, 6, 18, 49, 38), (0, 36, 7, 92, 26), (0, 14, 42, 47, 55), (0, 84, 50, 80, 27)),
}
