"""The pack in canonical order and the seeded shuffle anybody can repeat in any language (docs/shuffle.md)."""

from __future__ import annotations

import hashlib
import hmac
import itertools
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from struct import Struct

from bots_sdk.rules.cards import BIG_JOKER, EMPEROR_CARD, GUARD_JOKER, PACKS, SEATS, SMALL_JOKER
from bots_sdk.rules.options import FIRST_STRENGTH, GuardBy, Options

DEAL_LABEL = b"baohuang/deal/1/"
SUITS_LABEL = b"baohuang/suits/1/"
COMMITMENT_LABEL = b"baohuang/commitment/1/"
SUITED_COMMITMENT_LABEL = b"baohuang/commitment/2/"
MOST_SUITS = SEATS - 1
"""The highest number of an exchange of suits; with 0, which changes nothing, one for each rotation of a deal."""
_WORD_BYTES = 8
_four_words = Struct(">4Q").unpack


@lru_cache(maxsize=16)
def pack(options: Options) -> bytes:
    """All cards of a deal in canonical order: ascending codes (rules 2.1, 2.2)."""
    first = 4 * FIRST_STRENGTH[options.low]
    cards = [card for card in range(first, SMALL_JOKER) for _ in range(PACKS)]
    for _ in range(options.drop_low):
        cards.remove(first)  # the club of the lowest rank
    marked = options.guard_by is GuardBy.MARKED_JOKER
    cards += [SMALL_JOKER] * (PACKS - marked) + [BIG_JOKER] * (PACKS - 1)
    cards += [GUARD_JOKER] * marked + [EMPEROR_CARD]
    return bytes(cards)


def deal_seed(secret: bytes, number: int) -> bytes:
    """The 32-byte seed of shuffle `number` (from 0) of a match with this secret."""
    return hmac.new(secret, DEAL_LABEL + str(number).encode("ascii"), hashlib.sha256).digest()


def shuffled(cards: bytes, seed: bytes) -> bytes:
    """The cards in the order that the seed gives: Fisher–Yates from the top, numbers from SHA-256 in counter mode."""
    return _shuffled(cards, _words(seed))


def _shuffled(cards: bytes, words: Iterator[int]) -> bytes:
    order = bytearray(cards)
    for last in range(len(order) - 1, 0, -1):
        word = next(words)
        # Each place is as likely: numbers from the ragged end are thrown away.
        while word >= _LIMITS[last]:
            word = next(words)
        other = word % (last + 1)
        order[last], order[other] = order[other], order[last]
    return bytes(order)


_LIMITS = tuple(2**64 - 2**64 % bound for bound in range(1, 257))
"""Where the ragged end begins for so many places and one."""


def _words(seed: bytes) -> Iterator[int]:
    """Unsigned 64-bit big-endian numbers: the blocks SHA-256(seed + counter), counter 64-bit big-endian from 0."""
    for counter in itertools.count():
        yield from _four_words(hashlib.sha256(seed + counter.to_bytes(_WORD_BYTES, "big")).digest())


def deck_order(options: Options, secret: bytes, number: int) -> bytes:
    """The deck of shuffle `number` of a match: the order in which the cards are dealt."""
    return shuffled(pack(options), deal_seed(secret, number))


def suit_table(options: Options, secret: bytes, suits: int) -> bytes:
    """Which card stands for which after an exchange of suits: a table for `bytes.translate`.

    In each rank by itself the suits change places, so faces become faces of the same rank, and the pack is the same
    pack; the one club that `drop_low` leaves stays what it is. As suits matter nowhere in play (rules 1.6), a deal is
    worth the same with any of them.

    Args:
        options: the rules.
        secret: the secret of the match.
        suits: which exchange; 0 leaves every card what it is.

    Raises:
        ValueError: there is no exchange of that number.
    """
    if not 0 <= suits <= MOST_SUITS:
        raise ValueError(f"suits are 0 to {MOST_SUITS}, not {suits}")
    table = bytearray(range(256))
    if suits:
        words = _words(hmac.digest(secret, SUITS_LABEL + str(suits).encode("ascii"), hashlib.sha256))
        lowest = 4 * FIRST_STRENGTH[options.low]
        for club in range(lowest, SMALL_JOKER, 4):
            first = club + 1 if options.drop_low and club == lowest else club
            table[first : club + 4] = _shuffled(bytes(range(first, club + 4)), words)
    return bytes(table)


def decks_of(options: Options, secret: bytes, suits: int = 0) -> Callable[[int], bytes]:
    """The decks of a match by the number of the shuffle, as `Match` wants them.

    Args:
        options: the rules.
        secret: the secret of the match.
        suits: which exchange of suits they are dealt with, see `suit_table`; the same in all deals of the match.

    Raises:
        ValueError: there is no exchange of that number.
    """
    if not suits:
        return partial(deck_order, options, secret)
    return partial(_suited, options, secret, suit_table(options, secret, suits))


def _suited(options: Options, secret: bytes, table: bytes, number: int) -> bytes:
    return deck_order(options, secret, number).translate(table)


def deal_out(options: Options, deck: bytes, dealer: int) -> tuple[bytes, ...]:
    """The five hands, sorted, of a deck dealt one by one from the dealer on (rule 2.4).

    Raises:
        ValueError: the deck is not the pack of these options in some order.
    """
    if bytes(sorted(deck)) != pack(options):
        raise ValueError("the deck does not consist of the cards of these options")
    return tuple(bytes(sorted(deck[(seat - dealer) % SEATS :: SEATS])) for seat in range(SEATS))


def commitment(nonce: bytes, secret: bytes, suits: int = 0) -> bytes:
    """What is published before the first deal: it binds the secret and the suits without telling them.

    Args:
        nonce: 16 or more random bytes, published with the secret afterwards; the length is hashed too, so that nonce
            and secret cannot be shifted against each other.
        secret: the secret of the match.
        suits: which exchange of suits the match is dealt with, 0 to `MOST_SUITS`.
    """
    sealed = len(nonce).to_bytes(_WORD_BYTES, "big") + nonce
    if suits:
        sealed = SUITED_COMMITMENT_LABEL + suits.to_bytes(_WORD_BYTES, "big") + sealed
    else:
        sealed = COMMITMENT_LABEL + sealed
    return hashlib.sha256(sealed + secret).digest()
