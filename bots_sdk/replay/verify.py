"""Checks a record from its first byte to its last, and names the first step that is wrong."""

from __future__ import annotations

import hmac
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import Message

from baohuang.match.v1 import match_service_pb2
from baohuang.record.v1 import record_pb2 as pb
from bots_sdk.convert import phase_to_proto, write_tribute
from bots_sdk.replay.builder import CHECK_BYTES, CHECK_MASK, DEFAULT_CAUSES, Cause
from bots_sdk.replay.errors import RecordError
from bots_sdk.replay.forms import digest_of
from bots_sdk.replay.playing import Played, Replay, ReplayedDeal
from bots_sdk.replay.results import result_to_proto, write_totals
from bots_sdk.replay.versions import printable
from bots_sdk.rules.cards import SEATS
from bots_sdk.rules.shuffle import MOST_SUITS, commitment

_COUNTING = (match_service_pb2.ENDING_COMPLETED, match_service_pb2.ENDING_COMPLETED_WITH_FAULTS)


@dataclass(frozen=True, slots=True)
class Verified:
    """What a record that holds together is about.

    Attributes:
        match_id: the match.
        names: by seat.
        deals: how many were played, void ones not counted.
        shuffles: how many were dealt.
        decisions: how many answers were checked.
        points: of the match, by seat.
        commitment: what all seats must have been told before the first deal.
    """

    match_id: str
    names: tuple[str, ...]
    deals: int
    shuffles: int
    decisions: int
    points: tuple[int, ...]
    commitment: bytes


@dataclass(slots=True)
class _Faults:
    """What the answers tell of one seat."""

    timeouts: int = 0
    illegal_answers: int = 0
    failures: int = 0
    taken_over: bool = False


def verify_record(record: pb.MatchRecord, told: bytes | None = None) -> Verified:
    """Play the record again and compare everything in it with what the rules say.

    Args:
        record: the record.
        told: the commitment that a bot was told before the first deal, if it is at hand. Without it the record is only
            known to hold together, not to be that of the match.

    Raises:
        RecordNotSupported: another version made it.
        RecordError: it does not hold together; `step` is the first wrong step.
    """
    replay = Replay(record)
    _verify_commitment(record, told)
    faults = tuple(_Faults() for _ in range(SEATS))
    decisions = 0
    for dealt in replay.deals():
        _verify_start(dealt, replay.match.shuffles - 1)
        decisions += _verify_answers(dealt, faults)
        _verify_result(dealt)
    _verify_outcome(replay, faults)
    if record.digest != digest_of(record):
        raise RecordError("digest", "something that the rules do not tell was changed: a time, a name, or the like")
    return Verified(
        match_id=printable(record.match_id),
        names=replay.names,
        deals=len(replay.match.results),
        shuffles=replay.match.shuffles,
        decisions=decisions,
        points=replay.match.points,
        commitment=record.commitment,
    )


def _verify_commitment(record: pb.MatchRecord, told: bytes | None) -> None:
    if not record.secret:
        raise RecordError("secret", "there is none, and nothing can be checked without it")
    if not hmac.compare_digest(record.commitment, commitment(record.nonce, record.secret, record.suits)):
        _verify_sealed_suits(record, record.commitment, "the commitment is one to")
        raise RecordError("commitment", "it is not that of this nonce, this secret and these suits")
    if told is not None and told != record.commitment:
        _verify_sealed_suits(record, told, "the seats were told a commitment to")
        raise RecordError("commitment", f"the seats were told another one: {told.hex()}, not {record.commitment.hex()}")


def _verify_sealed_suits(record: pb.MatchRecord, sealed: bytes, who: str) -> None:
    """If nothing but the suits keep the record from fitting a commitment, say so."""
    for suits in range(MOST_SUITS + 1):
        if suits != record.suits and sealed == commitment(record.nonce, record.secret, suits):
            raise RecordError("suits", f"{who} suits {suits}, and the record has {record.suits}")


def _verify_start(dealt: ReplayedDeal, shuffle: int) -> None:
    public, recorded = dealt.deal.public, dealt.recorded
    tribute = pb.Deal()
    if public.tribute is not None:
        write_tribute(public.tribute, tribute.tribute)
    expected = pb.Deal(shuffle=shuffle, number=public.number, dealer=public.dealer)
    expected.MergeFrom(tribute)
    _compare(dealt.step, recorded, expected, ("shuffle", "number", "dealer", "tribute"))


