"""Bots have their tables at few match services, none of which is much fuller than the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

from services.common.matches import Entrant
from services.tournament.director.placement import WINDOW, place

BOTS = [Entrant(f"id-{number}", f"bot-{number}") for number in range(100)]
Five = Sequence[Entrant]


@dataclass
class Service:
    """One match service as a placement sees it."""

    running: list[Five] = field(default_factory=list)
    away: frozenset[Entrant] = frozenset()
    tables: Counter[str] = field(default_factory=Counter)

    @property
    def load(self) -> int:
        return len(self.running)

    def has_all(self, seats: Five) -> bool:
        return self.away.isdisjoint(seats)

    def acquaintance(self, seats: Five) -> int:
        return sum(self.tables[seat.bot_id] > 0 for seat in seats)

    def begin(self, seats: Five) -> None:
        self.running.append(seats)
        self.tables.update(seat.bot_id for seat in seats)

    def end(self, index: int) -> None:
        self.tables.subtract(seat.bot_id for seat in self.running.pop(index))


def at(*matches: Five) -> Service:
    service = Service()
    for seats in matches:
        service.begin(seats)
    return service


def test_a_match_goes_where_most_of_its_bots_are() -> None:
    here, there = at(BOTS[:5]), at(BOTS[3:8])
    assert place([BOTS[4:9]], [here, there], 64) == (0, there)


def test_of_several_matches_the_one_starts_whose_bots_are_where_there_is_room() -> None:
    full, free = at(*[BOTS[:5]] * 4), at(BOTS[5:10])
    assert place([BOTS[:5], BOTS[10:15], BOTS[5:10]], [full, free], 4) == (2, free)


def test_without_a_difference_the_first_match_goes_to_the_emptiest() -> None:
    one, two = at(BOTS[5:10], BOTS[5:10]), at(BOTS[10:15])
    assert place([BOTS[20:25], BOTS[30:35]], [one, two], 64) == (0, two)


def test_nobody_crowds_one_place_for_the_sake_of_company() -> None:
    crowded, empty = at(*[BOTS[:5]] * 17), at()
    assert place([BOTS[:5]], [crowded, empty], 64) == (0, empty)
    assert place([BOTS[:5]], [at(*[BOTS[:5]] * 16), empty], 64) != (0, empty)


def test_bots_are_sent_only_where_they_all_are() -> None:
    here = at(BOTS[:5])
    here.away = frozenset(BOTS[4:5])
    there = at()
    assert place([BOTS[:5]], [here, there], 64) == (0, there)
    there.away = frozenset(BOTS[:1])
    assert place([BOTS[:5]], [here, there], 64) is None
    assert place([BOTS[:5], BOTS[50:55]], [here, there], 64) == (1, there)


Chooser = Callable[[Sequence[Five], list[Service], int], "tuple[int, Service] | None"]


def emptiest(candidates: Sequence[Five], services: list[Service], bound: int) -> tuple[int, Service] | None:
    return 0, min(services, key=lambda one: one.load)


def play(choose: Chooser, lose_at: int = -1) -> tuple[float, int]:
    """128 of 1500 matches of 100 bots at a time at four services, any of which ends next.

    How many services a bot is at, on average over bots and time, and by how much loads differed at most at the end.
    """
    draw, services = Random(7), [Service() for _ in range(4)]
    waiting: list[Five] = []
    seen = []
    for turn in range(1500):
        while len(waiting) < WINDOW:
            waiting.append(draw.sample(BOTS, 5))
        if turn == lose_at:
            services[0] = Service()
        chosen = choose(waiting, services, 64)
        assert chosen is not None
        index, service = chosen
        service.begin(waiting.pop(index))
        if sum(one.load for one in services) >= 128:
            ending = draw.choice([one for one in services for _ in one.running])
            ending.end(draw.randrange(ending.load))
        if turn > 500 and turn % 50 == 0:
            seen.append(sum(one.tables[bot.bot_id] > 0 for one in services for bot in BOTS) / len(BOTS))
    loads = [one.load for one in services]
    return sum(seen) / len(seen), max(loads) - min(loads)


def test_a_hundred_bots_are_at_fewer_services_than_if_matches_were_spread() -> None:
    spread, _ = play(emptiest)
    together, uneven = play(place)
    print(f"services of a bot: {together:.2f}, spread {spread:.2f}")
    assert together < 0.85 * spread
    assert uneven <= 16 + 1


def test_after_a_loss_the_one_that_comes_back_gets_its_part() -> None:
    _, uneven = play(place, lose_at=1200)
    assert uneven <= 16 + 1
