"""Each rotation of a deal is dealt with other suits: in whole tournaments, and in every attempt at a match."""

from __future__ import annotations

import pytest

from bots_sdk.replay import decompress_record, record_from_bytes, verify_record
from bots_sdk.replay.playing import Replay
from bots_sdk.rules.cards import SEATS, STRENGTH_OF
from bots_sdk.rules.shuffle import MOST_SUITS
from services.ledger.ledger import Ledger
from services.ledger.values import TournamentState
from tests.integration.tournament.playing import Stored, desk_of, play

SPEC = """\
name: cup
{game}
bots: [{bots}]
schedule: {schedule}
duplicate: {duplicate}
deals: 2
seed: one
"""
QINGDAO = "profile: qingdao"
SHORT = "profile: bean\noptions: {drop_low: 3, beans: true}"


def stored_in(ledger: Ledger, duplicate: str, *, bots: int = 5, game: str = QINGDAO, schedule: str = "full") -> Stored:
    names = ", ".join(f'"house:{"greedy" if number % 2 else "random"}#{number + 2}"' for number in range(bots))
    return Stored(ledger, SPEC.format(game=game, bots=names, schedule=schedule, duplicate=duplicate))


async def test_each_rotation_has_suits_of_its_own_and_every_attempt_at_it_the_same(ledger: Ledger) -> None:
    stored = stored_in(ledger, "rotation", bots=6)
    again = stored.fixtures.__class__(stored.spec, stored.schedule, stored.fixtures._secret, {})
    for group in range(stored.schedule.groups):
        numbers = stored.schedule.numbers(group)
        orders = [stored.fixtures.order(number, f"first {number}") for number in numbers]
        assert [order.suits for order in orders] == list(range(MOST_SUITS + 1))
        assert len({order.secret for order in orders}) == 1
        later = [again.order(number, f"after a restart {number}") for number in reversed(numbers)]
        assert [(order.secret, order.suits) for order in reversed(later)] == [
            (order.secret, order.suits) for order in orders
        ]


@pytest.mark.parametrize(
    ("duplicate", "schedule"), [("none", "full"), ("par", "full"), ("field", "{kind: rounds, rounds: 2}")]
)
async def test_where_no_bot_sees_a_deal_twice_suits_are_as_shuffled(
    ledger: Ledger, duplicate: str, schedule: str
) -> None:
    stored = stored_in(ledger, duplicate, bots=10, schedule=schedule)
    assert {stored.fixtures.order(number, "a").suits for number in range(stored.fixtures.matches)} == {0}
    record = record_from_bytes(decompress_record(play(stored.fixtures.order(1, "a")).record))
    assert (record.format, record.suits) == (1, 0)


@pytest.mark.parametrize("game", [QINGDAO, SHORT])
async def test_a_tournament_with_rotation_is_played_with_five_suits_and_counted_in_whole_blocks(
    ledger: Ledger, game: str
) -> None:
    stored = stored_in(ledger, "rotation", game=game)
    assert await stored.play_all() is TournamentState.FINISHED
    desk = desk_of(ledger)
    held: list[dict[str, bytes]] = []
    for number in stored.schedule.numbers(0):
        record = record_from_bytes(decompress_record(await desk.record("cup", number)))
        verify_record(record)
        assert record.suits == stored.schedule.match(number).rotation == len(held)
        assert record.format == (2 if record.suits else 1)
        first = next(iter(Replay(record).deals())).deal
        held.append({record.players[seat].name: first.hand(seat) for seat in range(SEATS)})
    # Each bot holds each hand once, never twice the same cards, and the same ranks as whoever held it before.
    for name in stored.spec.entrants:
        ranks = {ranks_of(hands[name]) for hands in held}
        assert ranks == {ranks_of(hand) for hand in held[0].values()}
        assert len(ranks) == SEATS
    dealt = [hand for hands in held for hand in hands.values()]
    assert len(set(dealt)) == len(dealt) == SEATS * SEATS
    (line, *_) = await desk.standings("cup")
    assert (line.deals, line.blocks) == (2 * SEATS, 2)


async def test_a_match_that_is_played_again_is_dealt_the_same_cards(ledger: Ledger) -> None:
    stored = stored_in(ledger, "rotation")
    number = stored.schedule.numbers(0)[3]
    records = [
        record_from_bytes(decompress_record(play(stored.fixtures.order(number, attempt)).record))
        for attempt in ("void", "again")
    ]
    hands = [[next(iter(Replay(record).deals())).deal.hand(seat) for seat in range(SEATS)] for record in records]
    assert hands[0] == hands[1]
    assert records[0].commitment != records[1].commitment, "nobody can tell that it is the same match"


def ranks_of(hand: bytes) -> bytes:
    return bytes(STRENGTH_OF[card] for card in hand)
