"""What is encoded by hand is what protobuf would have written, and concatenated records are one message."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from baohuang.match.v1 import match_service_pb2 as pb
from bots_sdk.convert import event_from_proto, event_to_proto
from bots_sdk.convert.varints import varint
from bots_sdk.rules.events import Event, Passed, Played, TrickEnded, WindClaimed, Yielded
from services.match.wire import EventEncoder, TurnEncoder, encode_record, encode_resumed

number = st.integers(1, 2**32 - 1)
milliseconds = st.integers(0, 2**32 - 1)
seats = st.integers(0, 4)
events: st.SearchStrategy[Event] = st.one_of(
    st.builds(Passed, seats),
    st.builds(Yielded, seats),
    st.builds(WindClaimed, seats),
    st.builds(TrickEnded, seats),
    st.builds(
        Played, seats, st.lists(st.integers(0, 55), min_size=1, max_size=140).map(sorted).map(bytes), st.booleans()
    ),
)


@given(number, number, st.integers(1, 9), milliseconds, milliseconds, number)
def test_requests(table: int, request: int, phase: int, limit: int, bank: int, event: int) -> None:
    message = pb.Request(
        table=table, request=request, phase=pb.Phase.ValueType(phase), limit_ms=limit, bank_ms=bank, event=event
    )
    assert TurnEncoder(table).request(request, phase, limit, bank, event) == encode_record(message)


@given(number, number, st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1), milliseconds, st.booleans())
def test_charges(table: int, request: int, elapsed: int, charged: int, bank: int, timed_out: bool) -> None:
    record = TurnEncoder(table).charged(request, elapsed, charged, bank, timed_out=timed_out)
    found = pb.PlayResponse.FromString(record).records[0].charged
    assert (found.table, found.request, found.bank_ms, found.timed_out) == (table, request, bank, timed_out)
    assert (found.elapsed_us, found.charged_us) == (elapsed, charged)
    assert encode_record(found) == record


def test_a_charge_too_long_for_its_field_is_cut() -> None:
    record = TurnEncoder(1).charged(1, 10**12, 10**12, 0, timed_out=True)
    assert pb.PlayResponse.FromString(record).records[0].charged.charged_us == 2**32 - 1


@given(events, number, number)
def test_events(event: Event, table: int, at: int) -> None:
    message = event_to_proto(event, table, at)
    assert EventEncoder(table).records([event], at) == encode_record(message)
    back = event_from_proto(message)
    assert back == event
    assert type(back) is type(event)


@given(st.lists(events, max_size=50))
def test_concatenated_records_are_one_message_in_order(several: list[Event]) -> None:
    records = pb.PlayResponse.FromString(EventEncoder(1).records(several, 7)).records
    assert [event_from_proto(record.event) for record in records] == several
    assert [record.event.number for record in records] == [7 + at for at in range(len(several))]


@given(st.lists(events, max_size=50))
def test_events_are_told_again_in_order(several: list[Event]) -> None:
    told = b"".join(EventEncoder(1).retold(event, at + 1) for at, event in enumerate(several))
    (record,) = pb.PlayResponse.FromString(encode_resumed(pb.Resumed(), told)).records
    assert [event_from_proto(event) for event in record.resumed.events] == several


@given(st.integers(0, 2**63))
def test_numbers(value: int) -> None:
    message = pb.PlayRequest(confirmed=value)
    assert message.SerializeToString() == (b"\x10" + varint(value) if value else b"")
