"""What a match must come to: played out without a wire, and its record played again."""

from __future__ import annotations

from functools import partial

from bots_sdk.house import make_house_bot
from bots_sdk.replay import decompress_record, record_from_bytes, verify_record
from bots_sdk.rules.match import Match
from bots_sdk.rules.shuffle import deck_order
from services.common.matches import MatchOrder, MatchOutcome


def play_out(order: MatchOrder) -> tuple[int, ...]:
    """The points of the match if every seat plays as `RawBot.honest` does."""
    match = Match(order.options, order.deals, partial(deck_order, order.options, order.secret))
    bots = [make_house_bot("random", f"{entrant.bot_id}/{order.attempt}") for entrant in order.seats]
    match.start()
    while True:
        while match.deal.result is not None:
            if match.over:
                return match.points
            match.next_deal()
        seat = next(iter(match.deal.asked))
        match.answer(seat, bots[seat].answer(match.deal.view(seat)))


def points_of(outcome: MatchOutcome) -> tuple[int, ...]:
    """The points of an outcome by seat."""
    return tuple(sum(deal.points[seat] for deal in outcome.deals) for seat in range(5))


def verify_outcome(outcome: MatchOutcome, commitment: bytes | None) -> None:
    """Plays the record of an outcome again. Raises RecordError or AssertionError where anything differs."""
    verified = verify_record(record_from_bytes(decompress_record(outcome.record)), commitment)
    assert verified.points == points_of(outcome)
