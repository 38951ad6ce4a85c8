"""The bridge between stubs and rules: everything survives the way out and back, and nothing wrong gets in."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import pytest
from google.protobuf.message import DecodeError, Message
from hypothesis import given
from hypothesis import strategies as st

from baohuang.cards.v1 import answer_pb2, event_pb2, options_pb2
from baohuang.match.v1 import match_service_pb2
from bots_sdk import convert
from bots_sdk.errors import Malformed
from bots_sdk.rules import events as ev
from bots_sdk.rules.answers import Answer, Word
from bots_sdk.rules.options import OPTION_NAMES, End, Force, Grab, GuardBy, Options, Sticker, Wind
from bots_sdk.rules.phases import Phase
from bots_sdk.rules.profiles import PROFILES, make_options

seats = st.integers(0, 4)
guards = st.none() | seats
card = st.integers(0, 55)
cards = st.lists(card, max_size=45).map(lambda codes: bytes(sorted(codes)))
number = st.integers(0, 2**32 - 1)
solo_kinds = st.none() | st.sampled_from(list(ev.SoloKind))
shares = st.lists(st.tuples(seats, st.integers(1, 4)), max_size=5).map(tuple)
tributes = st.none() | st.builds(ev.Tribute, shares, shares)
places = st.permutations(range(5)).map(tuple)
points = st.tuples(*[st.integers(-(2**31), 2**31 - 1)] * 5)
beans = st.none() | st.tuples(*[st.integers(-(2**63), 2**63 - 1)] * 5)
EVENTS: dict[type, st.SearchStrategy[ev.Event]] = {
    ev.DealStarted: st.builds(ev.DealStarted, number, seats, seats, st.tuples(*[st.integers(0, 43)] * 5), tributes),
    ev.HandDealt: st.builds(ev.HandDealt, cards),
    ev.Paid: st.builds(ev.Paid, seats, card),
    ev.Took: st.builds(ev.Took, seats, card),
    ev.WindowClosed: st.just(ev.WindowClosed(None, None))
    | st.builds(ev.WindowClosed, seats, st.sampled_from(list(ev.SoloKind))),
    ev.ThronePassed: st.builds(ev.ThronePassed, seats, st.none() | card),
    ev.ThroneAccepted: st.builds(ev.ThroneAccepted, seats),
    ev.Called: st.builds(ev.Called, seats, st.none() | st.integers(0, 53), st.booleans()),
    ev.Declared: st.builds(ev.Declared, st.sampled_from(list(ev.Declaration)), guards),
    ev.KickClosed: st.builds(ev.KickClosed, st.booleans()),
    ev.StakesSet: st.builds(ev.StakesSet, st.tuples(*[number] * 5)),
    ev.Played: st.builds(ev.Played, seats, cards.filter(bool), st.booleans()),
    ev.Passed: st.builds(ev.Passed, seats),
    ev.Yielded: st.builds(ev.Yielded, seats),
    ev.WindClaimed: st.builds(ev.WindClaimed, seats),
    ev.RoleShown: st.builds(ev.RoleShown, guards),
    ev.TrickEnded: st.builds(ev.TrickEnded, seats),
    ev.DealVoided: st.builds(ev.DealVoided),
    ev.DealEnded: st.builds(
        ev.DealEnded, places, points, seats, guards, solo_kinds, st.tuples(*[cards] * 5), tributes, beans
    ),
}
answers = st.builds(Answer, st.sampled_from(list(Word)), cards, number, st.booleans())


def test_every_kind_of_event_is_tried() -> None:
    assert set(EVENTS) == set(ev.Event.__args__)
    assert len(EVENTS) == len(event_pb2.Event.DESCRIPTOR.oneofs_by_name["event"].fields)


@pytest.mark.parametrize("kind", EVENTS, ids=lambda kind: kind.__name__)
@given(data=st.data())
def test_an_event_survives_the_wire(kind: type, data: st.DataObject) -> None:
    event = data.draw(EVENTS[kind])
    message = event_pb2.Event.FromString(convert.event_to_proto(event, 7, 99).SerializeToString())
    back = convert.event_from_proto(message)
    assert (back, type(back)) == (event, kind)
    assert (message.table, message.number) == (7, 99)


@given(answers)
def test_an_answer_survives_the_wire_in_full(answer: Answer) -> None:
    message = answer_pb2.Answer.FromString(convert.answer_to_proto(answer).SerializeToString())
    assert convert.answer_from_proto(message) == answer


@given(answers)
def test_an_answer_survives_as_a_decision(answer: Answer) -> None:
    decision = match_service_pb2.Decision()
    convert.write_decision(answer, decision)
    assert convert.decision_from_proto(match_service_pb2.Decision.FromString(decision.SerializeToString())) == answer


@pytest.mark.parametrize(
    ("answer", "form"),
    [
        (Answer(Word.PLAY, b"\x01\x02"), "cards"),
        (Answer(Word.PASS), "word"),
        (Answer(Word.PLAY, b"\x01", special=True), "answer"),
        (Answer(Word.CALL, b"\x01"), "answer"),
        (Answer(Word.STAKE, amount=2), "answer"),
    ],
)
def test_a_decision_takes_the_shortest_form(answer: Answer, form: str) -> None:
    decision = match_service_pb2.Decision()
    convert.write_decision(answer, decision)
    assert decision.WhichOneof("choice") == form


def test_cards_of_a_decision_may_come_in_any_order() -> None:
    decision = match_service_pb2.Decision(cards=bytes([52, 3, 1]))
    assert convert.decision_from_proto(decision) == Answer(Word.PLAY, bytes([1, 3, 52]))


def test_an_index_picks_from_the_list() -> None:
    listed = [Answer(Word.PASS), Answer(Word.YIELD)]
    assert convert.decision_from_proto(match_service_pb2.Decision(index=1), lambda _: listed) == listed[1]
    assert convert.decision_from_proto(match_service_pb2.Decision(index=0), lambda _: listed) == listed[0]


@pytest.mark.parametrize(
    ("decision", "says"),
    [
        (match_service_pb2.Decision(), "no answer"),
        (match_service_pb2.Decision(cards=b"\x38"), "56 is no card"),
        (match_service_pb2.Decision(cards=b"\x00\xff\x01"), "255 is no card"),
        (match_service_pb2.Decision(cards=bytes(300)), "300 cards"),
        (match_service_pb2.Decision(index=2), "2 is out of range"),
        (match_service_pb2.Decision(answer=answer_pb2.Answer()), "0 is no word"),
        (match_service_pb2.Decision(word=99), "99 is no word"),  # type: ignore[arg-type]
        (match_service_pb2.Decision(word=0), "0 is no word"),  # type: ignore[arg-type]
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_wrong_decision_is_refused_with_a_sentence(decision: match_service_pb2.Decision, says: str) -> None:
    with pytest.raises(Malformed, match=says):
        convert.decision_from_proto(decision, lambda _: [Answer(Word.PASS), Answer(Word.YIELD)])


def test_an_index_without_a_list_is_refused() -> None:
    with pytest.raises(Malformed, match="list_legal"):
        convert.decision_from_proto(match_service_pb2.Decision(index=0))


@pytest.mark.parametrize(
    ("event", "field"),
    [
        (event_pb2.Event(), "event"),
        (event_pb2.Event(passed=event_pb2.Passed(seat=5)), "passed.seat"),
        (event_pb2.Event(played=event_pb2.Played(seat=9, cards=b"\x01")), "played.seat"),
        (event_pb2.Event(played=event_pb2.Played(seat=1)), "played.cards"),
        (event_pb2.Event(played=event_pb2.Played(seat=1, cards=b"\x40")), "played.cards"),
        (event_pb2.Event(paid=event_pb2.Paid(seat=1, card=b"\x01\x02")), "paid.card"),
        (event_pb2.Event(called=event_pb2.Called(seat=1, face=b"\x37")), "called.face"),
        (event_pb2.Event(declared=event_pb2.Declared()), "declared.outcome"),
        (event_pb2.Event(declared=event_pb2.Declared(outcome=9)), "declared.outcome"),  # type: ignore[arg-type]
        (event_pb2.Event(window_closed=event_pb2.WindowClosed(seat=1)), "window_closed.kind"),
        (event_pb2.Event(trick_ended=event_pb2.TrickEnded(leader=77)), "trick_ended.leader"),
        (event_pb2.Event(role_shown=event_pb2.RoleShown(guard=5)), "role_shown.guard"),
        (event_pb2.Event(deal_started=event_pb2.DealStarted(sizes=[44] * 4)), "deal_started.sizes"),
        (event_pb2.Event(deal_started=event_pb2.DealStarted(sizes=[2**32 - 1] * 5)), "deal_started.sizes"),
        (event_pb2.Event(deal_ended=event_pb2.DealEnded(places=[0, 1, 2, 3, 3])), "deal_ended.places"),
        (
            event_pb2.Event(
                deal_ended=event_pb2.DealEnded(places=range(5), points=[0] * 5, hands=[b""] * 5, beans=[1] * 4)
            ),
            "deal_ended.beans",
        ),
        (event_pb2.Event(stakes_set=event_pb2.StakesSet(stakes=[1])), "stakes_set.stakes"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_wrong_event_is_refused_with_its_field(event: event_pb2.Event, field: str) -> None:
    with pytest.raises(Malformed) as caught:
        convert.event_from_proto(event)
    assert caught.value.field == field


DECODERS: dict[type[Message], Callable[[Any], object]] = {
    event_pb2.Event: convert.event_from_proto,
    match_service_pb2.Decision: convert.decision_from_proto,
    options_pb2.Options: convert.options_from_proto,
    answer_pb2.Answer: convert.answer_from_proto,
}


@pytest.mark.parametrize("kind", DECODERS, ids=lambda kind: kind.__name__)
@given(raw=st.binary(max_size=60))
def test_bytes_from_outside_raise_nothing_but_malformed(kind: type[Message], raw: bytes) -> None:
    message = kind()
    try:
        message.ParseFromString(raw)
    except DecodeError:
        return  # what protobuf refuses never gets here
    with contextlib.suppress(Malformed):
        DECODERS[kind](message)


@pytest.mark.parametrize("profile", PROFILES)
def test_options_of_every_profile_survive_the_wire(profile: str) -> None:
    options = make_options(profile, {"stakes": [1, 2, 4], "beans": True, "room": 5, "titles": True})
    message = options_pb2.Options.FromString(convert.options_to_proto(options).SerializeToString())
    assert (message.beans, message.room) == (True, 5)
    assert convert.options_from_proto(message) == options


FLAGS = tuple(name for name in OPTION_NAMES if isinstance(getattr(Options(), name), bool) and name != "kick")
"""A kick goes with some of the others only; profiles have it."""


@given(
    st.builds(
        Options,
        low=st.just("6"),
        drop_low=st.sampled_from([0, 3]),
        guard_by=st.just(GuardBy.FOURTH_CARD),
        grab=st.sampled_from(list(Grab)),
        sticker=st.sampled_from(list(Sticker)),
        force=st.sampled_from(list(Force)),
        wind=st.sampled_from(list(Wind)),
        end=st.sampled_from(list(End)),
        hold_back=st.sampled_from([None, "6"]),
        sticker_from=st.sampled_from([1, 2]),
        solo_scores=st.sampled_from([(24, 24, 12), (40, 32, 24)]),
        room=st.integers(1, 9),
        **dict.fromkeys(FLAGS, st.booleans()),
    )
)
def test_options_survive_the_wire(options: Options) -> None:
    assert convert.options_from_proto(convert.options_to_proto(options)) == options


def test_options_that_cannot_be_played_are_refused() -> None:
    message = convert.options_to_proto(PROFILES["qingdao"])
    message.drop_low = 3
    with pytest.raises(Malformed, match="short pack"):
        convert.options_from_proto(message)
    with pytest.raises(Malformed, match=r"options\.guard_by"):
        convert.options_from_proto(options_pb2.Options(low="3"))


def test_the_numbers_are_the_same_on_both_sides() -> None:
    assert {word.name: int(word) for word in Word} == _wire_names(answer_pb2.Word, "WORD_")
    assert {kind.name: int(kind) for kind in ev.SoloKind} == _wire_names(event_pb2.SoloKind, "SOLO_KIND_")
    assert {value.name: int(value) for value in ev.Declaration} == _wire_names(event_pb2.Declaration, "DECLARATION_")
    asked = {phase.name: int(phase) for phase in Phase if phase not in (Phase.ENDED, Phase.VOIDED)}
    assert asked == _wire_names(match_service_pb2.Phase, "PHASE_")


@pytest.mark.parametrize("phase", [phase for phase in Phase if phase < Phase.ENDED])
def test_a_phase_survives_the_wire(phase: Phase) -> None:
    assert convert.phase_from_proto(convert.phase_to_proto(phase)) is phase


@pytest.mark.parametrize("number", [0, Phase.ENDED, 99])
def test_a_phase_in_which_nobody_is_asked_is_refused(number: int) -> None:
    with pytest.raises(Malformed, match="is no phase"):
        convert.phase_from_proto(number)


def test_every_option_is_in_the_contract() -> None:
    names = {field.name for field in options_pb2.Options.DESCRIPTOR.fields}
    assert names == set(Options.__dataclass_fields__)


def _wire_names(enum: object, prefix: str) -> dict[str, int]:
    items = enum.items()  # type: ignore[attr-defined]
    return {name.removeprefix(prefix): number for name, number in items if number}
