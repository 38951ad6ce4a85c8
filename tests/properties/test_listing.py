"""What a hand can play, against an oracle that tries every subset of the hand."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bots_sdk.rules.cards import BIG_JOKER, FACE_OF, GUARD_JOKER, SMALL_JOKER
from bots_sdk.rules.hands import count_face
from bots_sdk.rules.listing import follows, leads
from bots_sdk.rules.options import FIRST_STRENGTH, Options
from bots_sdk.rules.plays import Holding, Pattern, Shape, beats, pattern_of, shape_of, shape_with_special
from bots_sdk.rules.profiles import change_options

OPTIONS = {
    "bare": {},
    "roast": {"roast": True},
    "hung_by_hung": {"hung_by_hung": True},
    "hold_back": {"hold_back": "3"},
    "three_twos": {"three_twos": True},
    "all": {"roast": True, "hung_by_hung": True, "hold_back": "3", "three_twos": True},
}
CARDS = [0, 0, 1, 2, 4, 5, 5, 6, 48, 48, 49, 50, 52, 52, 54, 53, 53, 55]
"""Threes, fours, twos and jokers: few ranks, so that plays are frequent."""


def subsets(hand: bytes) -> set[bytes]:
    return {bytes(some) for size in range(1, len(hand) + 1) for some in combinations(hand, size)}


def shape_in(cards: bytes, holding: Holding, special: bool) -> Shape | None:
    return shape_with_special(cards, FACE_OF[holding.guard_card]) if special else shape_of(cards)


def all_patterns(options: Options, holding: Holding, table: Shape | None, several: bool) -> set[Pattern]:
    """Every pattern that some subset makes and the rules allow; `several`: the emperor may choose the way."""
    found = set()
    for cards in subsets(holding.hand):
        copies = count_face(cards, FACE_OF[holding.guard_card]) if holding.special else 0
        ways = [copies > 0]
        if several and 0 < copies < count_face(holding.hand, FACE_OF[holding.guard_card]):
            ways = [False, True]
        for special in ways:
            shape = shape_in(cards, holding, special)
            if shape is None or (table is not None and not beats(options, table, shape)):
                continue
            if options.hold_back and shape.rank == FIRST_STRENGTH[options.hold_back] and cards != holding.hand:
                continue
            pattern = pattern_of(holding, cards, special)
            assert pattern is not None
            found.add(pattern)
    return found


def random_holding(rng: Random, special: bool) -> tuple[Holding, bool]:
    hand = bytes(sorted(rng.sample(CARDS, rng.randrange(1, 10))))
    faces = sorted(set(hand) - {55})
    if not faces or (not special and rng.random() < 0.4):
        return Holding(hand, -1, False), False
    if special:
        # A guard has one copy of the face; a solo emperor may have more.
        face = rng.choice(faces)
        card = face if face in (BIG_JOKER, SMALL_JOKER) or face < SMALL_JOKER else SMALL_JOKER
        if card not in hand or (card == SMALL_JOKER and GUARD_JOKER in hand):
            return Holding(hand, -1, False), False
        return Holding(hand, card, True), count_face(hand, FACE_OF[card]) > 1
    single = [card for card in faces if count_face(hand, FACE_OF[card]) == 1 or card == GUARD_JOKER]
    return Holding(hand, rng.choice(single) if single else -1, False), False


def listed_patterns(options: Options, holding: Holding, table: Shape | None) -> list[Pattern]:
    plain, special = leads(options, holding) if table is None else follows(options, holding, table)
    patterns = [pattern_of(holding, cards, False) for cards in plain]
    patterns += [pattern_of(holding, cards, True) for cards in special]
    assert all(cards == bytes(sorted(cards)) for cards in (*plain, *special))
    return [pattern for pattern in patterns if pattern is not None]


@pytest.mark.parametrize("special", [False, True], ids=["guard card", "special card"])
@pytest.mark.parametrize("overrides", OPTIONS.values(), ids=OPTIONS)
@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1))
def test_every_pattern_is_listed_once(overrides: dict[str, object], special: bool, seed: int) -> None:
    options = change_options(Options(), {**overrides, "special_card": special})
    rng = Random(seed)
    holding, several = random_holding(rng, special)
    tables: list[Shape | None] = [None]
    while len(tables) < 4:
        shape = shape_of(bytes(sorted(rng.sample(CARDS, rng.choice([1, 1, 2, 2, 3, 4])))))
        if shape is not None:
            tables.append(shape)
    for table in tables:
        listed = listed_patterns(options, holding, table)
        assert len(listed) == len(set(listed))
        assert set(listed) == all_patterns(options, holding, table, several)
