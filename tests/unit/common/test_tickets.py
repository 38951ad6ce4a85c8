"""Tickets let in whom the lobby let in, where and while it said, and nobody else."""

from __future__ import annotations

import base64
import contextlib
import hmac
import struct
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.common.errors import PlatformError, Reason
from services.common.tickets import (
    TEXT_LIMIT,
    EndedTokens,
    Ticket,
    TicketFault,
    TokenEnd,
    issue_ticket,
    verify_ticket,
)

KEY = bytes(range(32))
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
TICKET = Ticket("b-1", "my-bot", "match-1", 12, NOON + timedelta(minutes=5), NOON - timedelta(days=1))


def fault_of(text: str, *, key: bytes = KEY, service: str = "match-1", now: datetime = NOON) -> str:
    with pytest.raises(PlatformError) as caught:
        verify_ticket(key, text, service, now)
    assert caught.value.reason is Reason.TICKET_INVALID
    return caught.value.metadata["fault"]


def test_a_good_ticket_comes_back_as_it_was_issued() -> None:
    assert verify_ticket(KEY, issue_ticket(KEY, TICKET), "match-1", NOON) == TICKET


@given(
    st.builds(
        Ticket,
        st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
        st.integers(0, 2**32 - 1),
        st.datetimes(datetime(2026, 12, 1), datetime(2400, 1, 1), timezones=st.just(UTC)),
        st.datetimes(datetime(1970, 1, 1), datetime(2400, 1, 1), timezones=st.just(UTC)),
    )
)
def test_every_ticket_round_trips(ticket: Ticket) -> None:
    assert verify_ticket(KEY, issue_ticket(KEY, ticket), ticket.match_service, NOON) == ticket


def test_a_ticket_ends_at_the_moment_it_names() -> None:
    text = issue_ticket(KEY, TICKET)
    assert verify_ticket(KEY, text, "match-1", TICKET.expires_at - timedelta(microseconds=1)) == TICKET
    assert fault_of(text, now=TICKET.expires_at) == TicketFault.EXPIRED


def test_a_ticket_is_for_one_match_service() -> None:
    assert fault_of(issue_ticket(KEY, TICKET), service="match-2") == TicketFault.OTHER_MATCH_SERVICE


def test_a_ticket_of_another_key_is_forged() -> None:
    assert fault_of(issue_ticket(bytes(32), TICKET)) == TicketFault.FORGED


def test_no_character_of_a_ticket_can_be_changed() -> None:
    text = issue_ticket(KEY, TICKET)
    for place, old in enumerate(text[:-1]):  # of the last character some bits mean nothing
        changed = text[:place] + ("A" if old != "A" else "B") + text[place + 1 :]
        assert fault_of(changed) == TicketFault.FORGED


@pytest.mark.parametrize("text", ["x", "\x00", "保皇", "====", "a" * (TEXT_LIMIT + 1), "AQ", " "])
def test_what_is_no_ticket_is_forged(text: str) -> None:
    assert fault_of(text) == TicketFault.FORGED


def test_no_ticket_at_all_is_unauthenticated() -> None:
    with pytest.raises(PlatformError) as caught:
        verify_ticket(KEY, "", "match-1", NOON)
    assert caught.value.reason is Reason.UNAUTHENTICATED


@pytest.mark.parametrize("broken", [lambda text: text[:-4], lambda text: text + "AAAA", lambda text: text * 2])
def test_a_ticket_cut_or_lengthened_is_forged(broken: Callable[[str], str]) -> None:
    assert fault_of(broken(issue_ticket(KEY, TICKET))) == TicketFault.FORGED


def test_errors_do_not_give_the_key_or_the_ticket_away() -> None:
    text = issue_ticket(KEY, TICKET)
    with pytest.raises(PlatformError) as caught:
        verify_ticket(KEY, text, "match-2", NOON)
    shown = f"{caught.value!r} {caught.value.metadata}"
    assert text not in shown
    assert KEY.hex() not in shown


@pytest.mark.parametrize(
    "ticket", [replace(TICKET, tables=-1), replace(TICKET, tables=2**32), replace(TICKET, bot_name="x" * TEXT_LIMIT)]
)
def test_a_ticket_that_cannot_be_written_is_refused(ticket: Ticket) -> None:
    with pytest.raises(ValueError, match="ticket"):
        issue_ticket(KEY, ticket)


def test_a_short_key_is_refused() -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        issue_ticket(b"short", TICKET)


def test_a_ticket_of_an_earlier_version_is_told_so() -> None:
    """Such tickets were made by a platform before an upgrade, with the same key only in a cluster that lives on."""
    body = struct.pack(">BQI", 1, 2**50, 3) + b"\x00\x03b-1\x00\x01x\x00\x07match-1"
    mac = hmac.digest(KEY, b"baohuang ticket\x00" + body, "sha256")
    text = base64.urlsafe_b64encode(body + mac).rstrip(b"=").decode()
    assert fault_of(text) == TicketFault.OTHER_VERSION


# ------------------------------------------------------------------------------------------------- tokens that ended


def ended(bot_id: str = "b-1", before: datetime = NOON, minutes: float = 10) -> TokenEnd:
    return TokenEnd(bot_id, before, NOON + timedelta(minutes=minutes))


def is_refused(tokens: EndedTokens, ticket: Ticket) -> bool:
    with contextlib.suppress(PlatformError):
        tokens.verify(ticket)
        return False
    return True


def test_a_refused_ticket_is_told_what_is_wrong_with_it() -> None:
    tokens = EndedTokens()
    tokens.add(ended(), NOON)
    with pytest.raises(PlatformError) as caught:
        tokens.verify(TICKET)
    assert caught.value.reason is Reason.TICKET_INVALID
    assert caught.value.metadata["fault"] == TicketFault.TOKEN_ENDED


def test_tickets_that_rest_on_an_ended_token_are_refused_and_later_ones_are_not() -> None:
    tokens = EndedTokens()
    assert not is_refused(tokens, TICKET)
    tokens.add(ended(), NOON)
    assert is_refused(tokens, TICKET)
    assert is_refused(tokens, replace(TICKET, token_since=NOON - timedelta(microseconds=1)))
    assert not is_refused(tokens, replace(TICKET, token_since=NOON))
    assert not is_refused(tokens, replace(TICKET, bot_id="b-2"))


def test_what_is_told_twice_or_out_of_order_is_told_once() -> None:
    tokens = EndedTokens()
    for before in (NOON, NOON - timedelta(hours=1), NOON):
        tokens.add(ended(before=before), NOON)
    assert len(tokens) == 1
    assert is_refused(tokens, TICKET)
    assert not is_refused(tokens, replace(TICKET, token_since=NOON))


def test_ended_tokens_are_forgotten_when_their_last_tickets_have_ended() -> None:
    # given the tokens of a thousand bots, ended one after the other, whose tickets last ten seconds
    tokens = EndedTokens()
    most = 0
    for second in range(1000):
        now = NOON + timedelta(seconds=second)
        tokens.add(TokenEnd(f"b-{second}", now, now + timedelta(seconds=10)), now)
        most = max(most, len(tokens))
        # then none is forgotten that still matters
        assert is_refused(tokens, replace(TICKET, bot_id=f"b-{max(0, second - 9)}", token_since=NOON - timedelta(1)))
    # and no more are kept than a few
    assert most <= 64


def test_an_end_whose_tickets_are_over_is_not_remembered() -> None:
    tokens = EndedTokens()
    tokens.add(ended(minutes=0), NOON)
    assert len(tokens) == 0
