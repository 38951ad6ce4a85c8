"""The reader that walks bytes by hand tells the same as protobuf does, whatever it is given."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from baohuang.cards.v1 import event_pb2
from baohuang.match.v1 import match_service_pb2 as pb
from bots_sdk.client.wire import Reader
from bots_sdk.convert import event_from_proto, event_to_proto
from bots_sdk.errors import Malformed, ProtocolBroken
from bots_sdk.rules.events import Event, HandDealt, Passed, Played, RoleShown, TrickEnded
from bots_sdk.testing.hosted_match import HostedMatch

Told = list[tuple[Any, ...]]

numbers = st.integers(0, 2**32 - 1) | st.sampled_from([0, 1, 127, 128, 16383, 16384, 2**21 - 1, 2**21, 2**28])
cards = st.lists(st.integers(0, 55), min_size=1, max_size=44).map(lambda codes: bytes(sorted(codes)))
events: st.SearchStrategy[Event] = st.one_of(
    st.builds(Passed, st.integers(0, 4)),
    st.builds(TrickEnded, st.integers(0, 4)),
    st.builds(Played, st.integers(0, 4), cards, st.booleans()),
    st.builds(HandDealt, cards),
    st.builds(RoleShown, st.none() | st.integers(0, 4)),
)
records = st.one_of(
    st.builds(lambda *event: pb.ServerRecord(event=event_to_proto(*event)), events, numbers, numbers),
    st.builds(lambda table: pb.ServerRecord(request=pb.Request(table=table, request=1)), numbers),
    st.builds(lambda text: pb.ServerRecord(rejected=pb.Rejected(message=text)), st.text(max_size=300)),
    st.just(pb.ServerRecord(heartbeat=pb.Heartbeat())),
    st.just(pb.ServerRecord()),
)


def told_by_hand(data: bytes) -> Told:
    told: Told = []
    Reader(lambda *event: told.append(event), lambda kind, record: told.append((kind, record))).read(data)
    return told


def told_by_protobuf(data: bytes) -> Told:
    told: Told = []
    for record in pb.PlayResponse.FromString(data).records:
        kind = record.WhichOneof("record")
        if kind == "event":
            told.append((record.event.table, record.event.number, event_from_proto(record.event)))
        elif kind is not None:
            told.append((kind, record))
    return told


@given(st.lists(records, max_size=20))
def test_it_tells_the_same_as_protobuf(sent: list[pb.ServerRecord]) -> None:
    data = pb.PlayResponse(records=sent).SerializeToString()
    assert told_by_hand(data) == told_by_protobuf(data)


def test_a_whole_match_reads_the_same_twice_with_one_reader() -> None:
    match = HostedMatch(300)
    data = pb.PlayResponse(records=match.start()).SerializeToString()
    told: Told = []
    reader = Reader(lambda *event: told.append(event), lambda kind, record: told.append((kind, record)))
    reader.read(data)
    reader.read(data)
    assert told == told_by_protobuf(data) * 2


@given(st.binary(max_size=60))
@example(b"\x0a")
@example(b"\x0a\x80")
@example(b"\x0a\xff\xff\xff\xff\xff\xff\x01")
@example(b"\x0a\x04\x1a\x02\x08\x80")
@example(b"\x0a\x02\x1a\x00")
@example(b"\x0a\x00")
def test_whatever_the_bytes_nothing_but_the_two_errors_comes_of_them(data: bytes) -> None:
    try:
        told = told_by_hand(data)
    except (ProtocolBroken, Malformed):
        return
    # What the walk by hand accepts, protobuf understands in the same way.
    assert told == told_by_protobuf(data)


@given(st.lists(records, min_size=1, max_size=5), st.data())
def test_bytes_with_a_fault_raise_nothing_else(sent: list[pb.ServerRecord], data: st.DataObject) -> None:
    raw = bytearray(pb.PlayResponse(records=sent).SerializeToString())
    if raw:
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(ProtocolBroken, Malformed):
        told_by_hand(bytes(raw))


@pytest.mark.parametrize("cut", range(1, 9))
def test_a_message_that_is_cut_short_is_broken(cut: int) -> None:
    event = event_to_proto(Played(3, b"\x01\x02", False), 7, 8)
    data = pb.PlayResponse(records=[pb.ServerRecord(event=event)]).SerializeToString()
    with pytest.raises(ProtocolBroken, match="is no PlayResponse"):
        told_by_hand(data[:-cut])


def test_an_event_with_its_fields_in_another_order_is_read_too() -> None:
    event = event_to_proto(Passed(2), 5, 6)
    body = (
        event_pb2.Event(passed=event.passed).SerializeToString()
        + event_pb2.Event(number=6, table=5).SerializeToString()
    )
    record = b"\x1a" + bytes([len(body)]) + body
    assert told_by_hand(b"\x0a" + bytes([len(record)]) + record) == [(5, 6, Passed(2))]


def test_a_field_of_the_future_beside_the_records_is_left_alone() -> None:
    data = pb.PlayResponse(records=[pb.ServerRecord(event=event_to_proto(Passed(2), 5, 6))]).SerializeToString()
    future = b"\xba\x06\x03abc"  # field 103, three bytes
    assert told_by_protobuf(data + future) == [(5, 6, Passed(2))]
    assert told_by_hand(data + future) == [(5, 6, Passed(2))]
    assert told_by_hand(future + data) == [(5, 6, Passed(2))]
