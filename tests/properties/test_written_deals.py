"""Deals with any cards: they are refused with a reason before they begin, or can be played to their end."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bots_sdk.rules.cards import EMPEROR_CARD, SEATS
from bots_sdk.rules.deal import Deal
from bots_sdk.rules.deal_notation import WrittenDeal, format_deal, parse_deal
from bots_sdk.rules.errors import DealError
from bots_sdk.rules.events import Tribute
from bots_sdk.rules.options import Options
from bots_sdk.rules.shuffle import pack
from tests.properties.random_deals import GAMES, random_steps


def some_hands(options: Options, rng: Random) -> tuple[bytes, ...]:
    """A few faces, mostly in four copies so that somebody may call, in hands of any size."""
    faces = sorted(set(pack(options)) - {EMPEROR_CARD})
    cards = [EMPEROR_CARD] * rng.choice([1, 1, 1, 1, 1, 0, 2])
    for face in rng.sample(faces, rng.randrange(1, 8)):
        cards += [face] * rng.choice([4, 4, 4, pack(options).count(face), rng.randrange(1, 6)])
    if 54 in faces and rng.random() < 0.8:
        cards.append(54)
    if rng.random() < 0.05:
        cards.append(rng.randrange(256))
    favourite = rng.randrange(SEATS)
    hands: list[list[int]] = [[] for _ in range(SEATS)]
    for card in cards:
        hands[favourite if rng.random() < 0.4 else rng.randrange(SEATS)].append(card)
    return tuple(bytes(sorted(hand)) for hand in hands)


def some_tribute(rng: Random) -> Tribute | None:
    if rng.random() < 0.6:
        return None
    pay, take = (
        tuple((rng.randrange(SEATS), rng.choice([0, 1, 1, 2])) for _ in range(rng.randrange(4))) for _ in range(2)
    )
    return Tribute(pay, take if rng.random() < 0.3 else tuple((rng.randrange(SEATS), n) for _, n in pay))


def course(options: Options, seed: int) -> str:
    """Play a deal with some cards; how it went."""
    rng = Random(seed)
    hands, tribute = some_hands(options, rng), some_tribute(rng)
    written = WrittenDeal(options, rng.randrange(SEATS), hands, tribute)
    try:
        deal, _ = written.start()
    except DealError:
        return "refused"
    assert parse_deal(format_deal(written)) == written
    for seat, answer in random_steps(deal, rng):
        check(deal, seat)
        deal.answer(seat, answer)
    result = deal.result
    assert result is not None
    assert sum(result.points) == 0
    if not result.voided:
        assert sorted(result.places) == list(range(SEATS))
    return "void" if result.voided else "played"


def check(deal: Deal, seat: int) -> None:
    """Every question to the view of a seat that is asked has an answer."""
    view = deal.view(seat)
    default = view.default()
    assert view.verify(default) == default
    assert len(view.unseen) <= len(pack(deal.options)) - len(view.hand)
    assert [view.on_my_side(other) for other in range(SEATS)]


@pytest.mark.parametrize("options", GAMES.values(), ids=GAMES)
@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1))
def test_any_cards_are_refused_or_can_be_played(options: Options, seed: int) -> None:
    course(options, seed)


def test_each_happens_often() -> None:
    courses = [course(options, seed) for options in GAMES.values() for seed in range(25)]
    for kind, least in (("refused", 100), ("played", 100), ("void", 2)):
        assert courses.count(kind) > least, kind
