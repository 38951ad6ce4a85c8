"""Events to protobuf: what a match service does once for every event of every table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from baohuang.cards.v1 import event_pb2
from bots_sdk.rules.events import (
    Called,
    DealEnded,
    DealStarted,
    DealVoided,
    Declared,
    Event,
    HandDealt,
    KickClosed,
    Paid,
    Passed,
    Played,
    RoleShown,
    StakesSet,
    ThroneAccepted,
    ThronePassed,
    Took,
    Tribute,
    TrickEnded,
    WindClaimed,
    WindowClosed,
    Yielded,
)
from bots_sdk.rules.hands import ONE


def event_to_proto(event: Event, table: int = 0, number: int = 0) -> event_pb2.Event:
    """The event as a message.

    Args:
        event: what happened.
        table: the table of the match service it happened at; 0 where only one match is meant.
        number: counts the events of the match from 1 on.
    """
    message = event_pb2.Event()
    write_event(event, message, table, number)
    return message


def write_event(event: Event, message: event_pb2.Event, table: int, number: int) -> None:
    """Put the event into an empty message that is already part of another one."""
    message.table = table
    message.number = number
    _ENCODERS[type(event)](event, message)


def _played(event: Played, message: event_pb2.Event) -> None:
    part = message.played
    part.seat, part.cards, part.special = event


def _seat_only(kind: str, attribute: str = "seat") -> Callable[[Any, event_pb2.Event], None]:
    def encode(event: tuple[int], message: event_pb2.Event) -> None:
        setattr(getattr(message, kind), attribute, event[0])

    return encode


def _deal_started(event: DealStarted, message: event_pb2.Event) -> None:
    part = message.deal_started
    part.number, part.dealer, part.holder = event[:3]
    part.sizes.extend(event.sizes)
    if event.tribute is not None:
        write_tribute(event.tribute, part.tribute)


def write_tribute(tribute: Tribute, message: event_pb2.Tribute) -> None:
    """Put what is owed into an empty message that is already part of another one."""
    message.SetInParent()  # owed by nobody is not the same as no tribute
    for seat, cards in tribute.pay:
        message.pay.add(seat=seat, cards=cards)
    for seat, cards in tribute.take:
        message.take.add(seat=seat, cards=cards)


def _hand_dealt(event: HandDealt, message: event_pb2.Event) -> None:
    message.hand_dealt.cards = event.cards


def _paid(event: Paid, message: event_pb2.Event) -> None:
    message.paid.seat = event.seat
    message.paid.card = ONE[event.card]


def _took(event: Took, message: event_pb2.Event) -> None:
    message.took.seat = event.seat
    message.took.card = ONE[event.card]


def _window_closed(event: WindowClosed, message: event_pb2.Event) -> None:
    part = message.window_closed
    part.SetInParent()
    if event.seat is not None:
        part.seat = event.seat
    part.kind = _number(event.kind)


def _throne_passed(event: ThronePassed, message: event_pb2.Event) -> None:
    part = message.throne_passed
    part.seat = event.seat
    if event.sticker is not None:
        part.sticker = ONE[event.sticker]


def _called(event: Called, message: event_pb2.Event) -> None:
    part = message.called
    part.seat = event.seat
    part.bright = event.bright
    if event.face is not None:
        part.face = ONE[event.face]


def _declared(event: Declared, message: event_pb2.Event) -> None:
    part = message.declared
    part.outcome = _number(event.outcome)
    if event.guard is not None:
        part.guard = event.guard


def _kick_closed(event: KickClosed, message: event_pb2.Event) -> None:
    message.kick_closed.kicked = event.kicked


def _stakes_set(event: StakesSet, message: event_pb2.Event) -> None:
    message.stakes_set.stakes.extend(event.stakes)


def _role_shown(event: RoleShown, message: event_pb2.Event) -> None:
    part = message.role_shown
    part.SetInParent()
    if event.guard is not None:
        part.guard = event.guard


def _deal_voided(_event: DealVoided, message: event_pb2.Event) -> None:
    message.deal_voided.SetInParent()


def _deal_ended(event: DealEnded, message: event_pb2.Event) -> None:
    part = message.deal_ended
    part.places.extend(event.places)
    part.points.extend(event.points)
    part.emperor = event.emperor
    if event.guard is not None:
        part.guard = event.guard
    part.solo = _number(event.solo)
    part.hands.extend(event.hands)
    if event.tribute is not None:
        write_tribute(event.tribute, part.tribute)
    part.beans.extend(event.beans or ())


def _number(member: int | None) -> Any:
    """The number on the wire, which the enums of the rules share; the stubs want a type of their own for it."""
    return 0 if member is None else int(member)


_ENCODERS: dict[type[Any], Callable[[Any, event_pb2.Event], None]] = {
    DealStarted: _deal_started,
    HandDealt: _hand_dealt,
    Paid: _paid,
    Took: _took,
    WindowClosed: _window_closed,
    ThronePassed: _throne_passed,
    ThroneAccepted: _seat_only("throne_accepted"),
    Called: _called,
    Declared: _declared,
    KickClosed: _kick_closed,
    StakesSet: _stakes_set,
    Played: _played,
    Passed: _seat_only("passed"),
    Yielded: _seat_only("yielded"),
    WindClaimed: _seat_only("wind_claimed"),
    RoleShown: _role_shown,
    TrickEnded: _seat_only("trick_ended", "leader"),
    DealVoided: _deal_voided,
    DealEnded: _deal_ended,
}
