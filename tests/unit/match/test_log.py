"""The events of a table as it tells them: what protobuf would have written, and one message in their order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from baohuang.match.v1 import match_service_pb2 as pb
from bots_sdk.convert import event_from_proto, event_to_proto
from bots_sdk.rules.cards import SEATS
from bots_sdk.rules.events import DealStarted, Event, HandDealt, Passed, Played, TrickEnded, WindClaimed, Yielded
from services.match.log import EventLog
from services.match.wire import encode_record

number = st.integers(1, 2**32 - 1)
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
STARTED = DealStarted(0, 1, 2, (31, 30, 30, 30, 30), None)
HANDS = [bytes(range(seat, 30 + seat)) for seat in range(SEATS)]


@given(events, number, number)
def test_an_event(event: Event, table: int, at: int) -> None:
    log = EventLog(table)
    log.number = at - 1
    message = event_to_proto(event, table, at)
    assert log.add([event]) == encode_record(message)
    assert log.number == at
    back = event_from_proto(message)
    assert back == event
    assert type(back) is type(event)


@given(st.lists(events, max_size=50))
def test_concatenated_records_are_one_message_in_order(several: list[Event]) -> None:
    log = EventLog(1)
    log.number = 6
    records = pb.PlayResponse.FromString(log.add(several)).records
    assert [event_from_proto(record.event) for record in records] == several
    assert [record.event.number for record in records] == [7 + at for at in range(len(several))]


@given(st.lists(st.lists(events, max_size=9), max_size=9), st.integers(0, SEATS - 1))
def test_a_deal_is_told_again_as_it_was_told(several: list[list[Event]], seat: int) -> None:
    log = EventLog(7)
    log.begin([STARTED], HANDS.__getitem__)
    log.add([Passed(0)])
    told = log.begin([STARTED], HANDS.__getitem__)[seat] + b"".join(log.add(events) for events in several)
    (record,) = pb.PlayResponse.FromString(log.resumed(pb.Resumed(), seat)).records
    once = [one.event for one in pb.PlayResponse.FromString(told).records]
    assert list(record.resumed.events) == once
    assert [event_from_proto(event) for event in once[:2]] == [STARTED, HandDealt(HANDS[seat])]
    assert [event.number for event in once] == list(range(4, 4 + len(once)))
