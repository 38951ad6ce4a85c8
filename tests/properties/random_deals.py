"""Random deals of every kind of game, some of them stacked so that triples, quads and solos are common."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from bots_sdk.rules.answers import Answer, Word
from bots_sdk.rules.cards import EMPEROR_CARD, SEATS
from bots_sdk.rules.deal import Deal
from bots_sdk.rules.events import Event, Tribute
from bots_sdk.rules.options import Options
from bots_sdk.rules.profiles import PROFILES, make_options
from bots_sdk.rules.scoring import Standing
from bots_sdk.rules.shuffle import deal_out, pack
from bots_sdk.rules.tribute import tribute_of

EXTRAS: tuple[tuple[str, dict[str, object]], ...] = (
    ("classic", {"roast": True, "hold_back": "6", "drop_low": 3, "pass_locks_trick": True}),
    ("classic-marked", {"roast": True, "give_way": True, "wind": "claim"}),
    ("bean-qingdao", {"stakes": [1, 2, 3], "beans": True, "hold_back": 6}),
    ("special", {"three_twos": True, "hold_back": 3, "roast": True, "rebellion": True, "kick": True, "grab": "none"}),
    ("special", {"end": "one_left", "bright_needs_quad": False, "give_way": True, "grab": "quad"}),
    ("qingdao", {"pass_locks_trick": True, "hung_by_hung": False, "sticker": "highest", "end": "side_out"}),
)
GAMES: dict[str, Options] = {profile: make_options(profile, {}) for profile in PROFILES}
GAMES |= {f"{profile} {' '.join(extra)}": make_options(profile, extra) for profile, extra in EXTRAS}


def random_hands(options: Options, rng: Random, dealer: int) -> tuple[bytes, ...]:
    """Hands of a shuffled pack; often identical cards stay together, sometimes nobody holds two of them."""
    cards = list(pack(options))
    luck = rng.random()
    if luck < 0.1:
        return deal_out(options, bytes(cards), dealer)
    if luck < 0.5:
        rng.shuffle(cards)
        return deal_out(options, bytes(cards), dealer)
    sizes = [len(hand) for hand in deal_out(options, bytes(cards), dealer)]
    clumps: list[list[int]] = []
    for card in cards:
        if clumps and clumps[-1][0] == card and rng.random() < 0.85:
            clumps[-1].append(card)
        else:
            clumps.append([card])
    rng.shuffle(clumps)
    stack = [card for clump in clumps for card in clump]
    hands = []
    for size in sizes:
        hands.append(bytes(sorted(stack[:size])))
        stack = stack[size:]
    return tuple(hands)


def random_tribute(options: Options, rng: Random) -> Tribute | None:
    """What some result of the deal before would owe."""
    if not options.tribute or rng.random() < 0.2:
        return None
    seats = rng.sample(range(SEATS), SEATS)
    emperor, guard = rng.sample(range(SEATS), 2)
    return tribute_of(options, Standing(tuple(seats), emperor, guard if rng.random() < 0.8 else None))


def random_start(options: Options, rng: Random) -> tuple[Deal, list[Event], tuple[bytes, ...]]:
    dealer = rng.randrange(SEATS)
    hands = random_hands(options, rng, dealer)
    assert sum(hand.count(EMPEROR_CARD) for hand in hands) == 1
    deal, events = Deal.start(options, 0, dealer, hands, random_tribute(options, rng))
    return deal, events, hands


def random_answer(deal: Deal, rng: Random) -> tuple[int, Answer]:
    """A seat that is asked, not always the first, and one of its legal answers; what makes all public is rarer."""
    seat = rng.choice(deal.asked)
    legal = deal.legal(seat)
    answer = rng.choice(legal)
    if answer.word in (Word.SOLO, Word.BRIGHT, Word.REVEAL, Word.REBEL) and rng.random() < 0.7:
        answer = legal[0]
    return seat, answer


def random_steps(deal: Deal, rng: Random) -> Iterator[tuple[int, Answer]]:
    """Answers until the deal is over; the caller gives them to the deal."""
    while not deal.is_over:
        yield random_answer(deal, rng)
