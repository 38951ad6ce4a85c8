"""The shuffle against the vectors of docs/shuffle.md and a second implementation."""

from __future__ import annotations

import hashlib
import hmac
import re
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from bots_sdk.rules import shuffle
from bots_sdk.rules.cards import SMALL_JOKER, STRENGTH_OF, format_cards
from bots_sdk.rules.notation import format_hand
from bots_sdk.rules.options import Options
from bots_sdk.rules.profiles import PROFILES, make_options
from bots_sdk.rules.shuffle import MOST_SUITS, commitment, deal_out, deal_seed, deck_order, decks_of, pack, suit_table

SECRET = bytes(range(32))
DROPPED = make_options("classic", {"drop_low": 3})
DOCUMENT = Path(__file__).parents[3] / "docs" / "shuffle.md"


def second_opinion(pack_bytes: bytes, secret: bytes, number: int, suits: int = 0) -> bytes:
    """The shuffle written anew from its description, sharing nothing with the engine."""
    cards = list(pack_bytes)
    fisher_yates(cards, words(secret, b"baohuang/deal/1/%d" % number))
    if suits:
        source = words(secret, b"baohuang/suits/1/%d" % suits)
        becomes = {card: card for card in cards}
        for rank in sorted({card // 4 for card in cards if card < 52}):
            before = sorted({card for card in cards if card // 4 == rank and cards.count(card) == 4})
            after = list(before)
            fisher_yates(after, source)
            becomes |= dict(zip(before, after, strict=True))
        cards = [becomes[card] for card in cards]
    return bytes(cards)


def words(secret: bytes, label: bytes) -> Iterator[int]:
    key = secret.ljust(64, b"\0")
    inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in key) + label).digest()
    seed = hashlib.sha256(bytes(byte ^ 0x5C for byte in key) + inner).digest()
    block = 0
    while True:
        yield from struct.unpack(">4Q", hashlib.sha256(seed + struct.pack(">Q", block)).digest())
        block += 1


def fisher_yates(cards: list[int], source: Iterator[int]) -> None:
    for i in reversed(range(1, len(cards))):
        word = next(source)
        while word >= (1 << 64) // (i + 1) * (i + 1):
            word = next(source)
        cards[i], cards[word % (i + 1)] = cards[word % (i + 1)], cards[i]


@pytest.mark.parametrize("profile", PROFILES)
def test_two_implementations_agree(profile: str) -> None:
    options = PROFILES[profile]
    for number in (0, 1, 2, 99, 12345):
        assert deck_order(options, SECRET, number) == second_opinion(pack(options), SECRET, number)


@pytest.mark.parametrize(("profile", "drop_low"), [*((profile, 0) for profile in PROFILES), ("bean", 3)])
@pytest.mark.parametrize("suits", range(MOST_SUITS + 1))
def test_two_implementations_exchange_the_same_suits(profile: str, drop_low: int, suits: int) -> None:
    options = make_options(profile, {"drop_low": drop_low})
    decks = decks_of(options, SECRET, suits)
    for number in (0, 101):
        assert decks(number) == second_opinion(pack(options), SECRET, number, suits)


@pytest.mark.parametrize("options", [PROFILES["qingdao"], PROFILES["classic-marked"], DROPPED])
def test_an_exchange_of_suits_gives_the_same_pack_with_every_card_in_its_rank(options: Options) -> None:
    tables = [suit_table(options, bytes([seed]), suits) for seed in range(40) for suits in range(MOST_SUITS + 1)]
    assert len(set(tables)) == 1 + 40 * MOST_SUITS, "no two are the same but those of 0, which change nothing"
    assert suit_table(options, SECRET, 0) == bytes(range(256))
    cards = pack(options)
    for table in tables:
        assert bytes(sorted(cards.translate(table))) == cards
        assert [STRENGTH_OF[card] for card in cards.translate(table)] == [STRENGTH_OF[card] for card in cards]
        assert table[SMALL_JOKER:] == bytes(range(SMALL_JOKER, 256))
        assert len(set(table)) == len(table)
    # Each card becomes each of its rank, the club of a short lowest rank alone excepted.
    for club in range(cards[0], SMALL_JOKER, 4):
        alone = options.drop_low and club == cards[0]
        for card in range(club, club + 4):
            others = {card} if alone and card == club else set(range(club + bool(alone), club + 4))
            assert {table[card] for table in tables} == others


@pytest.mark.parametrize("suits", [-1, MOST_SUITS + 1])
def test_there_are_as_many_exchanges_as_rotations(suits: int) -> None:
    with pytest.raises(ValueError, match=f"suits are 0 to 4, not {suits}"):
        decks_of(PROFILES["qingdao"], SECRET, suits)


def test_the_documented_vectors_hold() -> None:
    values = re.findall(r"\| `?([0-9a-f]{64}|[^|`]*)`? \|$", DOCUMENT.read_text(encoding="utf-8"), flags=re.MULTILINE)
    qingdao, classic, marked = (
        deck_order(PROFILES[name], SECRET, 0) for name in ("qingdao", "classic", "classic-marked")
    )
    later = deck_order(PROFILES["qingdao"], SECRET, 101)
    assert values[1:] == [
        *(deal_seed(SECRET, number).hex() for number in (0, 1, 10)),
        hashlib.sha256(deal_seed(SECRET, 0) + bytes(8)).hexdigest(),
        format_cards(qingdao[:10]),
        hashlib.sha256(qingdao).hexdigest(),
        *(format_hand(deal_out(PROFILES["qingdao"], qingdao, 0)[seat]) for seat in (0, 4)),
        format_cards(classic[:10]),
        hashlib.sha256(classic).hexdigest(),
        hashlib.sha256(marked).hexdigest(),
        hashlib.sha256(deck_order(DROPPED, SECRET, 0)).hexdigest(),
        deal_seed(SECRET, 101).hex(),
        hashlib.sha256(later).hexdigest(),
        format_hand(deal_out(PROFILES["qingdao"], later, 3)[0]),
        commitment(b"n" * 16, SECRET).hex(),
        *documented_suits(),
    ]


def documented_suits() -> Iterator[str]:
    """The last part of the table: what suits are exchanged for."""
    qingdao, classic = PROFILES["qingdao"], PROFILES["classic"]
    yield from (hmac.digest(SECRET, b"baohuang/suits/1/%d" % suits, "sha256").hex() for suits in (1, 4))
    table = suit_table(qingdao, SECRET, 1)
    yield from (format_cards(table[suit:SMALL_JOKER:4]) for suit in range(4))
    deck = decks_of(qingdao, SECRET, 1)(0)
    yield format_cards(deck[:10])
    yield hashlib.sha256(deck).hexdigest()
    yield format_hand(deal_out(qingdao, deck, 0)[0])
    for options, number, suits in ((qingdao, 0, 4), (qingdao, 101, 2), (classic, 0, 3)):
        yield hashlib.sha256(decks_of(options, SECRET, suits)(number)).hexdigest()
    yield format_cards(suit_table(DROPPED, SECRET, 1)[12:20])
    yield hashlib.sha256(decks_of(DROPPED, SECRET, 1)(0)).hexdigest()
    yield commitment(b"n" * 16, SECRET, 1).hex()


@pytest.mark.parametrize("bound", [2, 3, 165, 168, 216])
def test_numbers_from_the_ragged_end_are_thrown_away(bound: int) -> None:
    """No seed that anybody can find comes to it, so the numbers are put in by hand."""
    multiple = 2**64 // bound * bound
    ragged = [2**64 - 1, multiple] if multiple < 2**64 else []
    cards = bytes(range(bound))
    stay = range(bound - 2, 0, -1)  # each of these cards is exchanged for itself
    chosen = shuffle._shuffled(cards, iter([*ragged, 5, *stay]))
    assert chosen[-1] == 5 % bound
    assert shuffle._shuffled(cards, iter([*ragged, multiple - 1, *stay])) == cards


def test_the_seed_is_an_hmac() -> None:
    assert deal_seed(b"s", 7) == hmac.digest(b"s", b"baohuang/deal/1/7", "sha256")


def test_nonce_and_secret_cannot_be_shifted_against_each_other() -> None:
    assert commitment(b"ab", b"c") != commitment(b"a", b"bc")


def test_a_commitment_binds_the_suits() -> None:
    assert len({commitment(b"n", SECRET, suits) for suits in range(MOST_SUITS + 1)}) == MOST_SUITS + 1
    assert commitment(b"n", SECRET, 0) == commitment(b"n", SECRET)


@pytest.mark.parametrize(
    ("profile", "overrides", "size"),
    [("qingdao", {}, 216), ("classic", {}, 168), ("classic", {"drop_low": 3}, 165), ("classic-marked", {}, 168)],
)
def test_packs_have_the_size_of_the_rules(profile: str, overrides: dict[str, object], size: int) -> None:
    cards = pack(make_options(profile, overrides))
    assert len(cards) == size
    assert cards.count(55) == 1
    assert cards.count(54) == (profile == "classic-marked")


def test_cards_are_dealt_one_by_one_from_the_dealer() -> None:
    options = PROFILES["qingdao"]
    deck = deck_order(options, SECRET, 3)
    hands = deal_out(options, deck, dealer=3)
    assert [len(hand) for hand in hands] == [43, 43, 43, 44, 43]
    assert hands[3] == bytes(sorted(deck[0::5]))
    assert hands[4] == bytes(sorted(deck[1::5]))
    assert hands[0] == bytes(sorted(deck[2::5]))


def test_a_deck_with_other_cards_is_no_deck() -> None:
    with pytest.raises(ValueError, match="deck"):
        deal_out(PROFILES["qingdao"], deck_order(PROFILES["classic"], SECRET, 0), 0)
