"""Reading what a call carries: its token, and where it comes from."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.access.callers import (
    NOBODY,
    Caller,
    current_bot,
    current_caller,
    parse_bearer,
    parse_http_credentials,
)
from services.common.errors import PlatformError, Reason
from services.common.peers import network_of, peer_of
from services.common.scopes import Scope


def basic(text: str) -> str:
    return "Basic " + base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize("value", ["Bearer bh_x", "bearer bh_x", "BEARER  bh_x ", "Bearer bh_x\n"])
def test_a_bearer_token_is_read(value: str) -> None:
    assert parse_bearer(value) == "bh_x"


@pytest.mark.parametrize("value", ["", "bh_x", "Basic bh_x", "Token bh_x", "Bearerbh_x"])
def test_another_form_is_refused_without_repeating_it(value: str) -> None:
    with pytest.raises(PlatformError) as caught:
        parse_bearer(value)
    assert caught.value.reason is Reason.UNAUTHENTICATED
    assert "bh_x" not in f"{caught.value.message}{caught.value.metadata}"


@pytest.mark.parametrize(
    ("value", "token"),
    [("", ""), ("Bearer bh_x", "bh_x"), (basic("ann:bh_x"), "bh_x"), (basic(":bh_x"), "bh_x"), (basic("ann"), "")],
)
def test_browsers_send_the_token_as_a_password(value: str, token: str) -> None:
    assert parse_http_credentials(value) == token


@pytest.mark.parametrize("value", ["Basic ?", "Basic /w==", "Digest x", "x"])
def test_http_credentials_that_cannot_be_read_are_refused(value: str) -> None:
    with pytest.raises(PlatformError) as caught:
        parse_http_credentials(value)
    assert caught.value.reason is Reason.UNAUTHENTICATED


@given(st.text())
def test_no_header_makes_anything_but_a_token_or_a_refusal(value: str) -> None:
    try:
        assert isinstance(parse_http_credentials(value), str)
    except PlatformError as error:
        assert error.reason is Reason.UNAUTHENTICATED  # noqa: PT017 - either is fine


@pytest.mark.parametrize(
    ("address", "peer"),
    [
        ("ipv4:192.0.2.7:50123", "192.0.2.7"),
        ("ipv6:[2001:db8:1:2:3:4:5:6]:50123", "2001:db8:1:2::"),
        ("ipv6:%5B2001:db8:1:2:ffff::1%5D:50123", "2001:db8:1:2::"),
        ("ipv6:[2001:0DB8::1]:1", "2001:db8:0:0::"),
        ("ipv6:[::1]:1", "0:0:0:0::"),
        ("ipv6:%5B::ffff:192.0.2.7%5D:1", "192.0.2.7"),
        ("ipv6:[fe80::1%25eth0]:1", "fe80:0:0:0::"),
        ("unix:", "unix"),
        ("unix:/run/x", "unix"),
        ("", ""),
    ],
)
def test_a_peer_is_a_host_or_the_network_of_one(address: str, peer: str) -> None:
    """Who has one IPv6 address has 2^64, and would have as many bursts."""
    assert peer_of(address) == peer


@given(st.text())
def test_no_address_breaks_it(address: str) -> None:
    peer_of(address)
    network_of(address)


def test_without_a_call_nobody_calls() -> None:
    assert current_caller() is NOBODY
    assert not NOBODY.is_known
    with pytest.raises(RuntimeError):
        current_bot()


def test_the_hash_of_a_token_is_in_no_repr() -> None:
    shown = Caller("ann", frozenset({Scope.READ}), None, b"marked-hash")
    assert "marked-hash" not in repr(shown)
