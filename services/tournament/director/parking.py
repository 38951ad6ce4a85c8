"""Where matches wait that cannot start now: by whoever keeps each from starting, in one byte a match. Pure."""

from __future__ import annotations

import heapq
from collections.abc import Hashable

_OWN, _SHARED = 4, 255
"""The first code of a blocker, and the one for all that come when the others are taken; below are the caller's."""


class Parking:
    """Parked numbers by their blocker. `places` holds a byte for each number, its code while it is parked here.

    A blocker that is awake may have become free: what is parked under it is to be looked at again, lowest numbers first
    over all that are awake. Apart from the bytes memory holds a few numbers for each blocker, however many are parked.
    """

    def __init__(self, places: bytearray) -> None:
        self._places = places
        self._codes: dict[Hashable, int] = {}
        self._blockers: dict[int, Hashable] = {}
        self._unused = list(range(_SHARED - 1, _OWN - 1, -1))
        self._counts = [0] * (_SHARED + 1)
        self._parked = 0
        # All with this code are from here to there.
        self._first = [0] * (_SHARED + 1)
        self._last = [0] * (_SHARED + 1)
        # From where on each that is awake is to be looked at, and which of its entries holds.
        self._awake: list[tuple[int, int, int]] = []
        self._entries = [0] * (_SHARED + 1)

    def __len__(self) -> int:
        return self._parked

    def but_longest(self, blockers: int) -> int:
        """How many are parked, without those under so many blockers that have most."""
        return self._parked - sum(heapq.nlargest(blockers, self._counts))

    def park(self, number: int, blocker: Hashable, *, sleeps: bool) -> None:
        """It waits for the blocker now. `sleeps`: so does all else that waits for it."""
        self._leave(number)
        if sleeps:
            self.sleep(blocker)
        code = self._code_of(blocker)
        if not self._counts[code]:
            self._first[code] = self._last[code] = number
        self._first[code] = min(self._first[code], number)
        self._last[code] = max(self._last[code], number)
        self._counts[code] += 1
        self._parked += 1
        self._places[number] = code

    def take(self, number: int, place: int) -> None:
        """It waits no more, if it did; `place` below 4 is what its byte says instead."""
        self._leave(number)
        self._places[number] = place

    def wake(self, blocker: Hashable) -> None:
        """What waits for it may start now."""
        self._rouse(self._codes.get(blocker, _SHARED))

    def wake_all(self) -> None:
        """Everything may have changed."""
        for code in range(_OWN, _SHARED + 1):
            self._rouse(code)

    def sleep(self, blocker: Hashable) -> None:
        """What waits for it need not be looked at."""
        if (code := self._codes.get(blocker)) is not None:
            self._entries[code] += 1

    def next_awake(self) -> int | None:
        """The lowest number that is to be looked at again; it is told once for each time that its blocker wakes."""
        awake = self._awake
        while awake:
            start, code, entry = heapq.heappop(awake)
            if entry != self._entries[code] or not self._counts[code]:
                continue
            number = self._places.find(code, start, self._last[code] + 1)
            if number < 0:
                continue
            if awake and awake[0][0] < number:
                heapq.heappush(awake, (number, code, entry))
                continue
            heapq.heappush(awake, (number + 1, code, entry))
            return number
        return None

    def _rouse(self, code: int) -> None:
        if not self._counts[code]:
            return
        self._first[code] = self._places.find(code, self._first[code], self._last[code] + 1)
        self._entries[code] += 1
        if len(self._awake) > 2 * _SHARED:
            self._awake = [one for one in self._awake if one[2] == self._entries[one[1]]]
            heapq.heapify(self._awake)
        heapq.heappush(self._awake, (self._first[code], code, self._entries[code]))

    def _code_of(self, blocker: Hashable) -> int:
        code = self._codes.get(blocker)
        if code is None:
            if not self._unused:
                return _SHARED
            code = self._codes[blocker] = self._unused.pop()
            self._blockers[code] = blocker
        return code

    def _leave(self, number: int) -> None:
        code = self._places[number]
        if code < _OWN:
            return
        self._counts[code] -= 1
        self._parked -= 1
        if not self._counts[code] and code != _SHARED:
            del self._codes[self._blockers.pop(code)]
            self._entries[code] += 1
            self._unused.append(code)
