"""The events of one match, encoded once, with what is needed to tell a deal again from its start."""

from __future__ import annotations

from collections.abc import Callable

from baohuang.match.v1 import match_service_pb2 as pb
from bots_sdk.convert import event_to_proto
from bots_sdk.rules.cards import SEATS
from bots_sdk.rules.events import DealStarted, Event, HandDealt
from services.match.wire import EventEncoder, encode_resumed, frame_event, retell_event


class EventLog:
    """Numbers and encodes the events of the table `table`; keeps those of the current deal.

    They are kept as one run of bytes: a list of small objects would be most of what a table weighs. The hand of each
    seat is kept apart: it is the only event that is not the same for all.
    """

    __slots__ = ("_encoder", "_hands", "_hands_at", "_table", "_told", "number")

    def __init__(self, table: int) -> None:
        self.number = 0
        self._table = table
        self._encoder = EventEncoder(table)
        self._told = bytearray()
        self._hands: tuple[bytes, ...] = ()
        self._hands_at = 0

    def add(self, event: Event) -> bytes:
        """The record of a public event."""
        if isinstance(event, DealStarted):
            self._told.clear()
        self.number += 1
        body = self._encoder.body(event, self.number)
        self._told += retell_event(body)
        return frame_event(body)

    def add_hands(self, hand_of: Callable[[int], bytes]) -> list[bytes]:
        """The five records of the hands, by seat; one number for all of them."""
        self.number += 1
        number = self.number
        self._hands_at = len(self._told)
        self._hands = tuple(
            event_to_proto(HandDealt(hand_of(seat)), self._table, number).SerializeToString() for seat in range(SEATS)
        )
        return [frame_event(body) for body in self._hands]

    def resumed(self, resumed: pb.Resumed, seat: int) -> bytes:
        """The `resumed` record of a seat, with every event of the current deal as the seat was told it."""
        if not self._hands:
            return encode_resumed(resumed, b"")
        before, after = self._told[: self._hands_at], self._told[self._hands_at :]
        return encode_resumed(resumed, bytes(before) + retell_event(self._hands[seat]) + after)
