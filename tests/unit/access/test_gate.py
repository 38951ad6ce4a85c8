"""The gate: whose token it is, how often one may err, and what ends when a token does."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator

import pytest

from services.access.callers import NOBODY, bot_key, token_key
from services.access.gate import FAILURES, Gate, token_unknown
from services.access.needs import AccessRules
from services.access.tokens import hash_token
from services.common.clock import ManualClock
from services.common.ending import until_ended
from services.common.errors import PlatformError, Reason
from services.common.metrics import LobbyMetrics
from services.common.scopes import Scope
from services.ledger.ledger import Ledger
from services.ledger.values import AccessToken, Bot

PEER = "192.0.2.1"


def make_bot(ledger: Ledger, name: str = "alpha", token: str = "bh_bot") -> Bot:
    return ledger.create_bot(f"id-{name}", name, owner="", version="", token_hash=hash_token(token))


def make_token(ledger: Ledger, name: str = "ann", token: str = "bh_ann", scope: Scope = Scope.READ) -> AccessToken:
    return ledger.create_access_token(name, frozenset({scope}), hash_token(token))


async def refusal(gate: Gate, token: str, peer: str = PEER) -> PlatformError:
    with pytest.raises(PlatformError) as caught:
        await gate.identify(token, peer)
    return caught.value


# ----------------------------------------------------------------------------------------------------------- identity


async def test_a_token_tells_who_calls(gate: Gate, ledger: Ledger) -> None:
    bot = make_bot(ledger)
    make_token(ledger)
    played = await gate.identify("bh_bot", PEER)
    assert (played.name, played.bot, played.key) == ("alpha", bot, bot_key(bot.bot_id))
    assert played.scopes == {Scope.PLAY}
    read = await gate.identify("bh_ann", PEER)
    assert (read.name, read.bot, read.key) == ("ann", None, token_key("ann"))
    assert read.scopes == {Scope.READ}
    assert await gate.identify("", PEER) is NOBODY


async def test_a_bot_and_a_person_of_the_same_name_are_two_callers(gate: Gate, ledger: Ledger) -> None:
    make_bot(ledger, "ann")
    make_token(ledger, "ann")
    assert (await gate.identify("bh_bot", PEER)).key != (await gate.identify("bh_ann", PEER)).key


async def test_a_wrong_token_is_refused_counted_and_not_repeated(gate: Gate, metrics: LobbyMetrics) -> None:
    for number in range(1, 4):
        error = await refusal(gate, "bh_marked")
        assert error.reason is Reason.TOKEN_UNKNOWN
        assert "bh_marked" not in f"{error.message}{error.metadata}{error!r}"
        assert metrics.failed_authentications == number


async def test_replaced_and_revoked_tokens_open_nothing_from_then_on(gate: Gate, ledger: Ledger) -> None:
    make_bot(ledger)
    make_token(ledger)
    for token in ("bh_bot", "bh_ann"):  # they are known to have held
        await gate.identify(token, PEER)
    ledger.rotate_token("id-alpha", hash_token("bh_bot2"))
    ledger.revoke_access_token("ann")
    for token in ("bh_bot", "bh_ann"):
        assert (await refusal(gate, token)).reason is Reason.TOKEN_UNKNOWN
    assert (await gate.identify("bh_bot2", PEER)).name == "alpha"


# ------------------------------------------------------------------------------------------------------------ guessing


async def guess(gate: Gate, times: int, peer: str = PEER) -> list[Reason]:
    return [(await refusal(gate, f"bh_guess{number}", peer)).reason for number in range(times)]


async def test_who_guesses_has_to_wait(gate: Gate, clock: ManualClock, metrics: LobbyMetrics) -> None:
    # given a peer that has shown as many wrong tokens as one may
    assert set(await guess(gate, int(FAILURES.burst))) == {Reason.TOKEN_UNKNOWN}

    # when it tries another, then it is told when to come again, and nothing is looked up for it
    error = await refusal(gate, "bh_more")
    assert error.reason is Reason.RATE_LIMITED
    assert metrics.failed_authentications == FAILURES.burst

    # and the right one would not be taken either: it might have been guessed
    make_bot(gate._ledger, token="bh_right")
    assert (await refusal(gate, "bh_right")).reason is Reason.RATE_LIMITED

    # but from elsewhere, and later
    assert (await gate.identify("bh_right", "192.0.2.2")).name == "alpha"
    clock.advance(int(error.metadata["retry_after_ms"]) / 1000)
    assert (await refusal(gate, "bh_more")).reason is Reason.TOKEN_UNKNOWN


async def test_bots_that_were_in_before_come_in_beside_a_guesser_at_the_same_address(
    gate: Gate, ledger: Ledger
) -> None:
    make_bot(ledger)
    await gate.identify("bh_bot", PEER)
    await guess(gate, int(FAILURES.burst) + 5)
    assert (await gate.identify("bh_bot", PEER)).name == "alpha"


async def test_a_token_that_ended_is_no_longer_an_excuse(gate: Gate, ledger: Ledger) -> None:
    make_bot(ledger)
    await gate.identify("bh_bot", PEER)
    ledger.revoke_token("id-alpha")
    reasons = [(await refusal(gate, "bh_bot")).reason for _ in range(int(FAILURES.burst) + 1)]
    assert reasons == [Reason.TOKEN_UNKNOWN] * int(FAILURES.burst) + [Reason.RATE_LIMITED]


async def test_calls_without_a_token_guess_nothing(gate: Gate) -> None:
    for _ in range(int(FAILURES.burst) * 2):
        assert await gate.identify("", PEER) is NOBODY


# ------------------------------------------------------------------------------------------------------ what it opened


async def test_what_a_token_opened_is_told_when_it_ends(gate: Gate, ledger: Ledger) -> None:
    make_token(ledger)
    make_token(ledger, "bob", "bh_bob")
    ann, bob = await gate.identify("bh_ann", PEER), await gate.identify("bh_bob", PEER)
    with gate.watch(ann) as first, gate.watch(ann) as second, gate.watch(bob) as other, gate.watch(NOBODY) as nobody:
        gate.end(token_key("ann"))
        assert [event.is_set() for event in (first, second, other, nobody)] == [True, True, False, False]
    assert gate._open == {}


class SlowLedger:
    """A ledger whose answer to one look-up is on its way while something else happens."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.asked = threading.Event()
        self.may_answer = threading.Event()

    def bot_with_token(self, token_hash: bytes) -> Bot | None:
        found = self._ledger.bot_with_token(token_hash)
        self.asked.set()
        assert self.may_answer.wait(10)
        return found

    def access_token_with(self, token_hash: bytes) -> AccessToken | None:
        return self._ledger.access_token_with(token_hash)


