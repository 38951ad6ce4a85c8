"""Plays: what shape they have, which beats which, and all that a hand can play (docs/rules.md, part 5).

This is the hot path: shapes are plain tuples, plays are sorted bytes, and nothing is created that is not returned.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from bots_sdk.rules.cards import BIG_JOKER, EMPEROR_CARD, FACE_OF, GUARD_JOKER, SMALL, SMALL_JOKER, STRENGTH_OF, Card
from bots_sdk.rules.hands import ONE, STRENGTH_TABLE, sorted_cards
from bots_sdk.rules.options import FIRST_STRENGTH, Options

NO_RANK = -1
"""The rank of a shape that has no cards of a rank."""

_THREE_TWOS = (12, 3, 0, 0, 0)
_SINGLE_BIG = (NO_RANK, 0, 0, 1, 0)


class Shape(NamedTuple):
    """A play as far as beating goes.

    Attributes:
        rank: strength of its cards of a rank (0 to 12), or `NO_RANK`.
        number: how many cards of that rank.
        small: small jokers, the marked one included.
        big: big jokers, the emperor card included.
        special: 1 if it contains the special card, else 0.
    """

    rank: int
    number: int
    small: int
    big: int
    special: int


class Pattern(NamedTuple):
    """A play as a seat chooses it: the shape, and whether the guard card is in it.

    `guard` is 1 if the play contains the guard card; where the guard card is the special card, that card is in no other
    count (rules 5.8).
    """

    rank: int
    number: int
    small: int
    big: int
    guard: int


class Holding(NamedTuple):
    """What a seat holds, as far as its plays go.

    Attributes:
        hand: sorted card codes.
        guard_card: the card of it that is the guard card, or -1.
        special: the guard card is the special card. A solo emperor may hold more of its face: those are ordinary.
    """

    hand: bytes
    guard_card: int
    special: bool


Plays = tuple[list[bytes], list[bytes]]
"""Plays as sorted cards: first those without the special card, then those with it."""


def shape_of(cards: bytes) -> Shape | None:
    """The shape of sorted cards, none of them special, or None if they are no play (rule 5.1)."""
    small = cards.count(SMALL_JOKER) + cards.count(GUARD_JOKER)
    big = cards.count(BIG_JOKER) + cards.count(EMPEROR_CARD)
    number = len(cards) - small - big
    if not number:
        return _new_shape(Shape, (NO_RANK, 0, small, big, 0)) if cards else None
    rank = cards[0] >> 2
    # Sorted: the cards of ranks come first, and the last of them has the highest rank.
    if cards[number - 1] >> 2 != rank:
        return None
    return _new_shape(Shape, (rank, number, small, big, 0))


_new_shape = tuple.__new__


def shape_with_special(cards: bytes, face: Card) -> Shape | None:
    """The shape of sorted cards, one of `face` among them being the special card; None if they are no play."""
    rest = cards.replace(ONE[face], b"", 1)
    if len(rest) == len(cards) and face == BIG_JOKER:
        rest = cards.replace(ONE[EMPEROR_CARD], b"", 1)
    if len(rest) == len(cards):
        return None
    if not rest:
        return Shape(NO_RANK, 0, 0, 0, 1)
    shape = shape_of(rest)
    return None if shape is None else Shape(*shape[:4], 1)


def size_of(shape: tuple[int, int, int, int, int]) -> int:
    """How many cards a shape has."""
    return shape[1] + shape[2] + shape[3] + shape[4]


def beats(options: Options, table: Shape, play: Shape) -> bool:
    """True if `play` may follow `table` (rules 5.2 to 5.7)."""
    rank, number, small, big, special = table
    rank2, number2, small2, big2, special2 = play
    if special:
        return False  # nothing beats or kills the special card
    hung = number and (small or big)
    # Card by card, from the top: as many cards above each level as the table has at that level or higher.
    if (
        number2 + small2 + big2 + special2 == number + small + big
        and special2 >= big
        and big2 + special2 >= small + big
        and (not number or not number2 or rank2 > rank)
    ):
        return not (hung and options.hung_by_hung) or number2 > 0
    if options.three_twos and table == _SINGLE_BIG and play == _THREE_TWOS:
        return True
    if options.roast and not special2 and (hung or number + small + big == 1):
        return (number2 > 0 or not options.hung_by_hung or not hung) and _roasts(table, play)
    return False


def _roasts(table: Shape, play: Shape) -> bool:
    """True if groups of the jokers of `play` kill all jokers of the table and the rest beats the rest (rule 5.6)."""
    rank, number, small, big, _ = table
    rank2, number2, small2, big2, _ = play
    if number2 > number or (number2 and rank2 <= rank):
        return False
    return any(
        small_used <= small2 and big_used <= big2 and number2 + small2 - small_used + big2 - big_used == number
        for small_used, big_used in _killings(small, big)
    )


@lru_cache(maxsize=32)
def _killings(small: int, big: int) -> tuple[tuple[int, int], ...]:
    """What killing so many jokers can cost, as (small jokers, big jokers)."""
    return tuple(
        sorted(
            {
                # A small joker is killed by one big or two small, a big one by two big or three small.
                (2 * (small - by_one_big) + 3 * (big - by_two_big), by_one_big + 2 * by_two_big)
                for by_one_big in range(small + 1)
                for by_two_big in range(big + 1)
            }
        )
    )


def pattern_of(holding: Holding, cards: bytes, special: bool) -> Pattern | None:
    """The pattern of sorted cards out of a holding, or None if they are no play.

    Args:
        holding: what the seat holds, the cards among it.
        cards: the cards put down, sorted.
        special: one of them is played as the special card.
    """
    shape = shape_with_special(cards, FACE_OF[holding.guard_card]) if special else shape_of(cards)
    if shape is None:
        return None
    flag = int(special or (not holding.special and holding.guard_card in cards)) if holding.guard_card >= 0 else 0
    return Pattern(shape.rank, shape.number, shape.small, shape.big, flag)


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
    smalls = ONE[SMALL_JOKER] * hand.count(SMALL_JOKER) + ONE[GUARD_JOKER] * hand.count(GUARD_JOKER)
    bigs = ONE[BIG_JOKER] * hand.count(BIG_JOKER) + ONE[EMPEROR_CARD] * hand.count(EMPEROR_CARD)
    marked_among = bool(smalls) and smalls[-1] == GUARD_JOKER
    choices = [
        _Jokers(
            small, big, 0, sorted_cards(smalls[:small] + bigs[:big]) if marked_among else smalls[:small] + bigs[:big]
        )
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


def follows(options: Options, holding: Holding, table: Shape) -> Plays:
    """Everything with which a seat can beat the table, in the order of `leads` (rules 5.2 to 5.7)."""
    if table.special:
        return [], []
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
        if rank == _THREE_TWOS[0] and options.three_twos and table == _SINGLE_BIG and len(by_number) >= 3:
            found += [(cards, 0) for cards in by_number[2]]
    found += [(choice.cards, choice.special) for number, choice in hung if not number]
    plays = [cards for cards, special in found if not special]
    return plays, [sorted_cards(cards) for cards, special in found if special]


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
