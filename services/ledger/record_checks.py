"""Compares the record of a match with what the rows say of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from baohuang.match.v1 import match_service_pb2
from baohuang.record.v1 import record_pb2 as pb
from bots_sdk.errors import ArenaError
from bots_sdk.replay import decompress_record, digest_of, record_from_bytes, verify_record
from bots_sdk.rules.cards import SEATS
from bots_sdk.rules.events import SoloKind
from services.common.matches import Ending

_ENDINGS = {
    Ending.COMPLETED: match_service_pb2.ENDING_COMPLETED,
    Ending.COMPLETED_WITH_FAULTS: match_service_pb2.ENDING_COMPLETED_WITH_FAULTS,
}
_SOLOS = {int(kind): kind.name.lower() for kind in SoloKind}


@dataclass(frozen=True, slots=True)
class Dealt:
    """What the cards of a match come from: the secret of its deals, the nonce of the attempt, the exchange of suits."""

    secret: bytes = field(repr=False)
    nonce: bytes = field(repr=False)
    suits: int


@dataclass(frozen=True, slots=True)
class HeadRow:
    """What the rows say of a match; `faults` by seat: timeouts, illegal answers, disconnects, taken over.

    `blamed` and `decisions` are those of the attempt, None if that is not there. `names` by seat are those of the
    schedule, by which the standings go, and `dealt` is what the schedule has dealt; None where it is not known.
    """

    tournament: str
    number: int
    attempt: str
    ending: Ending | None
    faults: Mapping[int, tuple[int, int, int, bool]]
    blamed: tuple[int, ...] | None = None
    decisions: int | None = None
    names: tuple[str, ...] | None = None
    dealt: Dealt | None = None


@dataclass(frozen=True, slots=True)
class DealRow:
    """What the rows say of a deal; no beans are an empty tuple, `solo` is the label of its kind.

    `spoiled` are seats, and `faults` are by seat, by which bots pay; no faults at all, not even 0, were kept of deals
    of long ago.
    """

    points: tuple[int, ...]
    places: tuple[int, ...]
    emperor: int | None
    guard: int | None
    solo: str | None
    beans: tuple[int, ...]
    voided: int
    spoiled: tuple[int, ...]
    faults: tuple[int | None, ...]

    @property
    def knows_faults(self) -> bool:
        """Whether it was written since it is kept by deal who did what wrong."""
        return any(count is not None for count in self.faults)


def differences(compressed: bytes, head: HeadRow, deals: Sequence[DealRow], *, replay: bool = False) -> Iterator[str]:
    """Each thing in which record and rows differ, in a few words; with `replay` also whether the rules say the same."""
    try:
        record = record_from_bytes(decompress_record(compressed))
    except ArenaError as error:
        yield f"it cannot be read: {error}"
        return
    if record.digest != digest_of(record):
        yield "its digest is not that of what is in it"
    yield from _head(record, head)
    yield from _outcome(record.outcome, head, deals)
    decisions = sum(len(deal.decisions) for deal in record.deals)
    if head.decisions is not None and decisions != head.decisions:
        yield f"decisions: {decisions} in the record, {head.decisions} in the rows"
    yield from _deals(record, deals)
    if replay:
        try:
            verify_record(record)
        except ArenaError as error:
            yield f"the rules say something else: {error}"


def _head(record: pb.MatchRecord, head: HeadRow) -> Iterator[str]:
    named = (record.tournament, record.number, record.match_id)
    if named != (head.tournament, head.number, head.attempt):
        yield f"it is that of match {record.number} of {record.tournament!r}, attempt {record.match_id!r}"
    seated = tuple(player.name for player in record.players)
    if head.names is not None and seated != head.names:
        yield f"its players are {_shown(seated)}, and the schedule seats {_shown(head.names)}"
    if head.dealt is not None:
        if record.secret != head.dealt.secret:
            yield "its deals are not those of the schedule"
        if record.nonce != head.dealt.nonce:
            yield "its nonce is not that of its attempt"
        if record.suits != head.dealt.suits:
            yield f"its suits are exchanged as {record.suits}, and the schedule says {head.dealt.suits}"


def _outcome(outcome: pb.Outcome, head: HeadRow, deals: Sequence[DealRow]) -> Iterator[str]:
    points = tuple(sum(deal.points[seat] for deal in deals) for seat in range(SEATS))
    if tuple(outcome.points) != points:
        yield f"points of the match {_shown(tuple(outcome.points))} in the record, {_shown(points)} in the rows"
    if head.ending is not None and outcome.ending != _ENDINGS.get(head.ending):
        yield f"it ended otherwise than the rows say: {head.ending}"
    if head.blamed is not None and (blamed := tuple(outcome.blamed)) != head.blamed:
        yield f"seats to blame: {_shown(blamed)} in the record, {_shown(head.blamed)} in the rows"
    none = (0, 0, 0, False)
    for seat, faults in enumerate(outcome.faults):
        theirs = (faults.timeouts, faults.illegal_answers, faults.disconnects, faults.taken_over)
        if theirs != (ours := head.faults.get(seat, none)):
            yield f"faults of seat {seat}: {_shown(theirs)} in the record, {_shown(ours)} in the rows"


def _deals(record: pb.MatchRecord, deals: Sequence[DealRow]) -> Iterator[str]:
    last = {deal.number: deal for deal in record.deals}
    if sorted(last) != list(range(len(deals))):
        yield f"it has {len(last)} deals, and the rows {len(deals)}"
        return
    takeovers = _takeovers(record)
    for number, row in enumerate(deals):
        found = _deal_row([deal for deal in record.deals if deal.number == number], takeovers[number])
        for name in DealRow.__slots__:
            if name in ("spoiled", "faults") and not row.knows_faults:
                continue
            ours, theirs = getattr(row, name), getattr(found, name)
            # Of a deal that is void for good the rows count every void shuffle, and beans of 0.
            if ours != theirs and not (last[number].result.voided and name in ("voided", "beans")):
                yield f"deal {number}: {name} {_shown(theirs)} in the record, {_shown(ours)} in the rows"


def _deal_row(dealt: Sequence[pb.Deal], takeovers: Counter[int]) -> DealRow:
    """What the record says of a deal, dealt so many times until somebody wanted it."""
    result = dealt[-1].result
    decisions = [one for deal in dealt for one in deal.decisions]
    faults = takeovers.copy()
    for one in decisions:
        faults[one.seat] += one.refused + (one.cause == pb.CAUSE_TIMED_OUT)
    return DealRow(
        points=tuple(result.points) or (0,) * SEATS,
        places=tuple(result.places),
        emperor=result.emperor if result.HasField("emperor") else None,
        guard=result.guard if result.HasField("guard") else None,
        solo=_SOLOS.get(result.solo, str(result.solo)) if result.solo else None,
        beans=tuple(result.beans.beans) if result.HasField("beans") else (),
        voided=len(dealt) - 1,
        spoiled=tuple(sorted({one.seat for one in decisions if one.cause != pb.CAUSE_ANSWERED})),
        faults=tuple(faults[seat] for seat in range(SEATS)),
    )


def _takeovers(record: pb.MatchRecord) -> defaultdict[int, Counter[int]]:
    """By deal the seats that were taken over in it: after the last timeout of such a seat its house bot plays."""
    last = {one.seat: deal.number for deal in record.deals for one in deal.decisions if one.cause == pb.CAUSE_TIMED_OUT}
    found: defaultdict[int, Counter[int]] = defaultdict(Counter)
    for seat, faults in enumerate(record.outcome.faults):
        if faults.taken_over and seat in last:
            found[last[seat]][seat] += 1
    return found


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)
