"""Bots in the ledger: unique names, tokens as hashes, lists by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from services.common.clock import ManualClock
from services.common.errors import PlatformError, Reason
from services.ledger.ledger import Ledger
from services.ledger.values import Bot


def make_bot(ledger: Ledger, name: str) -> Bot:
    return ledger.create_bot(f"id-{name}", name, owner="ann", version="1.0", token_hash=name.encode().ljust(32))


def test_a_bot_is_found_by_token_id_and_name(ledger: Ledger, clock: ManualClock) -> None:
    bot = make_bot(ledger, "alpha")
    assert bot == Bot("id-alpha", "alpha", "ann", "1.0", clock.now(), clock.now())
    assert ledger.bot_with_token(b"alpha".ljust(32)) == bot
    assert ledger.bot("id-alpha") == bot
    assert ledger.bots_named(["alpha", "nobody"]) == {"alpha": bot}


def test_who_is_not_there_is_not_found(ledger: Ledger) -> None:
    assert ledger.bot_with_token(bytes(32)) is None
    assert ledger.bot("id-nobody") is None


def test_a_name_is_given_once(ledger: Ledger) -> None:
    make_bot(ledger, "alpha")
    with pytest.raises(PlatformError, match="'alpha'") as caught:
        ledger.create_bot("another", "alpha", owner="", version="", token_hash=bytes(32))
    assert caught.value.reason is Reason.NAME_TAKEN


def test_a_rotated_token_replaces_the_old_one(ledger: Ledger) -> None:
    bot = make_bot(ledger, "alpha")
    rotated = ledger.rotate_token("id-alpha", b"n" * 32)
    assert ledger.bot_with_token(b"alpha".ljust(32)) is None
    assert rotated is not None
    assert ledger.bot_with_token(b"n" * 32) == rotated == replace(bot, token_since=rotated.token_since)


def test_each_token_of_a_bot_is_from_later_than_the_one_before(ledger: Ledger, clock: ManualClock) -> None:
    """Also when the machine's clock stands still; so the moment says which token is meant."""
    bot: Bot | None = make_bot(ledger, "alpha")
    moments = [bot.token_since] if bot else []
    for number in range(4):
        bot = ledger.revoke_token("id-alpha") if number % 2 else ledger.rotate_token("id-alpha", b"%d" % number)
        assert bot is not None
        moments.append(bot.token_since)
    clock.advance(5)
    bot = ledger.rotate_token("id-alpha", b"2" * 32)
    assert bot is not None
    assert bot.token_since == clock.now()
    assert moments == sorted(set(moments))


@pytest.mark.parametrize(
    "change",
    [
        lambda ledger, **shown: ledger.rotate_token("id-alpha", b"2" * 32, **shown),
        lambda ledger, **shown: ledger.revoke_token("id-alpha", **shown),
    ],
)
def test_who_shows_a_token_that_is_no_more_changes_nothing(ledger: Ledger, change: Callable[..., Bot | None]) -> None:
    """An operator takes the token away while its holder asks for a new one: the holder must not get it."""
    make_bot(ledger, "alpha")
    ledger.revoke_token("id-alpha")
    revoked = ledger.bot("id-alpha")
    assert change(ledger, shown=b"alpha".ljust(32)) is None
    assert ledger.bot("id-alpha") == revoked
    ledger.rotate_token("id-alpha", b"1" * 32)
    assert change(ledger, shown=b"alpha".ljust(32)) is None
    assert change(ledger, shown=b"1" * 32) is not None


def test_bots_whose_tokens_ended_lately_are_known(ledger: Ledger, clock: ManualClock) -> None:
    for name in ("alpha", "beta", "gamma"):
        make_bot(ledger, name)
    clock.advance(100)
    ledger.rotate_token("id-alpha", b"1" * 32)
    clock.advance(100)
    ledger.revoke_token("id-beta")
    make_bot(ledger, "new")
    start = clock.now() - timedelta(seconds=200)
    lately = [ledger.bots_with_ended_tokens(start + timedelta(seconds=after)) for after in (0, 99, 100, 200)]
    assert [sorted(bot.name for bot in bots) for bots in lately] == [["alpha", "beta"]] * 2 + [["beta"], []]


def test_a_revoked_token_is_no_more_and_the_bot_says_since_when(ledger: Ledger, clock: ManualClock) -> None:
    make_bot(ledger, "alpha")
    make_bot(ledger, "beta")
    clock.advance(9)
    ledger.revoke_token("id-alpha")
    ledger.revoke_token("id-beta")  # two bots without a token do not collide
    assert ledger.bot_with_token(b"alpha".ljust(32)) is None
    bot = ledger.bot("id-alpha")
    assert bot is not None
    assert bot.revoked_at == bot.created_at + timedelta(seconds=9)


@pytest.mark.parametrize(
    "change", [lambda ledger: ledger.revoke_token("x"), lambda ledger: ledger.rotate_token("x", b"")]
)
def test_changing_an_unknown_bot_is_refused(ledger: Ledger, change: object) -> None:
    assert callable(change)
    with pytest.raises(PlatformError) as caught:
        change(ledger)
    assert caught.value.reason is Reason.BOT_UNKNOWN


def test_lists_go_by_name_in_pages(ledger: Ledger) -> None:
    for name in ("delta", "alpha", "charlie", "bravo"):
        make_bot(ledger, name)
    seen, after = [], ""
    for size in (2, 1, 2):
        page = ledger.bots(after=after, limit=size)
        seen.append([bot.name for bot in page.items])
        after = page.after
    assert (seen, after) == ([["alpha", "bravo"], ["charlie"], ["delta"]], "")
