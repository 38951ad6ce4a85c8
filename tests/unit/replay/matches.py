"""Recorded matches of random players: every game, some with bots that time out, cheat and are taken over."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from random import Random

from baohuang.match.v1 import match_service_pb2
from baohuang.record.v1 import record_pb2 as pb
from bots_sdk.replay import Cause, RecordBuilder, RecordEnd, RecordHead, record_from_bytes
from bots_sdk.rules.match import Match
from bots_sdk.rules.options import Options
from bots_sdk.rules.phases import Phase
from bots_sdk.rules.profiles import PROFILES, make_options
from bots_sdk.rules.shuffle import decks_of
from tests.properties.random_deals import random_answer

SECRET = bytes(range(32))
NONCE = b"n" * 16
START = datetime(2026, 11, 30, 12, 0, 0, 123456, tzinfo=UTC)
NAMES = ("Anna", "Béla", "保皇", "D", "Emil the Longest")
GAMES: Mapping[str, Options] = {
    **PROFILES,
    "everything": make_options(
        "bean-qingdao", {"stakes": [1, 2, 3], "beans": True, "room": 5, "titles": True, "hold_back": 6}
    ),
}


@cache
def recorded(game: str = "everything", seed: int = 0, length: int = 2, *, faults: bool = True, suits: int = 0) -> bytes:
    """The bytes of the record of a match."""
    options, rng = GAMES[game], Random(f"{game} {seed}")
    head = RecordHead(
        match_id=f"m-{seed}",
        players=tuple((f"bot-{seat}", name) for seat, name in enumerate(NAMES)),
        options=options,
        length=length,
        secret=SECRET + bytes([seed % 256]),
        nonce=NONCE,
        clock=match_service_pb2.Clock(limit_ms=2000, bank_ms=100),
        tournament="cup",
        number=12,
        suits=suits,
    )
    builder = RecordBuilder(head)
    match = Match(options, length, decks_of(options, head.secret, suits))
    blamed, taken_over = play(match, builder, rng, faults=faults)
    with_faults = match_service_pb2.ENDING_COMPLETED_WITH_FAULTS
    return builder.finish(
        RecordEnd(
            ending=with_faults if blamed else match_service_pb2.ENDING_COMPLETED,
            blamed=tuple(sorted(blamed)),
            disconnects=(0, 1, 0, 0, 2),
            taken_over=tuple(seat in taken_over for seat in range(5)),
            started_at=START,
            ended_at=START + timedelta(seconds=3),
        )
    )


def play(match: Match, builder: RecordBuilder, rng: Random, *, faults: bool) -> tuple[set[int], set[int]]:
    blamed, taken_over = set[int](), set[int]()
    match.start()
    while True:
        deal = match.deal
        while deal.result is None:
            seat, answer = random_answer(deal, rng)
            phase = deal.phase
            cause, refused = Cause.ANSWERED, 0
            if faults and rng.random() < 0.1:
                cause = rng.choice(list(Cause))
                refused = 3 if cause is Cause.ILLEGAL else rng.choice([0, 1])
            if cause in (Cause.TIMED_OUT, Cause.ILLEGAL, Cause.FAILED):
                answer = deal.default(seat)
            if cause is Cause.TAKEN_OVER:
                taken_over.add(seat)
            if cause is not Cause.ANSWERED or refused:
                blamed.add(seat)
            answer = deal.verify(seat, answer)
            match.answer(seat, answer)
            elapsed = int(1e6 * rng.expovariate(1000))
            charged = max(0, elapsed - 1000)
            builder.answered(seat, phase, answer, cause, charged_us=charged, elapsed_us=elapsed, refused=refused)
        builder.end_deal(deal)
        if match.over:
            return blamed, taken_over
        match.next_deal()


def record_of(
    game: str = "everything", seed: int = 0, length: int = 2, *, faults: bool = True, suits: int = 0
) -> pb.MatchRecord:
    """A record that may be changed."""
    return record_from_bytes(recorded(game, seed, length, faults=faults, suits=suits))


def record_with_void_deals(suits: int = 0) -> pb.MatchRecord:
    """Two deals; the first is void twice, because nobody accepts and nobody must."""
    options = make_options("classic", {"grab": "none"})
    players = tuple((f"bot-{seat}", name) for seat, name in enumerate(NAMES))
    # Of one secret in a thousand both of the first two shuffles leave nobody with a triple that forces.
    head = RecordHead("m-void", players, options, 2, b"void 28", NONCE, suits=suits)
    match = Match(options, 2, decks_of(options, head.secret, suits))
    builder = RecordBuilder(head)
    match.start()
    while not match.over:
        if match.deal.is_over:
            match.next_deal()
        seat, phase = match.deal.asked[0], match.deal.phase
        legal = match.deal.legal(seat)
        answer = match.deal.verify(seat, legal[-1] if phase is Phase.THRONE and match.shuffles < 3 else legal[0])
        match.answer(seat, answer)
        builder.answered(seat, phase, answer)
        if match.deal.is_over:
            builder.end_deal(match.deal)
    return record_from_bytes(builder.finish(RecordEnd()))
