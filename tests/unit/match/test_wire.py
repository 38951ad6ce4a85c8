"""What is encoded by hand is what protobuf would have written, and concatenated records are one message."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from baohuang.match.v1 import match_service_pb2 as pb
from bots_sdk.convert.varints import varint
from services.match.wire import TurnEncoder, encode_record

number = st.integers(1, 2**32 - 1)
milliseconds = st.integers(0, 2**32 - 1)


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


@given(st.integers(0, 2**63))
def test_numbers(value: int) -> None:
    message = pb.PlayRequest(confirmed=value)
    assert message.SerializeToString() == (b"\x10" + varint(value) if value else b"")
