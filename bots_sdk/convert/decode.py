"""Events from protobuf: what a bot's client does for every event of every table, so it is written for speed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from baohuang.cards.v1 import event_pb2
from bots_sdk.convert.fields import (
    MOST_CARDS,
    card_from_wire,
    cards_from_wire,
    five_from_wire,
    optional_card_from_wire,
    optional_face_from_wire,
    seat_from_wire,
)
from bots_sdk.errors import Malformed
from bots_sdk.rules.cards import SEATS
from bots_sdk.rules.events import (
    Called,
    DealEnded,
    DealStarted,
    DealVoided,
    Declaration,
    Declared,
    Event,
    HandDealt,
    KickClosed,
    Paid,
    Passed,
    Played,
    RoleShown,
    SoloKind,
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

_new: Callable[..., Any] = tuple.__new__
"""Makes a named tuple in a third of the time its own class takes."""
MOST_TRIBUTE = 4
"""The most cards one seat pays or takes (docs/rules.md, part 7)."""
_SOLO_KINDS: dict[int, SoloKind] = {int(kind): kind for kind in SoloKind}
_DECLARATIONS: dict[int, Declaration] = {int(outcome): outcome for outcome in Declaration}


def event_from_proto(message: event_pb2.Event) -> Event:
    """The event, checked; table and number stay with the message.

    Raises:
        Malformed: an unknown kind of event, or a seat, card, word or list that cannot be.
    """
    kind = message.WhichOneof("event")
    decode = _DECODERS.get(kind)
    if decode is None or kind is None:
        raise Malformed("event", "of a kind this version does not know; the server is newer, install the same version")
    return decode(getattr(message, kind))


def _seat_only(kind: type[Any], field: str) -> Callable[[Any], Event]:
    # Five values are all there are, so they are made once.
    by_seat = tuple(kind(seat) for seat in range(SEATS))

    def decode(message: Any) -> Event:
        try:
            return by_seat[getattr(message, attribute)]  # type: ignore[no-any-return]
        except IndexError:
            raise Malformed(field, f"{getattr(message, attribute)} is no seat; a seat is 0 to 4") from None

    attribute = field.rpartition(".")[2]
    return decode


def _played(message: event_pb2.Played) -> Event:
    seat = message.seat
    if seat >= SEATS:
        seat_from_wire(seat, "played.seat")
    cards = cards_from_wire(message.cards, "played.cards")
    if not cards:
        raise Malformed("played.cards", "a play has at least one card")
    return _new(Played, (seat, cards, message.special))  # type: ignore[no-any-return]


def _deal_started(message: event_pb2.DealStarted) -> Event:
    sizes = five_from_wire(message.sizes, "deal_started.sizes")
    if sum(sizes) > MOST_CARDS:
        raise Malformed("deal_started.sizes", f"{sum(sizes)} cards in all; there are {MOST_CARDS} at the most")
    return DealStarted(
        message.number,
        seat_from_wire(message.dealer, "deal_started.dealer"),
        seat_from_wire(message.holder, "deal_started.holder"),
        sizes,
        _tribute(message, "deal_started.tribute"),
    )


def _tribute(message: event_pb2.DealStarted | event_pb2.DealEnded, field: str) -> Tribute | None:
    if not message.HasField("tribute"):
        return None
    owed = message.tribute
    return Tribute(_shares(owed.pay, f"{field}.pay"), _shares(owed.take, f"{field}.take"))


def _shares(shares: Any, field: str) -> tuple[tuple[int, int], ...]:
    for share in shares:
        seat_from_wire(share.seat, f"{field}.seat")
        if not 1 <= share.cards <= MOST_TRIBUTE:
            raise Malformed(f"{field}.cards", f"1 to {MOST_TRIBUTE} cards of one seat, and not {share.cards}")
    return tuple((share.seat, share.cards) for share in shares)


def _solo_kind(number: int, field: str) -> SoloKind | None:
    if number == 0:
        return None
    kind = _SOLO_KINDS.get(number)
    if kind is None:
        raise Malformed(field, f"{number} is no way of playing alone; there are 1 to {len(SoloKind)}")
    return kind


def _guard(message: Any, field: str) -> int | None:
    return seat_from_wire(message.guard, field) if message.HasField("guard") else None


def _window_closed(message: event_pb2.WindowClosed) -> Event:
    if not message.HasField("seat"):
        return WindowClosed(None, None)
    kind = _solo_kind(message.kind, "window_closed.kind")
    if kind is None:
        raise Malformed("window_closed.kind", "a solo emperor without the kind of the solo")
    return WindowClosed(seat_from_wire(message.seat, "window_closed.seat"), kind)


def _called(message: event_pb2.Called) -> Event:
    face = optional_face_from_wire(message.face, "called.face")
    return Called(seat_from_wire(message.seat, "called.seat"), face, message.bright)


def _declared(message: event_pb2.Declared) -> Event:
    outcome = _DECLARATIONS.get(message.outcome)
    if outcome is None:
        raise Malformed("declared.outcome", f"{message.outcome} is not among 1 to {len(Declaration)}")
    return Declared(outcome, _guard(message, "declared.guard"))


def _throne_passed(message: event_pb2.ThronePassed) -> Event:
    seat = seat_from_wire(message.seat, "throne_passed.seat")
    return ThronePassed(seat, optional_card_from_wire(message.sticker, "throne_passed.sticker"))


def _paid(message: event_pb2.Paid) -> Event:
    return Paid(seat_from_wire(message.seat, "paid.seat"), card_from_wire(message.card, "paid.card"))


def _took(message: event_pb2.Took) -> Event:
    return Took(seat_from_wire(message.seat, "took.seat"), card_from_wire(message.card, "took.card"))


def _deal_ended(message: event_pb2.DealEnded) -> Event:
    places = five_from_wire(message.places, "deal_ended.places")
    if set(places) != set(range(SEATS)):
        raise Malformed("deal_ended.places", f"every seat once, and not {list(places)}")
    hands = message.hands
    if len(hands) != SEATS:
        raise Malformed("deal_ended.hands", f"five hands, one for each seat, and not {len(hands)}")
    return DealEnded(
        places,
        five_from_wire(message.points, "deal_ended.points"),
        seat_from_wire(message.emperor, "deal_ended.emperor"),
        _guard(message, "deal_ended.guard"),
        _solo_kind(message.solo, "deal_ended.solo"),
        tuple(cards_from_wire(hand, "deal_ended.hands") for hand in hands),
        _tribute(message, "deal_ended.tribute"),
        five_from_wire(message.beans, "deal_ended.beans") if message.beans else None,
    )


_DECODERS: dict[str | None, Callable[[Any], Event]] = {
    "deal_started": _deal_started,
    "hand_dealt": lambda message: HandDealt(cards_from_wire(message.cards, "hand_dealt.cards")),
    "paid": _paid,
    "took": _took,
    "window_closed": _window_closed,
    "throne_passed": _throne_passed,
    "throne_accepted": _seat_only(ThroneAccepted, "throne_accepted.seat"),
    "called": _called,
    "declared": _declared,
    "kick_closed": lambda message: KickClosed(message.kicked),
    "stakes_set": lambda message: StakesSet(five_from_wire(message.stakes, "stakes_set.stakes")),
    "played": _played,
    "passed": _seat_only(Passed, "passed.seat"),
    "yielded": _seat_only(Yielded, "yielded.seat"),
    "wind_claimed": _seat_only(WindClaimed, "wind_claimed.seat"),
    "role_shown": lambda message: RoleShown(_guard(message, "role_shown.guard")),
    "trick_ended": _seat_only(TrickEnded, "trick_ended.leader"),
    "deal_voided": lambda _message: DealVoided(),
    "deal_ended": _deal_ended,
}
