"""Records of matches that were dealt with exchanged suits (format 2), and those of before (format 1)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from baohuang.record.v1 import record_pb2 as pb
from bots_sdk.replay import (
    RecordError,
    RecordNotSupported,
    RecordUnreadable,
    compress_record,
    decompress_record,
    digest_of,
    format_replay,
    read_record,
    record_from_bytes,
    record_from_json,
    record_to_bytes,
    record_to_json,
    verify_record,
)
from bots_sdk.rules.shuffle import MOST_SUITS, commitment, decks_of
from tests.unit.replay.matches import GAMES, record_of, record_with_void_deals, recorded
from tests.unit.replay.test_tampering import first_wrong_step, refit_checks

EARLIER = Path(__file__).parent / "format-1.pb.z"
"""A record that a version wrote which knew format 1 only."""


def wrong_with(record: pb.MatchRecord, told: bytes | None = None) -> str:
    record.digest = digest_of(record)
    with pytest.raises(RecordError) as caught:
        verify_record(record, told)
    return str(caught.value)


def test_a_record_from_before_reads_and_verifies_as_it_did() -> None:
    record = read_record(EARLIER)
    assert (record.format, record.suits) == (1, 0)
    assert record_to_bytes(record) == decompress_record(EARLIER.read_bytes())
    verified = verify_record(record, commitment(record.nonce, record.secret))
    assert (verified.deals, verified.decisions) == (1, 459)
    head, *lines = format_replay(record)
    assert head == "Match m-1 of cup, number 12: 1 deal, rules qingdao"
    assert any(line.startswith("  trick 1 ") for line in lines)


@pytest.mark.parametrize("game", GAMES)
def test_without_an_exchange_records_are_of_format_1_as_ever(game: str) -> None:
    record = record_of(game)
    assert record.format == 1
    assert not any(field.name == "suits" for field, _ in record.ListFields())
    assert record.commitment == commitment(record.nonce, record.secret)


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("suits", [1, MOST_SUITS])
def test_a_record_with_exchanged_suits_holds_together(game: str, suits: int) -> None:
    data = recorded(game, 5, suits=suits)
    record = record_from_bytes(decompress_record(compress_record(data)))
    assert (record.format, record.suits) == (2, suits)
    assert record_to_bytes(record) == data
    assert record_to_bytes(record_from_json(record_to_json(record))) == data
    assert f'"suits": {suits}' in record_to_json(record)
    verified = verify_record(record, commitment(record.nonce, record.secret, suits))
    assert verified.deals == record.length
    head = next(iter(format_replay(record)))
    assert re.match(rf"Match m-5 of cup, number 12: 2 deals, suits {suits}, rules ", head)


def test_void_deals_are_dealt_again_with_the_same_suits() -> None:
    record = record_with_void_deals(4)
    assert [deal.number for deal in record.deals] == [0, 0, 0, 1]
    verify_record(record)


def test_the_hands_shown_are_those_with_the_suits() -> None:
    plain, suited = record_of("qingdao", faults=False), record_of("qingdao", faults=False, suits=2)
    hands = [next(line for line in format_replay(record) if line.startswith("  0 ")) for record in (plain, suited)]
    assert hands[0] != hands[1]
    assert re.sub("[cdhs]", "", hands[0]) == re.sub("[cdhs]", "", hands[1]), "the ranks are the same"


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize(("sealed", "claimed"), [(2, 3), (4, 1)])
def test_other_suits_than_were_sealed_are_found_and_named(game: str, sealed: int, claimed: int) -> None:
    record = record_of(game, suits=sealed)
    record.suits = claimed
    named = wrong_with(record)
    assert named == f"suits: the commitment is one to suits {sealed}, and the record has {claimed}"


def test_suits_are_found_that_were_taken_away_or_put_in() -> None:
    taken = record_of("qingdao", suits=2)
    taken.suits, taken.format = 0, 1
    assert wrong_with(taken) == "suits: the commitment is one to suits 2, and the record has 0"
    put_in = record_of("qingdao")
    put_in.suits, put_in.format = 3, 2
    assert wrong_with(put_in) == "suits: the commitment is one to suits 0, and the record has 3"


def test_who_seals_other_suits_afterwards_is_found_by_what_the_seats_were_told() -> None:
    record = record_of("qingdao", suits=2)
    told = record.commitment
    record.suits = 1
    record.commitment = commitment(record.nonce, record.secret, 1)
    assert wrong_with(record, told) == "suits: the seats were told a commitment to suits 2, and the record has 1"


@pytest.mark.parametrize("game", GAMES)
def test_and_without_that_by_the_cards(game: str) -> None:
    """Somebody is told to have played a card that was never dealt to him."""
    record = record_of(game, faults=False, suits=2)
    record.suits = 1
    record.commitment = commitment(record.nonce, record.secret, 1)
    for deal in record.deals:
        refit_checks(deal)
    assert first_wrong_step(record).startswith("deals[0].")


@pytest.mark.parametrize(("form", "suits"), [(1, 1), (1, 7), (2, 0), (2, 5), (2, 2**32 - 1)])
def test_suits_that_do_not_go_with_the_format(form: int, suits: int) -> None:
    record = record_of("qingdao", suits=1)
    record.format, record.suits = form, suits
    assert first_wrong_step(record) == "suits"
    with pytest.raises(RecordError, match=r"^suits: (a record of format 1 has none|in format 2 they are 1 to 4)"):
        list(format_replay(record))


def test_a_commitment_to_something_else_is_no_matter_of_suits() -> None:
    record = record_of("qingdao", suits=2)
    record.nonce += b"x"
    assert wrong_with(record).startswith("commitment: it is not that of this nonce")
    record = record_of("qingdao", suits=2)
    assert wrong_with(record, bytes(32)).startswith("commitment: the seats were told another one")


def test_later_formats_are_refused_and_suits_are_below_the_digest() -> None:
    record = record_of("qingdao", suits=2)
    assert record.digest == digest_of(record)
    record.suits = 3
    assert record.digest != digest_of(record)
    record.format = 3
    with pytest.raises(RecordNotSupported, match="in format 3; this version reads formats 1 and 2"):
        verify_record(record)


def test_the_digest_stands_before_the_suits() -> None:
    """Fields are in the order of their numbers; anything else is refused as changed."""
    data = recorded("qingdao", suits=3)
    assert data.endswith(pb.MatchRecord(suits=3).SerializeToString())
    record = record_from_bytes(data)
    digest = pb.MatchRecord(digest=record.digest).SerializeToString()
    moved = data.replace(digest, b"") + digest
    with pytest.raises(RecordUnreadable, match="not protobuf's usual form"):
        record_from_bytes(moved)


@pytest.mark.parametrize("game", GAMES)
def test_the_five_rotations_deal_the_same_ranks_to_the_same_places(game: str) -> None:
    options, secret = GAMES[game], record_of(game).secret
    decks = [decks_of(options, secret, suits)(0) for suits in range(MOST_SUITS + 1)]
    assert len(set(decks)) == len(decks)
    assert len({bytes(card >> 2 if card < 52 else card for card in deck) for deck in decks}) == 1
