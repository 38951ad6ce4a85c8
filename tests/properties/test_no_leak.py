"""Exchange cards a seat cannot see, keep what it can know, and all it sees stays the same."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bots_sdk.rules.answers import SILENT, Answer, Word
from bots_sdk.rules.cards import EMPEROR_CARD, GUARD_JOKER, SEATS
from bots_sdk.rules.deal import Deal
from bots_sdk.rules.errors import IllegalAnswer
from bots_sdk.rules.events import DealEnded, Declaration, Declared, Event, RoleShown, Tribute
from bots_sdk.rules.options import End, Options
from bots_sdk.rules.phases import Phase
from bots_sdk.rules.view import View
from tests.properties.random_deals import GAMES, random_start, random_steps

Answers = list[tuple[int, Answer]]


class Story:
    """A deal up to some moment: how it began, what was answered, what was published."""

    def __init__(self, options: Options, rng: Random) -> None:
        self.options = options
        self.deal, self.events, self.hands = random_start(options, rng)
        self.dealer: int = self.deal.public.dealer
        self.tribute: Tribute | None = self.deal.public.tribute
        self.answers: Answers = []
        length = rng.choice([rng.randrange(25), rng.randrange(15, 80), rng.randrange(15, 400)])
        for seat, answer in random_steps(self.deal, rng):
            before = self.deal.copy()
            events = self.deal.answer(seat, answer)
            if self.deal.is_over:  # then all is shown
                self.deal = before
                break
            self.answers.append((seat, answer))
            self.events += events
            if len(self.answers) > length:
                break

    @property
    def guard_is_public(self) -> bool:
        return any(
            isinstance(event, RoleShown) or (isinstance(event, Declared) and event.outcome is not Declaration.NONE)
            for event in self.events
        )


def exchange(story: Story, watcher: int, rng: Random) -> tuple[tuple[bytes, ...], str] | None:
    """Hands as dealt, with two hidden cards of seats other than the watcher exchanged; and what was exchanged."""
    deal = story.deal
    hidden = [hidden_cards(story, seat) for seat in range(SEATS)]
    first, second = rng.sample([seat for seat in range(SEATS) if seat != watcher], 2)
    secret, guard_card = secret_of(deal)
    if secret not in (watcher, None) and rng.random() < 0.8 and not story.guard_is_public:
        # Move the card that makes the guard; from the emperor to another seat or back it turns dark solo and call.
        first = secret
        second = rng.choice([seat for seat in range(SEATS) if seat not in (first, watcher)])
        if (emperor := deal.public.emperor) not in (first, watcher, None) and rng.random() < 0.4:
            second = emperor or 0
        hidden[first] = bytes((guard_card,)) if guard_card in hidden[first] else b""
    if not hidden[first] or not hidden[second]:
        return None
    one, two = rng.choice(hidden[first]), rng.choice(hidden[second])
    if one == two or (story.guard_is_public and guard_card in (one, two)):
        return None
    hands = [bytearray(hand) for hand in story.hands]
    for seat, gives, gets in ((first, one, two), (second, two, one)):
        hands[seat].remove(gives)
        hands[seat].append(gets)
    kind = "plain"
    if guard_card in (one, two):
        kind = "dark" if deal.public.emperor in (first, second) else "guard"
    return tuple(bytes(sorted(hand)) for hand in hands), kind


def secret_of(deal: Deal) -> tuple[Any, int]:
    """The seat that holds the guard card in secret (the guard, or an emperor in a dark solo), and the card."""
    if deal.hidden_guard is not None:
        return deal.hidden_guard, deal.view(deal.hidden_guard).guard_card
    emperor = deal.public.emperor
    if emperor is None or not deal.view(emperor).dark:
        return None, -1
    called = deal.public.called
    return emperor, GUARD_JOKER if called is None else called


def hidden_cards(story: Story, seat: int) -> bytes:
    """The cards a seat was dealt and still holds, without copies of cards it has shown, to be on the safe side."""
    dealt, held = Counter(story.hands[seat]), Counter(story.deal.hand(seat))
    shown = {card for play in story.deal.public.history for card in play.cards if play.seat == seat}
    shown |= set(story.deal.public.stickers) | {EMPEROR_CARD}
    return bytes(card for card in (dealt & held).elements() if card not in shown)


def retell(story: Story, hands: tuple[bytes, ...]) -> tuple[Deal, list[Event]] | None:
    """The same answers with other hands; None if a seat could not have given them (then the watcher could tell)."""
    deal, events = Deal.start(story.options, 0, story.dealer, hands, story.tribute)
    for seat, answer in story.answers:
        try:
            events += deal.answer(seat, answer)
        except IllegalAnswer:
            # What is said secretly may differ: call for dark, and silence for a rebel's call that came to nothing.
            secret = {Word.CALL: Word.DARK, Word.DARK: Word.CALL}.get(answer.word)
            other = answer._replace(word=secret) if secret else SILENT if answer.word is Word.REBEL else None
            if other is None or other not in deal.legal(seat):
                return None
            events += deal.answer(seat, other)
    return deal, events


def seen(view: View) -> tuple[object, ...]:
    """All that a view answers."""
    properties = [name for name in dir(View) if isinstance(getattr(View, name), property)]
    return (
        {name: getattr(view, name) for name in properties},
        [view.on_my_side(seat) for seat in range(SEATS)],
        view.legal(),
        view.default() if view.asked else None,
        {name: getattr(view.public, name) for name in view.public.__slots__},
        repr(view),
        (view.hand, view.answered, view.dark),
    )


def tell_apart(options: Options, seed: int) -> str:
    """Try one exchange; the kind of it, or what stood in its way."""
    rng = Random(seed)
    story = Story(options, rng)
    watcher = rng.randrange(SEATS)
    exchanged = exchange(story, watcher, rng)
    if exchanged is None:
        return "nothing to exchange"
    hands, kind = exchanged
    retold = retell(story, hands)
    if retold is None:
        return "could not have been answered so"
    deal, events = retold
    if options.end is End.SIDE_OUT and any(isinstance(event, DealEnded) for event in events):
        return "would have ended"  # that a deal goes on is public
    assert events == story.events
    assert hands[watcher] == story.hands[watcher]
    assert seen(deal.view(watcher)) == seen(story.deal.view(watcher))
    assert deal.asked == story.deal.asked
    return kind


@pytest.mark.parametrize("options", GAMES.values(), ids=GAMES)
@settings(max_examples=15)
@given(seed=st.integers(0, 2**32 - 1))
def test_nothing_leaks(options: Options, seed: int) -> None:
    tell_apart(options, seed)


def test_guards_and_dark_solos_were_exchanged_often() -> None:
    kinds = Counter(tell_apart(options, seed) for options in GAMES.values() for seed in range(40))
    assert kinds["plain"] > 50, kinds
    assert kinds["guard"] > 10, kinds
    assert kinds["dark"] > 5, kinds


def test_a_dark_solo_and_a_call_publish_the_same() -> None:
    told = 0
    for seed in range(400):
        rng = Random(seed)
        options = GAMES["qingdao"]
        deal, _, _ = random_start(options, rng)
        for seat, answer in random_steps(deal, rng):
            if deal.phase is Phase.PLAY or deal.is_over:
                break
            events = deal.answer(seat, answer)
            if answer.word is Word.DARK:
                assert [(type(event).__name__, *event) for event in events] == [
                    ("Called", seat, answer.cards[0], False)
                ]
                told += 1
    assert told > 3
