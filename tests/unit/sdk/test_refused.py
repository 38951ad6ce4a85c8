"""What the SDK makes of a refusal: which error it is, what to do next, and when to come again."""

from __future__ import annotations

import pytest

from bots_sdk.client.lobby import Registered, Ticket
from bots_sdk.errors import ASK_OPERATOR, MOST_RETRY_S, Refused, TokenRejected, make_refused
from bots_sdk.runner import RunnerSettings


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1500", 1.5),
        ("0", 0.0),
        ("60001", MOST_RETRY_S),
        ("", 0.0),
        ("-5", 0.0),
        ("x", 0.0),
        ("9" * 9, 0.0),
        ("٣", 0.0),
    ],
)
def test_a_platform_is_left_alone_as_long_as_it_says_within_reason(text: str, seconds: float) -> None:
    assert make_refused("REASON_RATE_LIMITED", "too often", {"retry_after_ms": text}).retry_after_s == seconds
    assert make_refused("REASON_RATE_LIMITED", "too often").retry_after_s == 0.0


@pytest.mark.parametrize("reason", ["REASON_UNAUTHENTICATED", "REASON_TOKEN_UNKNOWN", "REASON_FORBIDDEN"])
def test_a_bot_does_not_try_again_with_a_token_that_does_not_do(reason: str) -> None:
    assert isinstance(make_refused(reason, "no"), TokenRejected)


@pytest.mark.parametrize("reason", ["REASON_UNAUTHENTICATED", "REASON_FORBIDDEN"])
def test_what_only_operators_may_do_is_said_to_be_theirs(reason: str) -> None:
    refused = make_refused(reason, "RegisterBot needs a token.", {"needs": "operate"})
    assert refused.next_step == ASK_OPERATOR
    assert make_refused(reason, "Attend needs a token.", {"needs": "play"}).next_step != ASK_OPERATOR
    assert isinstance(refused, Refused)


def test_tokens_and_tickets_are_in_no_repr() -> None:
    for value in (
        Registered("id", "alpha", "bh_marked"),
        Ticket("match-1", "127.0.0.1:1", "marked", 3),
        RunnerSettings("127.0.0.1:1", "bh_marked"),
    ):
        assert "marked" not in repr(value)
