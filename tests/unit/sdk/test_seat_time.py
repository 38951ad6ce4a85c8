"""The time a client gives its bot: that of the request, whatever kind of decision it is."""

from __future__ import annotations

from datetime import timedelta

import pytest

from baohuang.match.v1 import match_service_pb2 as pb
from bots_sdk.client.seat import TableSeat
from bots_sdk.convert import event_from_proto
from bots_sdk.rules.phases import Phase
from bots_sdk.testing.hosted_match import HostedMatch


def asked(seat: TableSeat, match: HostedMatch, limit_ms: int, bank_ms: int = 0) -> TableSeat:
    """The seat with a request that has this time."""
    for record in match.start():
        if record.HasField("event"):
            seat.fold(record.event.number, event_from_proto(record.event))
    request = match.open_request()
    request.limit_ms, request.bank_ms = limit_ms, bank_ms
    seat.open(request)
    return seat


def test_limits_of_kinds_are_told_and_kinds_of_a_newer_server_are_left_out() -> None:
    seated = HostedMatch(limit_ms=2000).seated()
    seated.clock.limits.add(phase=pb.PHASE_PLAY, limit_ms=500)
    seated.clock.limits.add(phase=77, limit_ms=1)
    seating = TableSeat(seated).seating
    assert seating.limit == timedelta(seconds=2)
    assert seating.limits == ((Phase.PLAY, timedelta(milliseconds=500)),)


@pytest.mark.parametrize(
    ("limit_ms", "bank_ms", "seconds"),
    [(2000, 0, 1.98), (500, 0, 0.48), (30_000, 0, 29.98), (500, 4000, 4.48), (20, 0, 0.01)],
)
def test_the_default_is_sent_before_the_limit_of_this_very_request(limit_ms: int, bank_ms: int, seconds: float) -> None:
    match = HostedMatch(limit_ms=2000)
    seat = asked(TableSeat(match.seated()), match, limit_ms, bank_ms)
    assert seat.time.limit == limit_ms / 1000
    assert seat.seconds_to_default == pytest.approx(seconds)


def test_without_a_clock_there_is_no_default_to_be_sent() -> None:
    match = HostedMatch(limit_ms=0)
    assert asked(TableSeat(match.seated()), match, 0).seconds_to_default is None
