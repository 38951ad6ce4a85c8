"""One round after another: everybody sits down once, who is left over rests, and all meet each other evenly.

Where there is a design it is taken, otherwise each round is made best on what was played before: filled greedily, then
players are exchanged between tables as long as that helps.
"""

from __future__ import annotations

from collections import deque
from random import Random

import numpy as np
from numpy.typing import NDArray

from services.tournament.schedule.mixing import subkey

Tables = NDArray[np.int64]
"""Shape (tables, players at a table)."""

WORK = 30_000
"""Players times rounds that are searched for at most; what is longer begins anew under other numbers."""
_SWEEPS = 6
_NEVER = 1 << 40


class Rota:
    """Makes rounds of tables of `size` for `players`, of whom `players % size` rest in each.

    Rounds come in `kinds` (the challenger of a gauntlet, say): rests are shared out evenly over all rounds first, then
    over those of each kind.
    """

    def __init__(self, players: int, size: int, draw: Random, kinds: int = 1) -> None:
        self._players = players
        self._size = size
        self._draw = draw
        self.met = np.zeros((players, players), dtype=np.int64)
        self._rests = np.zeros((kinds, players), dtype=np.int64)
        self._known: deque[Tables] = deque()

    def next_round(self, kind: int = 0) -> Tables:
        """The next round."""
        if self._size == 5 and not self._known and self._is_even():
            self._known.extend(self._relabelled(resolvable_rounds(self._players)))
        tables = self._known.popleft() if self._known else self._searched(kind)
        for place in range(self._size):
            others = np.delete(tables, place, axis=1)
            self.met[tables[:, place, None], others] += 1
        return tables

    def _is_even(self) -> bool:
        apart = self.met[~np.eye(self._players, dtype=bool)]
        return bool(apart.min() == apart.max())

    def _relabelled(self, rounds: list[Tables]) -> list[Tables]:
        labels = np.array(self._draw.sample(range(self._players), self._players), dtype=np.int64)
        return [labels[one] for one in rounds]

    def _searched(self, kind: int) -> Tables:
        tables = self._filled(self._playing(kind))
        tables.sort(axis=1)
        return self._improved(tables)

    def _playing(self, kind: int) -> NDArray[np.int64]:
        resting = self._players % self._size
        lot = np.array(self._draw.sample(range(self._players), self._players))
        if not resting:
            return lot
        order = np.lexsort((lot, self._rests[kind], self._rests.sum(axis=0)))
        self._rests[kind, order[:resting]] += 1
        return np.array(self._draw.sample(order[resting:].tolist(), self._players - resting))

    def _filled(self, playing: NDArray[np.int64]) -> Tables:
        """Each table with who has met those at it least."""
        free = np.zeros(self._players, dtype=bool)
        free[playing] = True
        tables = np.empty((len(playing) // self._size, self._size), dtype=np.int64)
        rank = np.empty(self._players, dtype=np.int64)
        rank[playing] = np.arange(len(playing))  # ties go by lot
        for table in tables:
            cost = np.zeros(self._players, dtype=np.int64)
            for place in range(self._size):
                choices = np.where(free, cost * self._players + rank if place else rank, _NEVER)
                table[place] = int(choices.argmin())
                free[table[place]] = False
                cost = cost + self.met[table[place]]
        return tables

    def _improved(self, tables: Tables) -> Tables:
        """Exchanges, each the best for one player, until a whole sweep over all players brings nothing."""
        met = self.met
        place_of = np.full((self._players, 2), -1, dtype=np.int64)
        for table, members in enumerate(tables):
            for place, player in enumerate(members):
                place_of[player] = table, place
        playing = np.sort(tables.ravel())
        # How often each has met those at each table, shape (players, tables).
        sums = met[:, tables].sum(axis=2)
        for _ in range(_SWEEPS):
            changed = False
            for player in self._draw.sample(playing.tolist(), len(playing)):
                at = int(place_of[player, 0])
                if not sums[player, at]:
                    continue  # has met nobody there: nothing could be better
                theirs = place_of[playing, 0]
                gain = (
                    sums[player, theirs] + sums[playing, at] - 2 * met[player, playing]
                    - sums[player, at] - sums[playing, theirs]
                )  # fmt: skip
                gain[theirs == at] = 0
                best = int(gain.argmin())
                if gain[best] >= 0:
                    continue
                other, there = int(playing[best]), int(theirs[best])
                tables[at, place_of[player, 1]], tables[there, place_of[other, 1]] = other, player
                place_of[[player, other]] = place_of[[other, player]]
                sums[:, at] += met[:, other] - met[:, player]
                sums[:, there] += met[:, player] - met[:, other]
                changed = True
            if not changed:
                break
        return tables


def resolvable_rounds(players: int) -> list[Tables]:
    """Rounds for 5q players, q prime to 6, in which nobody meets anybody twice; none for other numbers.

    Five groups of q, table b of round m is the players m·g + b (mod q) of the groups g: every two of different groups
    meet exactly once, since no two groups are apart by anything but 1 to 4, which is prime to q. Where the groups can
    play among themselves, the same follows for them: 25 players in 6 rounds, 125 in 31, every two of them once.
    """
    if players == 5:
        return [np.arange(5, dtype=np.int64)[None]]
    size, rest = divmod(players, 5)
    if rest or int(np.gcd(size, 6)) != 1 or size == 1:
        return []
    group, number = np.arange(5), np.arange(size)
    rounds = [group * size + (slope * group + number[:, None]) % size for slope in range(size)]
    for inner in resolvable_rounds(size):
        rounds.append(np.concatenate([inner + one * size for one in group]))
    return rounds


class Cycles:
    """Goes on where a search has ended: with the same rounds, the players under other numbers each time.

    Whoever has rested more often so far gets a number that rests less. `rounds` are played in all; `cycle` are the
    tables that were found, shape (tables, players at a table), `tables` of them a round. Only how the numbers go is
    remembered, for each time anew: far less than the schedule.
    """

    def __init__(self, players: int, rounds: int, cycle: Tables, tables: int, key: int) -> None:
        self._players = players
        self._key = key
        self._rounds = rounds
        self._length = len(cycle) // tables
        self._rests = self._length - np.bincount(cycle.ravel(), minlength=players)
        last = rounds % self._length
        self._last_rests = last - np.bincount(cycle[: last * tables].ravel(), minlength=players)
        self._labels: list[NDArray[np.int16]] = []
        self._rested = np.zeros(players, dtype=np.int64)

    def labels(self, cycle: int) -> NDArray[np.int16]:
        """Which player each number stands for in this cycle."""
        while len(self._labels) <= cycle:
            self._labels.append(self._next_labels(len(self._labels)))
        return self._labels[cycle]

    def _next_labels(self, cycle: int) -> NDArray[np.int16]:
        rests = self._rests if (cycle + 1) * self._length <= self._rounds else self._last_rests
        lot = Random(subkey(self._key, cycle))
        numbers = np.lexsort((self._lot(lot), rests))
        players = np.lexsort((self._lot(lot), -self._rested))
        labels = np.empty(self._players, dtype=np.int16)
        labels[numbers] = players
        self._rested[labels] += rests
        return labels

    def _lot(self, lot: Random) -> NDArray[np.int64]:
        return np.array(lot.sample(range(self._players), self._players), dtype=np.int64)


def cycle_length(rounds: int, players: int, kinds: int = 1) -> int:
    """How many of so many rounds are searched for, before they begin anew: whole turns of all kinds."""
    bound = max(kinds, WORK // players // kinds * kinds)
    return min(rounds, bound)
