"""The records a table sends, from its values."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from baohuang.match.v1 import match_service_pb2 as pb
from bots_sdk.convert import answer_to_proto, phase_to_proto, shared_options
from bots_sdk.replay import RecordEnd, RecordHead
from bots_sdk.rules.answers import Answer
from bots_sdk.rules.cards import SEATS
from bots_sdk.rules.errors import IllegalAnswer
from bots_sdk.rules.phases import Phase
from bots_sdk.rules.result import DealResult
from bots_sdk.rules.shuffle import commitment
from services.common.matches import NO_FAULTS, ClockRules, DealScore, Ending, IllegalPolicy, MatchOrder, MatchOutcome
from services.match.clocks import MOST_MS
from services.match.seat import Seat
from services.match.wire import encode_record

SUGGESTED_MARGIN_MS = 50
"""How long before its limit a bot had better answer: some times the cost of a message either way on a busy machine."""

_ENDINGS = {
    Ending.COMPLETED: pb.ENDING_COMPLETED,
    Ending.COMPLETED_WITH_FAULTS: pb.ENDING_COMPLETED_WITH_FAULTS,
    Ending.VOID: pb.ENDING_VOID,
    Ending.NO_SHOW: pb.ENDING_NO_SHOW,
}
_POLICIES = {
    IllegalPolicy.RETRY: pb.ILLEGAL_POLICY_RETRY,
    IllegalPolicy.DEFAULT: pb.ILLEGAL_POLICY_DEFAULT,
}


class Asking(NamedTuple):
    """An open request: where, what for, the last event it rests on, and the legal answers if the bot wants them."""

    table: int
    seat: Seat
    phase: Phase
    event: int
    legal: Sequence[Answer] | None


def seated_of(order: MatchOrder, table: int, seat: int) -> pb.Seated:
    """What a bot is told of its seat."""
    return pb.Seated(
        table=table,
        match_id=order.attempt,
        seat=seat,
        options=shared_options(order.options),
        clock=_clock(order.clock),
        deals=order.deals,
        names=[entrant.name for entrant in order.seats],
        commitment=commitment(order.nonce, order.secret, order.suits),
        ready_ms=_ms(order.clock.ready.total_seconds()),
        illegal_policy=_POLICIES[order.faults.illegal],
        illegal_limit=order.faults.illegal_limit,
        takeover_after=order.faults.takeover_after,
    )


def resumed(order: MatchOrder, table: int, seat: Seat, points: Sequence[int]) -> pb.Resumed:
    """What a bot that comes back is told, without events and request."""
    return pb.Resumed(seated=seated_of(order, table, seat.index), ready_expected=not seat.ready, points=points)


def request_of(asking: Asking, limit: float, bank: float) -> pb.Request:
    """A request with so many seconds left of its limit and of the bank."""
    # 0 means that there is no clock.
    least = 1 if asking.seat.clock.limit else 0
    return pb.Request(
        table=asking.table,
        request=asking.seat.request,
        phase=phase_to_proto(asking.phase),
        limit_ms=max(_ms(limit), least),
        bank_ms=_ms(bank),
        event=asking.event,
        legal=[answer_to_proto(answer) for answer in asking.legal or ()],
    )


def request(asking: Asking) -> bytes:
    """The record that asks a seat, with its whole limit and the legal answers."""
    return encode_record(request_of(asking, asking.seat.clock.limit, asking.seat.clock.bank))


def rejected(table: int, seat: Seat, refused: IllegalAnswer, *, retry: bool) -> bytes:
    """The record that refuses an answer to the open request of `seat`."""
    return encode_record(
        pb.Rejected(table=table, request=seat.request, refusal=refused.refusal.value, message=str(refused), retry=retry)
    )


def taken_over(table: int) -> bytes:
    """The record that says a house bot plays on."""
    return encode_record(pb.TakenOver(table=table))


def match_ended(table: int, order: MatchOrder, outcome: MatchOutcome, points: Sequence[int]) -> bytes:
    """The record that ends a match. The secret is shown only if no other match is to be played with its deals."""
    shown = outcome.ending.counts and not order.withhold
    return encode_record(
        pb.MatchEnded(
            table=table,
            match_id=order.attempt,
            ending=_ENDINGS[outcome.ending],
            blamed=outcome.blamed,
            message=outcome.message,
            points=points,
            secret=order.secret if shown else b"",
            nonce=order.nonce if shown else b"",
            suits=order.suits if shown else 0,
        )
    )


def deal_score(
    order: MatchOrder, number: int, result: DealResult, voided: int, seats: Sequence[Seat] = ()
) -> DealScore:
    """A finished deal for the outcome, with the faults of the seats in it; `voided` shuffles were void before it."""
    beans = result.beans.beans if result.beans is not None else None
    if result.voided and order.options.beans:  # it counts as played, and nobody won anything
        beans = (0,) * SEATS
    return DealScore(
        number=number,
        points=tuple(result.points),
        places=tuple(result.places),
        emperor=result.emperor,
        guard=result.guard,
        solo=result.solo,
        voided=voided,
        beans=beans,
        spoiled=tuple(seat.index for seat in seats if seat.spoils),
        faults=tuple(seat.deal_faults for seat in seats) or NO_FAULTS,
    )


def describe_faults(seats: Sequence[Seat]) -> str:
    """Who did what wrong, for a person; empty if nobody did anything."""
    return "; ".join(f"{seat.entrant.name}: {seat.faults.describe()}" for seat in seats if seat.faults.total)


def record_head(order: MatchOrder) -> RecordHead:
    """What the match record says of the match before it is played."""
    return RecordHead(
        match_id=order.attempt,
        players=tuple((entrant.bot_id, entrant.name) for entrant in order.seats),
        options=order.options,
        length=order.deals,
        secret=order.secret,
        nonce=order.nonce,
        clock=_clock(order.clock),
        tournament=order.tournament,
        number=order.number,
        suits=order.suits,
    )


def record_end(outcome: MatchOutcome) -> RecordEnd:
    """What the match record says of the match when it is over."""
    return RecordEnd(
        ending=_ENDINGS[outcome.ending],
        blamed=outcome.blamed,
        disconnects=tuple(faults.disconnects for faults in outcome.faults),
        taken_over=tuple(faults.taken_over for faults in outcome.faults),
        started_at=outcome.started_at,
        ended_at=outcome.ended_at,
    )


def draining(grace: float) -> bytes:
    """The record that says the service stops in `grace` seconds."""
    return encode_record(pb.Draining(grace_ms=_ms(grace)))


@lru_cache(maxsize=64)
def _clock(rules: ClockRules) -> pb.Clock:
    # One message for all matches: it is copied into others, and never changed.
    return pb.Clock(
        limit_ms=0 if rules.limit is None else _ms(rules.limit.total_seconds()),
        bank_ms=_ms(rules.bank.total_seconds()),
        increment_ms=_ms(rules.increment.total_seconds()),
        suggested_margin_ms=SUGGESTED_MARGIN_MS,
        limits=[
            pb.PhaseLimit(phase=phase_to_proto(phase), limit_ms=_ms(limit.total_seconds()))
            for phase, limit in (rules.limits if rules.limit is not None else ())
        ],
    )


def _ms(seconds: float) -> int:
    """As a field of 32 bits shows it: a bank may grow beyond seven weeks."""
    return min(int(seconds * 1000), MOST_MS)
