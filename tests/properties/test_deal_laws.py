"""Laws that hold for every deal of every kind of game."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bots_sdk.rules.answers import Answer, Word
from bots_sdk.rules.cards import SEATS
from bots_sdk.rules.deal import Deal
from bots_sdk.rules.errors import IllegalAnswer
from bots_sdk.rules.events import HandDealt
from bots_sdk.rules.notation import format_answer, parse_answer
from bots_sdk.rules.options import Options
from bots_sdk.rules.phases import Phase
from bots_sdk.rules.public import PublicState
from bots_sdk.rules.shuffle import pack
from bots_sdk.rules.view import View
from tests.properties.random_deals import GAMES, random_start, random_steps

SEEDS = st.integers(0, 2**32 - 1)
every_game = pytest.mark.parametrize("options", GAMES.values(), ids=GAMES)
a_few = settings(max_examples=5)


def snapshot(deal: Deal) -> tuple[object, ...]:
    """Everything there is to know about a deal, comparable."""
    seats = [(deal.hand(seat), deal.view(seat).answered) for seat in range(SEATS)]
    return (public_facts(deal.public), seats, deal.asked)


def public_facts(public: PublicState) -> dict[str, object]:
    facts = {name: getattr(public, name) for name in PublicState.__slots__}
    return facts | {"sizes": list(public.sizes), "history": list(public.history)}


@every_game
@a_few
@given(seed=SEEDS)
def test_cards_are_conserved_and_the_deal_ends(options: Options, seed: int) -> None:
    rng = Random(seed)
    deal, _, _ = random_start(options, rng)
    steps = 0
    for seat, answer in random_steps(deal, rng):
        deal.answer(seat, answer)
        steps += 1
        played = b"".join(play.cards for play in deal.public.history)
        hands = b"".join(deal.hand(other) for other in range(SEATS))
        assert bytes(sorted(played + hands + deal.public.pool)) == pack(options)
        assert deal.public.sizes == [len(deal.hand(other)) for other in range(SEATS)]
    assert steps < 3000
    assert deal.asked == ()
    result = deal.result
    assert result is not None
    assert sum(result.points) == 0
    if not result.voided:
        assert sorted(result.places) == list(range(SEATS))


@every_game
@a_few
@given(seed=SEEDS)
def test_listed_answers_are_verified_as_they_are(options: Options, seed: int) -> None:
    rng = Random(seed)
    deal, _, _ = random_start(options, rng)
    for seat, answer in random_steps(deal, rng):
        legal = deal.legal(seat)
        assert legal
        assert len(set(legal)) == len(legal)
        for one in legal:
            assert deal.verify(seat, one) == one
            assert parse_answer(format_answer(one)) == one
        default = deal.default(seat)
        assert deal.verify(seat, default) == default
        deal.answer(seat, answer)


@every_game
@a_few
@given(seed=SEEDS)
def test_what_is_refused_changes_nothing(options: Options, seed: int) -> None:
    rng = Random(seed)
    deal, _, _ = random_start(options, rng)
    for number, (seat, answer) in enumerate(random_steps(deal, rng)):
        if number % 7 == 0:
            before = snapshot(deal)
            for _ in range(8):
                bad_seat = rng.randrange(-1, SEATS + 1)
                bad = random_garbage(deal, seat, rng)
                if not is_legal(deal, bad_seat, bad):
                    with pytest.raises(IllegalAnswer) as caught:
                        deal.answer(bad_seat, bad)
                    assert caught.value.refusal
                    assert snapshot(deal) == before
        deal.answer(seat, answer)
    with pytest.raises(IllegalAnswer):
        deal.answer(0, Answer(Word.PASS))


def random_garbage(deal: Deal, seat: int, rng: Random) -> Answer:
    hand = deal.hand(seat)
    cards = bytes(rng.randrange(256) for _ in range(rng.randrange(4)))
    if hand and rng.random() < 0.7:
        cards = bytes(rng.sample(list(hand), min(len(hand), rng.randrange(1, 6))))
    return Answer(rng.choice(list(Word)), cards, rng.choice([0, 0, 0, 1, 99]), rng.random() < 0.2)


def is_legal(deal: Deal, seat: int, answer: Answer) -> bool:
    """An independent, slow opinion: the answer, with equal cards exchanged, is among those listed."""
    if seat not in deal.asked:
        return False
    if deal.phase is not Phase.PLAY or answer.word is not Word.PLAY:
        return answer in deal.legal(seat)
    try:
        deal.verify(seat, answer)
    except IllegalAnswer:
        return False
    return True


@every_game
@a_few
@given(seed=SEEDS)
def test_a_play_is_legal_if_and_only_if_its_pattern_is_listed(options: Options, seed: int) -> None:
    rng = Random(seed)
    deal, _, _ = random_start(options, rng)
    for number, (seat, answer) in enumerate(random_steps(deal, rng)):
        if deal.phase is Phase.PLAY and number % 3 == 0:
            view = deal.view(seat)
            listed = {kind_of(view, one) for one in deal.legal(seat) if one.word is Word.PLAY}
            for _ in range(6):
                cards = bytes(sorted(rng.sample(list(view.hand), min(len(view.hand), rng.randrange(1, 4)))))
                tried = Answer(Word.PLAY, cards, 0, view.is_alone and rng.random() < 0.3)
                try:
                    kind = kind_of(view, view.verify(tried))
                except IllegalAnswer:
                    assert kind_of(view, tried) not in listed or tried.special
                else:
                    assert kind in listed
        deal.answer(seat, answer)


def kind_of(view: View, answer: Answer) -> tuple[object, ...]:
    """Strengths of the cards, and how the guard card is in it, counted anew and slowly."""
    strengths = Counter(13 + (card in (53, 55)) if card >= 52 else card // 4 for card in answer.cards)
    guard_card = view.guard_card
    if view.is_emperor and view.options.special_card:
        # For a solo emperor any card of the face will do: what counts is whether one is played as the special card.
        if answer.special:
            strengths[13 + (guard_card in (53, 55)) if guard_card >= 52 else guard_card // 4] -= 1
        return frozenset(+strengths), tuple(sorted((+strengths).items())), answer.special
    return (), tuple(sorted(strengths.items())), guard_card >= 0 and guard_card in answer.cards


@every_game
@a_few
@given(seed=SEEDS)
def test_replaying_the_answers_gives_the_same_events(options: Options, seed: int) -> None:
    rng = Random(seed)
    deal, events, hands = random_start(options, rng)
    dealer, tribute = deal.public.dealer, deal.public.tribute
    answers = []
    for seat, answer in random_steps(deal, rng):
        answers.append((seat, answer))
        events += deal.answer(seat, answer)
    again, events_again = Deal.start(options, 0, dealer, hands, tribute)
    for seat, answer in answers:
        events_again += again.answer(seat, answer)
    assert events_again == events
    assert snapshot(again) == snapshot(deal)
    assert again.result == deal.result


@every_game
@a_few
@given(seed=SEEDS)
def test_a_copy_goes_its_own_way(options: Options, seed: int) -> None:
    rng = Random(seed)
    deal, _, _ = random_start(options, rng)
    steps = random_steps(deal, rng)
    for _, (seat, answer) in zip(range(rng.randrange(200)), steps, strict=False):
        deal.answer(seat, answer)
    before = snapshot(deal)
    copy = deal.copy()
    view = deal.view(2).copy()
    assert snapshot(copy) == before
    for seat, answer in random_steps(copy, rng):
        for event in copy.answer(seat, answer):
            view.apply(event)
    assert snapshot(deal) == before
    assert view.hand == copy.hand(2)


@every_game
@a_few
@given(seed=SEEDS)
def test_a_view_folded_from_events_is_the_view_of_the_deal(options: Options, seed: int) -> None:
    rng = Random(seed)
    deal, events, hands = random_start(options, rng)
    views = [View(options, seat) for seat in range(SEATS)]
    for seat, view in enumerate(views):
        view.apply(events[0])
        view.apply(HandDealt(hands[seat]))
    for seat, answer in random_steps(deal, rng):
        for other, view in enumerate(views):
            truth = deal.view(other)
            assert (view.hand, view.asked, view.dark, view.guard_card) == (
                truth.hand, truth.asked, truth.dark, truth.guard_card,
            )  # fmt: skip
            assert public_facts(view.public) == public_facts(deal.public)
        assert views[seat].legal() == deal.legal(seat)
        views[seat].note_answered()
        for event in deal.answer(seat, answer):
            for view in views:
                view.apply(event)


@every_game
@a_few
@given(seed=SEEDS)
def test_roles_a_seat_knows_are_true(options: Options, seed: int) -> None:
    rng = Random(seed)
    deal, _, _ = random_start(options, rng)
    for seat, answer in random_steps(deal, rng):
        if deal.phase is Phase.PLAY:
            guard, emperor = deal.hidden_guard, deal.public.emperor
            for own in range(SEATS):
                view = deal.view(own)
                assert view.is_guard == (guard == own)
                assert view.is_alone == (emperor == own and guard is None)
                assert view.guard in (None, guard)
                court = {emperor, guard}
                for other in range(SEATS):
                    assert view.on_my_side(other) in (None, (own in court) == (other in court))
        deal.answer(seat, answer)


def test_the_random_deals_reach_what_is_rare() -> None:
    """The laws are worth as much as the deals they were tried on."""
    seen: Counter[str] = Counter()
    for options in GAMES.values():
        for seed in range(12):
            rng = Random(seed)
            deal, _, _ = random_start(options, rng)
            for seat, answer in random_steps(deal, rng):
                seen.update(type(event).__name__ for event in deal.answer(seat, answer))
                seen["specials"] += any(play.special for play in deal.public.history[-1:])
            assert deal.result is not None
            seen[str(deal.result.solo)] += 1
            seen["void"] += deal.result.voided
            seen["kicked"] += deal.result.kicked
            seen["rebelled"] += deal.result.rebelled
    wanted = "Paid Took RoleShown Yielded WindClaimed DealVoided KickClosed StakesSet specials void kicked rebelled"
    missing = [name for name in (*wanted.split(), "1", "2", "3") if not seen[name]]
    assert not missing, seen
