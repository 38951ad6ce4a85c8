"""Exchange suits as between the rotations of a deal, and the deal is worth the same to everybody, step by step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bots_sdk.rules.answers import Answer, Word
from bots_sdk.rules.cards import EMPEROR_CARD, STRENGTH_OF
from bots_sdk.rules.deal import Deal
from bots_sdk.rules.errors import IllegalAnswer, Refusal
from bots_sdk.rules.events import Called, DealEnded, Event, HandDealt, Paid, Played, ThronePassed, Took
from bots_sdk.rules.match import Match
from bots_sdk.rules.options import Options
from bots_sdk.rules.phases import Phase
from bots_sdk.rules.plays import pattern_of
from bots_sdk.rules.shuffle import MOST_SUITS, decks_of, suit_table
from bots_sdk.rules.view import View
from tests.properties.random_deals import GAMES, random_answer, random_start

Table = bytes


def exchanged(cards: bytes, table: Table) -> bytes:
    return bytes(sorted(cards.translate(table)))


def answer_with(answer: Answer, table: Table) -> Answer:
    return answer._replace(cards=exchanged(answer.cards, table))


def event_with(event: Event, table: Table) -> Event:
    """The event as it is told when suits are exchanged: every card in it, and nothing else, is another."""
    match event:
        case HandDealt(cards) | Played(_, cards, _):
            return event._replace(cards=exchanged(cards, table))
        case Paid(_, card) | Took(_, card):
            return event._replace(card=table[card])
        case ThronePassed(_, sticker) if sticker is not None:
            return event._replace(sticker=table[sticker])
        case Called(_, face, _) if face is not None:
            return event._replace(face=table[face])
        case DealEnded():
            return event._replace(hands=tuple(exchanged(hand, table) for hand in event.hands))
        case _:
            return event


def ranks_of(answer: Answer) -> tuple[object, ...]:
    return (answer.word, [STRENGTH_OF[card] for card in answer.cards], answer.amount, answer.special)


def patterns(view: View) -> list[tuple[object, ...]]:
    """The legal answers in play, as far as they can be told apart without suits, in their order."""
    holding = view.holding
    return [
        (answer.word, pattern_of(holding, answer.cards, special_in(view, answer)) if answer.cards else None)
        for answer in view.legal()
    ]


def special_in(view: View, answer: Answer) -> bool:
    """The answer plays the special card: said so by the emperor, or a guard's card of that face."""
    return answer.special or (view.holding.special and not view.is_emperor and view.guard_card in answer.cards)


def compare(deal: Deal, other: Deal, table: Table) -> None:
    """Who is asked what, what each may say, and what is said for it if it says nothing."""
    assert (other.phase, other.asked) == (deal.phase, deal.asked)
    for seat in deal.asked:
        view, twin = deal.view(seat), other.view(seat)
        assert twin.hand == exchanged(view.hand, table)
        assert twin.guard_card == (table[view.guard_card] if view.guard_card >= 0 else -1)
        assert twin.public.sizes == view.public.sizes
        if deal.phase is Phase.PLAY:
            assert patterns(twin) == patterns(view)
        else:
            legal = sorted(answer_with(answer, table) for answer in view.legal())
            assert sorted(twin.legal()) == legal
        assert ranks_of(twin.default()) == ranks_of(view.default())


def refusal_of(deal: Deal, seat: int, answer: Answer) -> Refusal | None:
    try:
        deal.verify(seat, answer)
    except IllegalAnswer as refused:
        return refused.refusal
    return None


def any_answer(deal: Deal, rng: Random) -> Answer:
    """Something that a seat could say, legal or not: mostly cards that somebody holds."""
    hand = deal.hand(rng.randrange(5)) or bytes((EMPEROR_CARD,))
    first = rng.choice(hand)
    cards = [card for card in hand if STRENGTH_OF[card] == STRENGTH_OF[first]][: rng.choice((1, 1, 2, 3))]
    return Answer(rng.choice(list(Word)), bytes(sorted(cards)), rng.choice((0, 0, 0, 1)), rng.random() < 0.2)


def steps(deal: Deal, other: Deal, table: Table, rng: Random) -> Iterator[tuple[int, Answer]]:
    """Plays a deal to its end as it is and with other suits, by the same answers, and compares every step."""
    while not deal.is_over:
        compare(deal, other, table)
        wrong = any_answer(deal, rng)
        for seat in deal.asked:
            assert refusal_of(deal, seat, wrong) == refusal_of(other, seat, answer_with(wrong, table)), wrong
        seat, answer = random_answer(deal, rng)
        yield seat, deal.verify(seat, answer)


def play_deal(options: Options, rng: Random) -> Counter[str]:
    """One deal, often stacked; says what came up in it."""
    deal, events, hands = random_start(options, rng)
    table = suit_table(options, rng.randbytes(32), rng.randint(1, MOST_SUITS))
    public = deal.public
    twins = tuple(exchanged(hand, table) for hand in hands)
    other, told = Deal.start(options, 0, public.dealer, twins, public.tribute)
    assert told == [event_with(event, table) for event in events]
    seen = Counter[str]()
    for seat, answer in steps(deal, other, table, rng):
        seen[answer.word.name] += 1
        seen["sticker"] += answer.word is Word.PASS and bool(answer.cards)
        seen["special"] += answer.special
        seen["suits"] += answer_with(answer, table) != answer
        events = deal.answer(seat, answer)
        assert other.answer(seat, answer_with(answer, table)) == [event_with(event, table) for event in events]
    assert other.result == deal.result, "places, points, beans and tribute"
    return seen


@pytest.mark.parametrize("options", GAMES.values(), ids=GAMES)
@settings(max_examples=6)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_deal_with_other_suits_is_worth_the_same(options: Options, seed: int) -> None:
    play_deal(options, Random(seed))


def test_everything_that_names_a_card_came_up() -> None:
    seen = Counter[str]()
    for name, options in GAMES.items():
        for seed in range(5):
            seen += play_deal(options, Random(f"{name} {seed}"))
    for word in ("PAY", "TAKE", "CALL", "DARK", "BRIGHT", "PLAY", "SOLO", "REVEAL", "REBEL", "sticker", "special"):
        assert seen[word], seen
    assert seen["suits"] > seen["PLAY"] / 2


@pytest.mark.parametrize("options", GAMES.values(), ids=GAMES)
@settings(max_examples=2)
@given(seed=st.integers(0, 2**32 - 1), suits=st.integers(1, MOST_SUITS))
def test_a_match_with_other_suits_comes_to_the_same(options: Options, seed: int, suits: int) -> None:
    """From the secret on: dealers, void deals, tribute owed, and the points that titles go by."""
    rng = Random(seed)
    secret = rng.randbytes(32)
    table = suit_table(options, secret, suits)
    match, other = Match(options, 2, decks_of(options, secret)), Match(options, 2, decks_of(options, secret, suits))
    events, told = match.start(), other.start()
    while True:
        assert told == [event_with(event, table) for event in events]
        assert [other.deal.hand(seat) for seat in range(5)] == [
            exchanged(match.deal.hand(seat), table) for seat in range(5)
        ]
        while not match.deal.is_over:
            assert other.deal.asked == match.deal.asked
            seat, answer = random_answer(match.deal, rng)
            events = match.answer(seat, answer)
            assert other.answer(seat, answer_with(answer, table)) == [event_with(event, table) for event in events]
        if match.over:
            break
        events, told = match.next_deal(), other.next_deal()
    assert (other.over, other.results, other.points) == (True, match.results, match.points)
    assert other.shuffles == match.shuffles
