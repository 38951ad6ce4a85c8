"""A floor without wires: sessions that nobody reads, and matches played on it by their scripts.

Recording scripts and bringing tables to some stage before the bots come both go through the calls that a stream makes
(`Session`, `Floor.submit`, `ready`, `decide`), so they stay true to whatever happens behind those.
"""

from __future__ import annotations

from baohuang.match.v1 import match_service_pb2 as pb
from services.match.floor import Floor
from services.match.sessions import Session, SessionTerms

ALL = 1 << 62


class NoLater:
    """For a floor on which nothing is left for later: no house bots, and every bot is there from the start."""

    def house_soon(self) -> None:
        raise AssertionError("no house bot plays in a benchmark")

    def seat_soon(self) -> None:
        pass

    def look_soon(self) -> None:
        pass

    def entered(self) -> None:
        pass


def nothing(*_: object) -> None:
    """For a session that need not wake anybody."""


def enter(floor: Floor, name: str, tables: int, now: float) -> Session:
    """A bot comes to the floor without a stream."""
    terms = SessionTerms(name, name, tables=tables, list_legal=False, window=1)
    session = Session(terms, floor.seats_of(name), now, nothing, nothing)
    floor.enter(session, now)
    return session


def drain(session: Session, now: float) -> bytes:
    """Everything that waits for the bot."""
    messages = []
    while (message := session.take(now, 0.0)) is not None:
        messages.append(message)
        session.heard(now, ALL)
    return b"".join(messages)


def decision_of(body: bytes) -> pb.Decision:
    """A decision as the servicer finds it in a message."""
    return pb.Decision.FromString(body)
