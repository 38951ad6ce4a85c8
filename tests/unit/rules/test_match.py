"""A match: dealers, tribute, void deals, points."""

from __future__ import annotations

from random import Random

import pytest

from bots_sdk.rules.answers import Word
from bots_sdk.rules.events import DealStarted
from bots_sdk.rules.match import MAX_VOIDS, Match
from bots_sdk.rules.options import Options
from bots_sdk.rules.profiles import PROFILES, make_options
from bots_sdk.rules.shuffle import deck_order, pack

SECRET = b"a secret of the tests"


def match_of(options: Options, deals: int) -> Match:
    return Match(options, deals, lambda number: deck_order(options, SECRET, number))


def play_deal(match: Match, rng: Random) -> None:
    while not match.deal.is_over:
        seat = match.deal.asked[0]
        match.answer(seat, rng.choice(match.deal.legal(seat)))


@pytest.mark.parametrize("profile", PROFILES)
def test_the_emperor_deals_next_and_points_add_up(profile: str) -> None:
    rng = Random(profile)
    match = match_of(PROFILES[profile], 4)
    started = match.start()[0]
    assert isinstance(started, DealStarted)
    assert (started.number, started.dealer, started.tribute) == (0, 0, None)
    while True:
        play_deal(match, rng)
        if match.over:
            break
        last = match.deal.result
        assert last is not None
        started = match.next_deal()[0]
        assert isinstance(started, DealStarted)
        assert started.number == len(match.results)
        if not last.voided:
            assert started.dealer == last.emperor
            assert started.tribute == last.tribute
    assert [result.number for result in match.results] == [0, 1, 2, 3]
    assert sum(match.points) == 0
    with pytest.raises(ValueError, match="match is over"):
        match.next_deal()


def test_a_deal_must_be_over_before_the_next() -> None:
    match = match_of(PROFILES["qingdao"], 2)
    match.start()
    with pytest.raises(ValueError, match="deal is not over"):
        match.next_deal()


def test_a_void_deal_takes_the_next_shuffle_and_a_match_of_voids_ends() -> None:
    # Dealt from the sorted pack nobody holds three of a face, so nobody can accept.
    options = make_options("qingdao", {"grab": "none"})
    asked: list[int] = []

    def deck_for(number: int) -> bytes:
        asked.append(number)
        return pack(options)

    match = Match(options, 2, deck_for)
    match.start()
    while not match.over:
        while not match.deal.is_over:
            seat = match.deal.asked[0]
            assert [answer.word for answer in match.deal.legal(seat)] == [Word.PASS]
            match.answer(seat, match.deal.default(seat))
        if not match.over:
            match.next_deal()
    assert asked == list(range(2 * MAX_VOIDS))
    assert MAX_VOIDS == 100, "deal d begins with shuffle 100 d (docs/shuffle.md)"
    assert [result.voided for result in match.results] == [True, True]
    assert [result.number for result in match.results] == [0, 1]
    assert match.points == (0, 0, 0, 0, 0)
    assert match.results[0].places == ()


def test_a_void_deal_is_dealt_again_by_the_same_dealer_with_the_same_tribute_owed() -> None:
    # The second deal comes from the sorted pack first, in which nobody holds three of a face, and from a shuffle then.
    options = make_options("bean-qingdao", {"grab": "none", "sticker": "none"})
    match = Match(
        options, 2, lambda number: pack(options) if number == MAX_VOIDS else deck_order(options, SECRET, number)
    )
    match.start()
    play_deal(match, Random(0))
    owed = match.results[0].tribute
    assert owed is not None
    assert owed.pay
    started = []
    for shuffle in (MAX_VOIDS, MAX_VOIDS + 1):
        started += match.next_deal()[:1]
        assert match.shuffle == shuffle
        while not match.deal.is_over:
            match.answer(match.deal.asked[0], match.deal.default(match.deal.asked[0]))
    assert [(event.number, event.dealer, event.tribute) for event in started if isinstance(event, DealStarted)] == [
        (1, match.results[0].emperor, owed)
    ] * 2
    assert match.over


def test_voids_of_one_deal_do_not_shift_the_decks_of_the_next() -> None:
    asked: list[int] = []

    def deck_for(number: int) -> bytes:
        asked.append(number)
        return deck_order(PROFILES["qingdao"], SECRET, number)

    match = Match(PROFILES["qingdao"], 3, deck_for)
    match.start()
    while not match.over:
        while not match.deal.is_over:
            seat = match.deal.asked[0]
            match.answer(seat, match.deal.default(seat))
        if not match.over:
            match.next_deal()
    firsts = [number for number in asked if number % 100 == 0]
    assert firsts == [0, 100, 200]
    assert asked == sorted(asked)


def test_a_match_has_deals() -> None:
    with pytest.raises(ValueError, match="at least one"):
        match_of(PROFILES["qingdao"], 0)