def _verify_answers(dealt: ReplayedDeal, faults: Sequence[_Faults]) -> int:
    crc = index = 0
    checks = dealt.recorded.checks
    for index, played in enumerate(dealt.answers(), 1):
        _verify_cause(played)
        crc = zlib.crc32(played.decision.SerializeToString(), crc)
        place = checks[(index - 1) * CHECK_BYTES : index * CHECK_BYTES]
        if place != (crc & CHECK_MASK).to_bytes(CHECK_BYTES, "big"):
            raise RecordError(played.step, "it was changed, added or left out: it does not go with its check")
        _count(played, faults[played.seat])
    if len(checks) != index * CHECK_BYTES:
        raise RecordError(
            f"{dealt.step}.checks", f"{index} answers have {index * CHECK_BYTES}, not {len(checks)} bytes"
        )
    return index


def _verify_cause(played: Played) -> None:
    decision = played.decision
    if decision.phase != phase_to_proto(played.phase):
        raise RecordError(f"{played.step}.phase", f"it is {played.phase.name.lower()} that was asked")
    if played.cause in DEFAULT_CAUSES and not played.default:
        cause = played.cause.name.lower()
        raise RecordError(played.step, f"after {cause} the default must be played, and this is another answer")


def _count(played: Played, faults: _Faults) -> None:
    faults.illegal_answers += played.decision.refused
    faults.timeouts += played.cause is Cause.TIMED_OUT
    faults.failures += played.cause is Cause.FAILED
    faults.taken_over |= played.cause is Cause.TAKEN_OVER


def _verify_result(dealt: ReplayedDeal) -> None:
    result = dealt.deal.result
    assert result is not None, "all answers have been played"
    expected = result_to_proto(result)
    names = [field.name for field in pb.Result.DESCRIPTOR.fields]
    _compare(f"{dealt.step}.result", dealt.recorded.result, expected, names)


def _verify_outcome(replay: Replay, counted: Sequence[_Faults]) -> None:
    outcome = replay.record.outcome
    expected = pb.Outcome()
    write_totals(replay.options, replay.match.results, expected)
    _compare("outcome", outcome, expected, ("points", "beans", "titles"))
    if len(outcome.faults) != SEATS:
        raise RecordError("outcome.faults", f"there are {SEATS} seats, not {len(outcome.faults)}")
    for seat, (told, found) in enumerate(zip(outcome.faults, counted, strict=True)):
        for name in ("timeouts", "illegal_answers", "failures"):
            if getattr(told, name) != getattr(found, name):
                what = f"the answers tell of {getattr(found, name)}, and it is {getattr(told, name)}"
                raise RecordError(f"outcome.faults[{seat}].{name}", what)
        if found.taken_over and not told.taken_over:
            raise RecordError(f"outcome.faults[{seat}].taken_over", "a house bot did play on in the seat")
    _verify_ending(outcome)


def _verify_ending(outcome: pb.Outcome) -> None:
    if outcome.ending not in _COUNTING:
        raise RecordError("outcome.ending", "the match was played to its end, and this says otherwise")
    blamed = list(outcome.blamed)
    if blamed != sorted({seat for seat in blamed if seat < SEATS}):
        raise RecordError("outcome.blamed", f"seats in ascending order, and not {blamed}")
    if bool(blamed) != (outcome.ending == match_service_pb2.ENDING_COMPLETED_WITH_FAULTS):
        raise RecordError("outcome.blamed", "somebody is to blame if and only if the match ended with faults")


def _compare(step: str, recorded: Message, expected: Message, names: Sequence[str]) -> None:
    for name in names:
        ours, theirs = _value(expected, name), _value(recorded, name)
        if ours != theirs:
            raise RecordError(f"{step}.{name}", f"it must be {_shown(ours)}, and is {_shown(theirs)}")


def _value(message: Message, name: str) -> object:
    # The stubs of protobuf let `Message.HasField` take no name at all.
    is_set = name in (field.name for field, _ in message.ListFields())
    if message.DESCRIPTOR.fields_by_name[name].has_presence and not is_set:
        return None
    value: Any = getattr(message, name)
    return value if isinstance(value, int | str | bytes | Message) else list(value)


def _shown(value: object) -> str:
    return "nothing" if value is None else " ".join(str(value).split())
