"""The events of one match, numbered, with what is needed to tell a deal again from its start."""

from __future__ import annotations

from collections.abc import Callable

from baohuang.match.v1 import match_service_pb2 as pb
from bots_sdk.rules.cards import SEATS
from bots_sdk.rules.events import Event, HandDealt
from services.match.wire import EventEncoder, encode_resumed


class EventLog:
    """Numbers and encodes the events of the table `table`; keeps those of the current deal.

    They are kept as the values they are, most of which exist anyway: encoded they would be most of what a table weighs.
    The hand of each seat is kept apart: it is the only event that is not the same for all.
    """

    __slots__ = ("_encoder", "_events", "_first", "_hands", "number")

    def __init__(self, table: int) -> None:
        self.number = 0
        self._encoder = EventEncoder(table)
        self._events: list[Event] = []
        self._first = 1
        self._hands: tuple[HandDealt, ...] = ()

    def begin(self, events: list[Event], hand_of: Callable[[int], bytes]) -> list[bytes]:
        """A deal begins: the records of `DealStarted` and of the hand, by seat. The hands have one number for all."""
        (started,) = events
        self._first = self.number + 1
        self.number += 2
        self._events = [started]
        self._hands = tuple(HandDealt(hand_of(seat)) for seat in range(SEATS))
        record = self._encoder.records(events, self._first)
        return [record + self._encoder.hand(hand, self.number) for hand in self._hands]

    def add(self, events: list[Event]) -> bytes:
        """The records of public events of the deal."""
        number = self.number + 1
        self.number += len(events)
        self._events += events
        return self._encoder.records(events, number)

    def resumed(self, resumed: pb.Resumed, seat: int) -> bytes:
        """The `resumed` record of a seat, with every event of the current deal as the seat was told it."""
        if not self._events:
            return encode_resumed(resumed, b"")
        started, *others = self._events
        told = [started, self._hands[seat], *others]
        retold = self._encoder.retold
        return encode_resumed(resumed, b"".join(retold(event, self._first + at) for at, event in enumerate(told)))
