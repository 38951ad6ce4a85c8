"""What is played in a benchmark: the bots, their tickets, the orders, and which script each match follows."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from bots_sdk.rules.profiles import make_options
from services.common.clock import SystemClock
from services.common.matches import ClockRules, Entrant, MatchOrder
from services.common.tickets import Ticket, issue_ticket

PROFILE = "qingdao"
SERVICE = "bench"
TOURNAMENT = "bench"
KEY = b"benchmark-key-of-32-bytes-exactly"
# Nobody is to time out, also when a whole second run is prepared beside; three bytes on the wire, as a minute has.
PATIENCE = ClockRules(limit=timedelta(seconds=1800), ready=timedelta(seconds=120))
HELD_FROM = 50_000_000
"""Matches with numbers from here on are held somewhere in the middle by bots that can do so."""


class Kind(StrEnum):
    """What the load is put on."""

    REAL = "real"
    NULL = "null"
    UNARY = "unary"


@dataclass(frozen=True, slots=True)
class Load:
    """So many bots at so many tables. With `own` each bot sits at one table, and five always play together.

    With `slow` the first bot thinks when it is told to; `window` is the most unconfirmed messages per stream.
    """

    kind: Kind
    bots: int
    tables: int
    own: bool = False
    slow: bool = False
    window: int = 1

    @property
    def seats_each(self) -> int:
        """The most tables a bot is offered."""
        return 1 if self.own else self.tables


def bot_names(load: Load) -> list[str]:
    """The bots; five letters each, so that what is said about them always has the same size."""
    return [f"b{bot:05d}" for bot in range(load.bots)]


def issue_tickets(load: Load) -> list[str]:
    """One ticket for each bot."""
    ends = SystemClock().now() + timedelta(hours=1)
    return [issue_ticket(KEY, Ticket(name, name, SERVICE, load.seats_each, ends)) for name in bot_names(load)]


def secret_of(script: int) -> bytes:
    """The secret of the match that a script was recorded of."""
    return script.to_bytes(32, "big")


def format_attempt(number: int, script: int) -> str:
    """The attempt, which is also the match id: it tells bots which script to follow, and nothing but them reads it."""
    return f"{number:08d}-{script:05d}"


def script_of(attempt: str) -> int:
    """The script that a match follows."""
    return int(attempt[-5:])


def hold_of(attempt: str) -> float:
    """How far a match is to go: from `HELD_FROM` on it stays somewhere, the same for all five; others go to the end."""
    number = int(attempt[:8])
    return 1.0 if number < HELD_FROM else random.Random(number).random()


def order_of(names: tuple[str, ...], number: int, script: int) -> MatchOrder:
    """A match of one deal between five bots, following a script."""
    first, second, third, fourth, fifth = (Entrant(name, name) for name in names)
    return MatchOrder(
        tournament=TOURNAMENT,
        number=number,
        attempt=format_attempt(number, script),
        seats=(first, second, third, fourth, fifth),
        options=make_options(PROFILE, {}),
        deals=1,
        secret=secret_of(script),
        nonce=bytes(16),
        clock=PATIENCE,
    )


def make_order(load: Load, names: list[str], number: int, scripts: int) -> MatchOrder:
    """Match `number`: with tables of their own always the same five, otherwise any five."""
    draw = random.Random(number)
    if load.own:
        table = number % load.tables
        chosen = names[5 * table : 5 * table + 5]
    else:
        chosen = draw.sample(names, 5)
    return order_of(tuple(chosen), number, draw.randrange(scripts))
