"""Numbers that look drawn but follow from a key: hashes and permutations, at any place without what comes before.

They spread and balance; they hide nothing (see `sealed.py` for what is hidden).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

_STEP = 0x9E3779B97F4A7C15
_MASK = 0xFFFFFFFFFFFFFFFF
_ROUNDS = 4


def mixed(words: Words, key: int) -> Words:
    """Each word hashed with the key: the finalizer of SplitMix64 (Steele, Lea, Flood 2014)."""
    z = words + np.uint64((key * _STEP + _STEP) & _MASK)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def subkey(key: int, *path: int) -> int:
    """A key of its own for each path."""
    for step in path:
        word = np.array([key ^ step], dtype=np.uint64)
        key = int(mixed(word, step)[0])
    return key


def permuted(places: Words, size: int, key: int) -> Words:
    """Where a permutation of 0 to `size` - 1 sends these places.

    A Feistel network on the next even number of bits; what falls outside goes round again (Black, Rogaway 2002).
    """
    half = np.uint64(max(1, ((size - 1).bit_length() + 1) // 2))
    low = np.uint64((1 << int(half)) - 1)
    keys = [subkey(key, turn) for turn in range(_ROUNDS)]
    out = _feistel(places, half, low, keys)
    outside = np.flatnonzero(out >= np.uint64(size))
    while outside.size:
        out[outside] = _feistel(out[outside], half, low, keys)
        outside = outside[out[outside] >= np.uint64(size)]
    return out


def _feistel(words: Words, half: np.uint64, low: np.uint64, keys: list[int]) -> Words:
    left, right = words >> half, words & low
    for key in keys:
        left, right = right, left ^ (mixed(right, key) & low)
    return (left << half) | right
