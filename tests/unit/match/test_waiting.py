"""Orders that wait for tables: none waits for ever, and those who wait for a slow bot hold up nobody else."""

from __future__ import annotations

from collections import Counter

from services.match.waiting import ABSENT, RESERVE_AFTER, WaitingRoom
from tests.unit.match.hall import order_for

BOTS = [f"bot-{number}" for number in range(10)]


class Room:
    """Orders, and bots with so many free tables."""

    def __init__(self, free: dict[str, int]) -> None:
        self.free = free
        self.seated: list[str] = []
        self._room = WaitingRoom()

    def add(self, attempt: str, *bots: str, since: float = 0.0) -> None:
        self._room.add(order_for(*bots, attempt=attempt), since)

    def seat(self, now: float) -> list[str]:
        seated = []
        for order in self._room.take_seatable(lambda bot: self.free.get(bot, ABSENT), now):
            for entrant in order.seats:
                if not entrant.is_house:
                    self.free[entrant.bot_id] -= 1
            seated.append(order.attempt)
        return seated


LATER = RESERVE_AFTER + 1.0


def test_those_who_wait_for_a_slow_bot_hold_up_nobody_who_does_not() -> None:
    """A bot with one table, which it takes its time at, has a queue with everybody in it."""
    room = Room({"slow": 0} | dict.fromkeys(BOTS, 1))
    for number in range(5):
        room.add(f"slow-{number}", "slow", BOTS[2 * number], BOTS[2 * number + 1])
    for number in range(2, 10, 2):
        room.add(f"quick-{number}", BOTS[number], BOTS[number + 1], since=1.0)
    assert room.seat(LATER) == ["quick-2", "quick-4", "quick-6", "quick-8"]


def test_a_reservation_takes_one_table_of_each_and_not_all_of_them() -> None:
    room = Room({"slow": 0, "ann": 100, "ben": 100})
    room.add("slow", "slow", "ann", "ben")
    for number in range(200):
        room.add(f"quick-{number}", "ann", "ben", since=1.0)
    assert len(room.seat(LATER)) == 99


def test_an_order_that_needs_several_busy_bots_is_not_starved_by_those_that_need_one() -> None:
    room = Room({"ann": 0, "ben": 0})
    room.add("both", "ann", "ben")
    for number in range(100):
        room.add(f"ann-{number}", "ann", since=1.0)
        room.add(f"ben-{number}", "ben", since=1.0)
    played = Counter[str]()
    now = LATER
    for turn in range(4):
        bot = ("ann", "ben")[turn % 2]
        room.free[bot] += 1  # never both at once, unless somebody keeps them
        played.update(room.seat(now + turn))
    assert played["both"] == 1


def test_orders_for_the_same_slow_bot_go_in_their_order() -> None:
    room = Room({"slow": 0, "ann": 1, "ben": 1})
    room.add("first", "slow", "ann")
    room.add("second", "slow", "ben", since=0.5)
    seated = []
    for turn in range(2):
        room.free["slow"] = 1
        seated += room.seat(LATER + turn)
    assert seated == ["first", "second"]


def test_nothing_is_kept_for_a_match_whose_bot_is_not_here() -> None:
    room = Room({"ann": 1})
    room.add("absent", "ann", "nobody")
    room.add("ann", "ann", since=1.0)
    assert room.seat(LATER) == ["ann"]
