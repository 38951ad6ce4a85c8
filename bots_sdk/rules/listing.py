"""All that a hand can play: one concrete play for each pattern (docs/rules.md, 5.1 to 5.8).

This is the hot path: plays are sorted bytes, and hardly anything is created that is not returned.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from typing import NamedTuple

from bots_sdk.rules.cards import (
    BIG,
    BIG_JOKER,
    EMPEROR_CARD,
    FACE_OF,
    GUARD_JOKER,
    SMALL,
    SMALL_JOKER,
    STRENGTH_OF,
)
from bots_sdk.rules.hands import ONE, STRENGTH_TABLE, sorted_cards
from bots_sdk.rules.options import FIRST_STRENGTH, Options
from bots_sdk.rules.plays import NO_RANK, SINGLE_BIG, THREE_TWOS, Holding, Shape, beats, shape_of, shape_with_special

Plays = tuple[list[bytes], list[bytes]]
"""Plays as sorted cards: first those without the special card, then those with it."""


class _Jokers(NamedTuple):
    """One choice of jokers to put down, the special card (0 or 1) counted apart."""

    small: int
    big: int
    special: int
    cards: bytes


def _joker_choices(holding: Holding) -> list[_Jokers]:
    """Every choice of jokers of a holding: by small, big, guard card last; the empty choice first."""
    hand, guard_card, special = holding
    own = b""
    if guard_card >= 0:
        hand = hand.replace(ONE[guard_card], b"", 1)
        own = ONE[guard_card]
    smalls, bigs = _by_kind(hand)
    choices = [
        _Jokers(small, big, 0, sorted_cards(smalls[:small] + bigs[:big]))
        for small in range(len(smalls) + 1)
        for big in range(len(bigs) + 1)
    ]
    if special:
        return choices + [_Jokers(small, big, 1, sorted_cards(cards + own)) for small, big, _, cards in choices]
    if guard_card >= SMALL_JOKER:  # the guard card is a joker among the others
        is_small = int(STRENGTH_OF[guard_card] == SMALL)
        choices += [_Jokers(c.small + is_small, c.big + 1 - is_small, 0, sorted_cards(c.cards + own)) for c in choices]
        choices.sort(key=lambda choice: (choice.small, choice.big, guard_card in choice.cards))
    return choices


def _rank_ways(holding: Holding) -> list[tuple[int, list[list[bytes]]]]:
    """For every rank held, ascending, and every number of its cards from 1 on: the ways to put them down.

    There are two ways if the seat holds the guard card of that rank and may leave it out, else one.
    """
    hand, guard_card, special = holding
    own = b""
    if 0 <= guard_card < SMALL_JOKER:
        own = ONE[guard_card]
        if special:  # no card of its rank
            hand = hand.replace(own, b"", 1)
    found = []
    start = 0
    ranks = hand.translate(STRENGTH_TABLE)
    for rank in range(SMALL):
        count = ranks.count(rank)
        if not count:
            continue
        cards = hand[start : start + count]
        start += count
        if own and not special and guard_card >> 2 == rank:
            rest = cards.replace(own, b"", 1)
            ways = [[rest[:number], sorted_cards(rest[: number - 1] + own)] for number in range(1, count)]
            found.append((rank, [*ways, [cards]]))
        else:
            found.append((rank, [[cards[:number]] for number in range(1, count + 1)]))
    return found


def leads(options: Options, holding: Holding) -> Plays:
    """Everything a seat can lead, one concrete play for each pattern (rules 5.1, 5.5).

    The order: by rank, jokers alone last; then by number of cards of the rank, the guard card last; then by small and
    big jokers. The lowest suits are taken, plain jokers before marked ones, the guard card only where the pattern has
    it. With `hold_back` the whole hand comes first if it is a play of the rank held back.
    """
    if holding.guard_card < 0:
        return _plain_leads(options, holding.hand), []
    ranks = _rank_ways(holding)
    jokers = _joker_choices(holding)
    plain = [choice.cards for choice in jokers if not choice.special]
    special = [choice.cards for choice in jokers if choice.special]
    whole = []
    if options.hold_back and ranks and ranks[0][0] == FIRST_STRENGTH[options.hold_back]:
        whole = [holding.hand] if len(ranks) == 1 else []
        del ranks[0]
    numbers = [cards for _, by_number in ranks for ways in by_number for cards in ways]
    plays = [cards + others for cards in numbers for others in plain]
    plays += plain[1:]
    with_special = [sorted_cards(cards + others) for cards in numbers for others in special]
    with_special += special
    if whole:
        (with_special if special else plays).insert(0, holding.hand)
    return plays, with_special


def _plain_leads(options: Options, hand: bytes) -> list[bytes]:
    """The same for the common case, twice as fast: no guard card in the hand."""
    strengths = hand.translate(STRENGTH_TABLE)
    end = len(hand) - strengths.count(SMALL) - strengths.count(BIG)
    choices = _choices(hand[end:])
    plays: list[bytes] = []
    start = 0
    if options.hold_back and end and strengths[0] == FIRST_STRENGTH[options.hold_back]:
        start = strengths.count(strengths[0])
        if start == end:
            plays.append(hand)
    while start < end:
        after = start + strengths.count(strengths[start])
        for stop in range(start + 1, after + 1):
            cards = hand[start:stop]
            plays += [cards + jokers for jokers in choices]
        start = after
    plays += choices[1:]
    return plays


def follows(options: Options, holding: Holding, table: Shape) -> Plays:
    """Everything with which a seat can beat the table, in the order of `leads` (rules 5.2 to 5.7)."""
    if table.special:
        return [], []
    if holding.guard_card < 0 and not (options.roast and (table.small or table.big)):
        return _plain_follows(options, holding.hand, table), []
    ranks = _rank_ways(holding)
    whole = b""
    if options.hold_back and ranks and ranks[0][0] == FIRST_STRENGTH[options.hold_back]:
        whole = holding.hand if len(ranks) == 1 and _whole_beats(options, holding, table) else b""
        del ranks[0]
    most = max((len(by_number) for rank, by_number in ranks if rank > table.rank), default=0)
    hung = _with_jokers(options, _joker_choices(holding), table, most)
    found: list[tuple[bytes, int]] = [(whole, int(holding.special))] if whole else []
    for rank, by_number in ranks:
        if rank > table.rank:
            found += [
                (cards + choice.cards, choice.special)
                for number, choice in hung
                if 0 < number <= len(by_number)
                for cards in by_number[number - 1]
            ]
        if rank == THREE_TWOS[0] and options.three_twos and table == SINGLE_BIG and len(by_number) >= 3:
            found += [(cards, 0) for cards in by_number[2]]
    found += [(choice.cards, choice.special) for number, choice in hung if not number]
    plays = [cards for cards, special in found if not special]
    return plays, [sorted_cards(cards) for cards, special in found if special]


def _plain_follows(options: Options, hand: bytes, table: Shape) -> list[bytes]:
    """The same for the common case, three times as fast: no guard card in the hand, no roasting."""
    rank, number, small, big, _ = table
    strengths = hand.translate(STRENGTH_TABLE)
    bigs = strengths.count(BIG)
    end = len(hand) - strengths.count(SMALL) - bigs
    # Only the first of the ranks can be held back, and only the whole hand may be played with it.
    start = bisect_right(strengths, rank, 0, end)
    plays: list[bytes] = []
    if options.hold_back and end and strengths[0] == FIRST_STRENGTH[options.hold_back]:
        if strengths[end - 1] == strengths[0] and (shape := shape_of(hand)) and beats(options, table, shape):
            plays.append(hand)
        start = bisect_right(strengths, max(rank, strengths[0]), 0, end)
    if not big and small <= bigs:
        hung, alone = _hung(hand[end:], number, small, options.hung_by_hung)
        while start < end:
            count = strengths.count(strengths[start])
            plays += [hand[start : start + wanted] + jokers for wanted, jokers in hung if wanted <= count]
            start += count
        plays += alone
    elif options.three_twos and table == SINGLE_BIG and strengths.count(THREE_TWOS[0]) >= 3:
        first = strengths.index(THREE_TWOS[0])
        plays.append(hand[first : first + 3])
    return plays


@lru_cache(maxsize=4096)
def _hung(
    jokers: bytes, number: int, small: int, hung_only: bool
) -> tuple[tuple[tuple[int, bytes], ...], tuple[bytes, ...]]:
    """What of these jokers beats `small` small jokers hung on `number` cards of a rank.

    Remembered, because the jokers of a hand change far less often than the table.

    Returns:
        Pairs of how many cards of a higher rank to put down and the jokers to hang on them; and the jokers that beat
        the table alone.
    """
    size = number + small
    smalls, bigs = _by_kind(jokers)
    hung, alone = [], []
    for wanted in range(max(size - len(jokers), 0), size - small + 1):
        count = size - wanted
        for small2 in range(max(count - len(bigs), 0), min(len(smalls), count - small) + 1):
            cards = sorted_cards(smalls[:small2] + bigs[: count - small2])
            if wanted:
                hung.append((wanted, cards))
            elif not (hung_only and number and small):
                alone.append(cards)
    return tuple(hung), tuple(alone)


@lru_cache(maxsize=256)
def _choices(jokers: bytes) -> tuple[bytes, ...]:
    """Every choice of these jokers, by small and big, the empty one first."""
    smalls, bigs = _by_kind(jokers)
    return tuple(
        sorted_cards(smalls[:small] + bigs[:big]) for small in range(len(smalls) + 1) for big in range(len(bigs) + 1)
    )


def _by_kind(jokers: bytes) -> tuple[bytes, bytes]:
    """Small jokers and big ones, the plain before the marked."""
    return (
        ONE[SMALL_JOKER] * jokers.count(SMALL_JOKER) + ONE[GUARD_JOKER] * jokers.count(GUARD_JOKER),
        ONE[BIG_JOKER] * jokers.count(BIG_JOKER) + ONE[EMPEROR_CARD] * jokers.count(EMPEROR_CARD),
    )


def _whole_beats(options: Options, holding: Holding, table: Shape) -> bool:
    hand = holding.hand
    shape = shape_with_special(hand, FACE_OF[holding.guard_card]) if holding.special else shape_of(hand)
    return shape is not None and beats(options, table, shape)


def _with_jokers(options: Options, jokers: list[_Jokers], table: Shape, most: int) -> list[tuple[int, _Jokers]]:
    """The numbers of cards of a higher rank, from 0 to `most`, and jokers to hang on them, that beat the table."""
    _, number, small, big, _ = table
    roastable = options.roast and (small or big)
    found = []
    for choice in jokers:
        if roastable:
            counts = [
                count
                for count in range(min(most, number + small + big) + 1)
                if (count or choice.cards)
                and beats(options, table, Shape(_ANY_HIGHER if count else NO_RANK, count, *choice[:3]))
            ]
        else:
            count = number + small + big - choice.small - choice.big - choice.special
            above_small = choice.big + choice.special
            fits = 0 <= count <= most and choice.special >= big and above_small >= small + big
            if not count and options.hung_by_hung and number and small + big:
                fits = False
            counts = [count] if fits else []
        found += [(count, choice) for count in counts]
    found.sort(key=_number_first)
    return found


def _number_first(hung: tuple[int, _Jokers]) -> int:
    return hung[0]


_ANY_HIGHER = SMALL
"""Stands for any rank above that of the table."""
