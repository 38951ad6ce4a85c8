"""Columns of whole numbers, as narrow as they go to be kept and as wide as they must be to be added up. Pure."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[Any]
"""Whole numbers of any width, or Python's own where they may be beyond 64 bits."""

_WIDTHS = (np.int8, np.int16, np.int32, np.int64)
_LARGEST = 2**62


def narrow(column: Whole) -> Whole:
    """The same numbers as narrow as they go; a single number where they are all the same."""
    if not column.size:
        return column.astype(np.int8)
    low, high = column.min(), column.max()
    width = next(width for width in _WIDTHS if np.iinfo(width).min <= low and high <= np.iinfo(width).max)
    if low == high:
        return np.broadcast_to(width(low), column.shape)
    return column.astype(width)


def magnitude(numbers: Whole) -> int:
    """The greatest of the numbers without their signs; 0 if there are none."""
    return max(int(numbers.max(initial=0)), -int(numbers.min(initial=0)))


def width_for(largest: int) -> type:
    """What holds whole numbers up to this: 64 bits, or Python's own numbers."""
    return np.int64 if largest < _LARGEST else object
