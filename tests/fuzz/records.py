"""Targets that read records of matches, in every form, and what shuffles come from."""

from __future__ import annotations

import contextlib
import zlib
from random import Random

from bots_sdk.replay import (
    RecordError,
    RecordNotSupported,
    RecordUnreadable,
    decompress_record,
    format_replay,
    record_from_bytes,
    record_from_json,
    record_to_bytes,
    record_to_json,
    verify_record,
)
from bots_sdk.replay.files import _read as read_record_bytes
from bots_sdk.rules.profiles import PROFILES
from bots_sdk.rules.shuffle import commitment, deal_out, deck_order, pack
from tests.unit.replay.matches import recorded

from .registry import target, text_of


def _records() -> list[bytes]:
    return [recorded("qingdao", 1, 1), recorded("everything", 2, 1), recorded("classic-marked", 3, 1)]


def _read_record(data: bytes) -> None:
    """All that is done with a record which somebody sends."""
    with contextlib.suppress(RecordUnreadable, RecordNotSupported):
        record = read_record_bytes(data)
        record_to_json(record)
        record_to_bytes(record)
        with contextlib.suppress(RecordError, RecordNotSupported):
            verify_record(record)
        with contextlib.suppress(RecordError, RecordNotSupported):
            for line in format_replay(record):
                line.encode()


@target(more=_records)
def records(data: bytes) -> None:
    with contextlib.suppress(RecordUnreadable, RecordNotSupported):
        record_from_bytes(data)
    _read_record(data)


@target(more=lambda: [zlib.compress(record) for record in _records()])
def compressed_records(data: bytes) -> None:
    with contextlib.suppress(RecordUnreadable):
        decompress_record(data)
    _read_record(data)


@target(more=lambda: [zlib.compress(record)[:400] for record in _records()])
def repacked_records(data: bytes) -> None:
    """Spoilt before it was compressed, so that zlib has nothing to object to."""
    _read_record(zlib.compress(data, 1))


@target(more=lambda: [record_to_json(record_from_bytes(record)).encode() for record in _records()[:2]], is_text=True)
def json_records(data: bytes) -> None:
    with contextlib.suppress(RecordUnreadable, RecordNotSupported):
        record = record_from_json(text_of(data))
        assert record_from_json(record_to_json(record)) == record
    _read_record(b"{" + data.removeprefix(b"{"))


@target(b"", b"\x00" * 32, bytes(range(64)))
def shuffles(data: bytes) -> None:
    """Secrets, nonces and decks of any length."""
    rng = Random(data)
    options = PROFILES[rng.choice(list(PROFILES))]
    secret, nonce = data[: len(data) // 2], data[len(data) // 2 :]
    deck = deck_order(options, secret, rng.choice((0, 1, 2**32, 2**64)))
    assert sorted(deck) == list(pack(options))
    assert b"".join(deal_out(options, deck, rng.randrange(5))) != b""
    assert len(commitment(nonce, secret)) == 32
    if bytes(sorted(data)) != pack(options):
        with contextlib.suppress(ValueError):
            deal_out(options, data, 0)
            raise AssertionError("a deck of other cards was dealt out")
