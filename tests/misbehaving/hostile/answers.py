"""Answers that are none: what a hostile bot says to a request."""

from __future__ import annotations

from baohuang.cards.v1 import answer_pb2
from baohuang.match.v1 import match_service_pb2 as pb
from bots_sdk.rules.cards import CARD_CODES
from tests.misbehaving.raw_bot import RawBot

FURTHEST = (1 << 32) - 1
"""The largest number of a field of 32 bits."""


def silent(_bot: RawBot, _request: pb.Request) -> None:
    """Nothing."""


def _decision(request: pb.Request, **choice: object) -> pb.Decision:
    return pb.Decision(table=request.table, request=request.request, **choice)  # type: ignore[arg-type]


def wrong_word(_bot: RawBot, request: pb.Request) -> pb.Decision:
    return _decision(request, word=answer_pb2.WORD_KICK)


def unknown_word(_bot: RawBot, request: pb.Request) -> pb.Decision:
    return _decision(request, word=77)


def no_cards(_bot: RawBot, request: pb.Request) -> pb.Decision:
    """Bytes out of range."""
    return _decision(request, cards=b"\xff\xfe\x80" * 40)


def cards_not_held(bot: RawBot, request: pb.Request) -> pb.Decision:
    hand = bot.views[request.table].hand
    return _decision(request, cards=bytes([next(card for card in range(CARD_CODES) if card not in hand)]))


def too_many_copies(bot: RawBot, request: pb.Request) -> pb.Decision:
    return _decision(request, cards=bot.views[request.table].hand[:1] * 30)


def whole_deck_twice(_bot: RawBot, request: pb.Request) -> pb.Decision:
    return _decision(request, cards=bytes(range(CARD_CODES)) * 8)


def without_choice(_bot: RawBot, request: pb.Request) -> pb.Decision:
    return _decision(request)


def empty_answer(_bot: RawBot, request: pb.Request) -> pb.Decision:
    return _decision(request, answer=answer_pb2.Answer())


def index_out_of_range(_bot: RawBot, request: pb.Request) -> pb.Decision:
    return _decision(request, index=100_000)


def furthest_index(_bot: RawBot, request: pb.Request) -> pb.Decision:
    return _decision(request, index=FURTHEST)


def two_choices(bot: RawBot, request: pb.Request) -> bytes:
    """What the bot would say honestly, and then other cards in the same oneof: the last one counts."""
    decision = bot.honest(request)
    assert decision is not None
    return decision.SerializeToString() + pb.Decision(cards=b"\xff").SerializeToString()


def for_another_table(bot: RawBot, request: pb.Request) -> pb.Decision:
    return _for(bot, request, table=request.table + 1_000_000)


def for_a_table_of_others(bot: RawBot, request: pb.Request) -> pb.Decision:
    """There is one next to it, before or after."""
    return _for(bot, request, table=request.table + 1 if request.table == 1 else request.table - 1)


def of_the_past(bot: RawBot, request: pb.Request) -> pb.Decision | None:
    return _for(bot, request, request=request.request - 1) if request.request > 1 else None


def of_the_future(bot: RawBot, request: pb.Request) -> pb.Decision:
    return _for(bot, request, request=request.request + 1)


def of_request_0(bot: RawBot, request: pb.Request) -> pb.Decision:
    return _for(bot, request, request=0)


def of_the_furthest_request(bot: RawBot, request: pb.Request) -> pb.Decision:
    return _for(bot, request, request=FURTHEST)


def _for(bot: RawBot, asked: pb.Request, table: int | None = None, request: int | None = None) -> pb.Decision:
    decision = bot.honest(asked)
    assert decision is not None
    decision.table = asked.table if table is None else table
    decision.request = asked.request if request is None else request
    return decision