async def test_a_token_that_ends_while_it_is_looked_up_opens_nothing(
    ledger: Ledger, clock: ManualClock, metrics: LobbyMetrics
) -> None:
    """Whatever hangs on the token was told of its end before this call could be among it."""
    slow = SlowLedger(ledger)
    gate = Gate(slow, AccessRules(), clock, metrics)  # type: ignore[arg-type]  # as much of a ledger as it uses
    make_bot(ledger)
    coming = asyncio.create_task(gate.identify("bh_bot", PEER))
    await asyncio.to_thread(slow.asked.wait, 10)
    ledger.revoke_token("id-alpha")
    gate.end(bot_key("id-alpha"))
    slow.may_answer.set()
    with pytest.raises(PlatformError) as caught:
        await coming
    assert caught.value.reason is Reason.TOKEN_UNKNOWN


# -------------------------------------------------------------------------------------------------------------- streams


async def test_a_stream_ends_with_its_token_even_while_nothing_comes() -> None:
    closed = asyncio.Event()

    async def responses() -> AsyncIterator[int]:
        try:
            yield 1
            await asyncio.Event().wait()
        finally:
            closed.set()

    ended = asyncio.Event()
    stream = until_ended(responses(), ended, token_unknown)  # type: ignore[arg-type]  # a generator, as is written
    assert await anext(stream) == 1
    waiting = asyncio.ensure_future(anext(stream))
    await asyncio.sleep(0)
    ended.set()
    with pytest.raises(PlatformError) as caught:
        await waiting
    assert caught.value.reason is Reason.TOKEN_UNKNOWN
    assert closed.is_set(), "whoever answers is told"


async def test_a_stream_whose_token_holds_gives_everything_and_its_own_errors() -> None:
    async def responses() -> AsyncIterator[int]:
        yield 1
        yield 2
        raise PlatformError(Reason.DRAINING, "enough")

    stream = until_ended(responses(), asyncio.Event(), token_unknown)  # type: ignore[arg-type]
    assert [await anext(stream), await anext(stream)] == [1, 2]
    with pytest.raises(PlatformError, match="enough"):
        await anext(stream)
