"""Which matches are there, by their numbers in the schedule: one bit each, as there may be millions. Pure."""

from __future__ import annotations


class MatchNumbers:
    """A growing set of whole numbers from 0 on. It takes as many bits as its greatest number."""

    __slots__ = ("_bits", "_count")

    def __init__(self) -> None:
        self._bits = bytearray()
        self._count = 0

    def __contains__(self, number: object) -> bool:
        if not isinstance(number, int) or not 0 <= number < 8 * len(self._bits):
            return False
        return bool(self._bits[number >> 3] >> (number & 7) & 1)

    def __len__(self) -> int:
        return self._count

    def add(self, number: int) -> None:
        """Puts in a number that is not there yet. Raises ValueError if it is, or is below 0."""
        if number < 0 or number in self:
            raise ValueError(f"{number} is below 0 or there already.")
        place = number >> 3
        if place >= len(self._bits):
            self._bits.extend(bytes(place + 1 - len(self._bits)))
        self._bits[place] |= 1 << (number & 7)
        self._count += 1
