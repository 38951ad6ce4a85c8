"""Access tokens in the ledger: names, scopes, hashes, and what becomes of them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy.exc import IntegrityError

from services.common.clock import ManualClock
from services.common.errors import PlatformError, Reason
from services.common.scopes import Scope
from services.ledger.ledger import Ledger
from services.ledger.values import AccessToken

BOTH = frozenset({Scope.OPERATE, Scope.READ})


def test_a_token_is_found_by_hash_and_by_name(ledger: Ledger, clock: ManualClock) -> None:
    made = ledger.create_access_token("ann", BOTH, b"a" * 32)
    assert made == AccessToken("ann", BOTH, clock.now())
    assert ledger.access_token_with(b"a" * 32) == ledger.access_token("ann") == made
    assert ledger.access_token_with(b"b" * 32) is None
    assert ledger.access_token("bob") is None


def test_a_name_is_given_once_for_ever(ledger: Ledger) -> None:
    ledger.create_access_token("ann", BOTH, b"a" * 32)
    ledger.revoke_access_token("ann")
    with pytest.raises(PlatformError, match="'ann'") as caught:
        ledger.create_access_token("ann", BOTH, b"b" * 32)
    assert caught.value.reason is Reason.NAME_TAKEN


def test_rotating_and_revoking_end_what_was_before(ledger: Ledger, clock: ManualClock) -> None:
    made = ledger.create_access_token("ann", BOTH, b"a" * 32)
    clock.advance(1)
    rotated = ledger.rotate_access_token("ann", b"b" * 32)
    assert rotated.rotated_at == made.created_at + timedelta(seconds=1)
    assert (ledger.access_token_with(b"a" * 32), ledger.access_token_with(b"b" * 32)) == (None, rotated)
    clock.advance(1)
    assert ledger.revoke_access_token("ann").revoked_at == made.created_at + timedelta(seconds=2)
    assert ledger.access_token_with(b"b" * 32) is None
    assert ledger.rotate_access_token("ann", b"c" * 32).revoked_at is None


def test_a_bot_and_an_access_token_may_have_the_same_name(ledger: Ledger) -> None:
    ledger.create_bot("id", "ann", owner="", version="", token_hash=b"a" * 32)
    ledger.create_access_token("ann", BOTH, b"b" * 32)
    assert ledger.bot_with_token(b"b" * 32) is None
    assert ledger.access_token_with(b"a" * 32) is None


@pytest.mark.parametrize(
    "change", [lambda ledger: ledger.revoke_access_token("x"), lambda ledger: ledger.rotate_access_token("x", b"")]
)
def test_changing_an_unknown_token_is_refused(ledger: Ledger, change: object) -> None:
    assert callable(change)
    with pytest.raises(PlatformError, match="'x'") as caught:
        change(ledger)
    assert caught.value.reason is Reason.ACCESS_TOKEN_UNKNOWN


def test_lists_go_by_name_in_pages(ledger: Ledger) -> None:
    for name in ("c", "a", "b"):
        ledger.create_access_token(name, BOTH, name.encode() * 32)
    first = ledger.access_tokens(limit=2)
    rest = ledger.access_tokens(after=first.after, limit=2)
    assert [[token.name for token in page.items] for page in (first, rest)] == [["a", "b"], ["c"]]
    assert rest.after == ""


def test_tokens_hold_when_the_ledger_is_opened_again(place: str) -> None:
    with Ledger.open(place) as ledger:
        made = ledger.create_access_token("ann", frozenset({Scope.READ}), b"a" * 32)
    with Ledger.open(place) as ledger:
        assert ledger.access_token_with(b"a" * 32) == made


def test_what_the_database_refuses_shows_no_hash_to_the_log(ledger: Ledger) -> None:
    """Two tokens with the same hash cannot be; were there a fault, its text would be in the log."""
    marked = b"marked".ljust(32)
    ledger.create_access_token("ann", BOTH, marked)
    with pytest.raises(IntegrityError) as caught:
        ledger.create_access_token("bob", BOTH, marked)
    shown = f"{caught.value}{caught.value.orig!r}"
    assert "marked" not in shown
    assert b"marked".hex() not in shown
