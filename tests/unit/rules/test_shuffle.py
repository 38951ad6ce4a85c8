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
from bots_sdk.rules.cards import format_cards
from bots_sdk.rules.notation import format_hand
from bots_sdk.rules.profiles import PROFILES, make_options
from bots_sdk.rules.shuffle import commitment, deal_out, deal_seed, deck_order, pack

SECRET = bytes(range(32))
DOCUMENT = Path(__file__).parents[3] / "docs" / "shuffle.md"


def second_opinion(pack_bytes: bytes, secret: bytes, number: int) -> bytes:
    """The shuffle written anew from its description, sharing nothing with the engine."""
    key = secret.ljust(64, b"\0")
    inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in key) + b"baohuang/deal/1/%d" % number).digest()
    seed = hashlib.sha256(bytes(byte ^ 0x5C for byte in key) + inner).digest()

    def words() -> Iterator[int]:
        block = 0
        while True:
            yield from struct.unpack(">4Q", hashlib.sha256(seed + struct.pack(">Q", block)).digest())
            block += 1

    source = words()
    cards = list(pack_bytes)
    for i in reversed(range(1, len(cards))):
        word = next(source)
        while word >= (1 << 64) // (i + 1) * (i + 1):
            word = next(source)
        cards[i], cards[word % (i + 1)] = cards[word % (i + 1)], cards[i]
    return bytes(cards)


@pytest.mark.parametrize("profile", PROFILES)
def test_two_implementations_agree(profile: str) -> None:
    options = PROFILES[profile]
    for number in (0, 1, 2, 99, 12345):
        assert deck_order(options, SECRET, number) == second_opinion(pack(options), SECRET, number)


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
        hashlib.sha256(deck_order(make_options("classic", {"drop_low": 3}), SECRET, 0)).hexdigest(),
        deal_seed(SECRET, 101).hex(),
        hashlib.sha256(later).hexdigest(),
        format_hand(deal_out(PROFILES["qingdao"], later, 3)[0]),
        commitment(b"n" * 16, SECRET).hex(),
    ]


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
