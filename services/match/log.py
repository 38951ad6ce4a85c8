"""The events of one match, numbered, with what is needed to tell a deal again from its start."""

from __future__ import annotations

from collections.abc import Callable

from baohuang.match.v1 import match_service_pb2 as pb
from bots_sdk.convert.varints import varint
from bots_sdk.rules.cards import SEATS
from bots_sdk.rules.events import Event, HandDealt
from services.match.wire import (
    EVENT_FRAMES,
    encode_event,
    encode_public,
    encode_resumed,
    event_beginning,
    event_frame,
    retold_event,
)

_SHORT = len(EVENT_FRAMES)


class EventLog:
    """Numbers and encodes the events of the table `table`; keeps those of the current deal.

    They are kept as the values they are, most of which exist anyway: encoded they would be most of what a table weighs.
    The hand of each seat is kept apart: it is the only event that is not the same for all.
    """

    __slots__ = ("_beginning", "_events", "_first", "_hands", "number")

    def __init__(self, table: int) -> None:
        self.number = 0
        self._beginning = event_beginning(table)
        self._events: list[Event] = []
        self._first = 1
        self._hands: tuple[HandDealt, ...] = ()

    def begin(self, events: list[Event], hand_of: Callable[[int], bytes]) -> list[bytes]:
        """A deal begins: the records of `DealStarted` and of the hand, by seat. The hands have one number for all."""
        self._first = self.number + 1
        self._events = []
        self._hands = tuple(HandDealt(hand_of(seat)) for seat in range(SEATS))
        started = self.add(events)
        self.number += 1
        bodies = [self._body(self.number, hand) for hand in self._hands]
        return [started + event_frame(len(body)) + body for body in bodies]

    def add(self, events: list[Event]) -> bytes:
        """The records of public events of the deal, one after the other."""
        number = self.number
        records = b""
        for event in events:
            number += 1
            body = self._beginning + varint(number) + encode_public(event)
            size = len(body)
            records += (EVENT_FRAMES[size] if size < _SHORT else event_frame(size)) + body
        self.number = number
        self._events += events
        return records

    def resumed(self, resumed: pb.Resumed, seat: int) -> bytes:
        """The `resumed` record of a seat, with every event of the current deal as the seat was told it."""
        if not self._events:
            return encode_resumed(resumed, b"")
        started, *others = self._events
        told = enumerate([started, self._hands[seat], *others], self._first)
        return encode_resumed(resumed, b"".join(retold_event(self._body(number, event)) for number, event in told))

    def _body(self, number: int, event: Event) -> bytes:
        return self._beginning + varint(number) + encode_event(event)
