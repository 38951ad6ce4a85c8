"""Plays: what shape they have, and which beats which (docs/rules.md, part 5). What a hand can play is in `listing.py`.

This is the hot path: shapes are plain tuples, plays are sorted bytes, and nothing is created that is not returned.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from bots_sdk.rules.cards import BIG_JOKER, EMPEROR_CARD, FACE_OF, GUARD_JOKER, SMALL_JOKER, Card
from bots_sdk.rules.hands import ONE
from bots_sdk.rules.options import Options

NO_RANK = -1
"""The rank of a shape that has no cards of a rank."""

THREE_TWOS = (12, 3, 0, 0, 0)
SINGLE_BIG = (NO_RANK, 0, 0, 1, 0)


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
    if options.three_twos and table == SINGLE_BIG and play == THREE_TWOS:
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
