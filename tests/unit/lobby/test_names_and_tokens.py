"""Which names a bot may have, and what tokens look like."""

from __future__ import annotations

import hashlib
import re

import pytest

from services.access.tokens import hash_token, make_token
from services.common.errors import PlatformError, Reason
from services.lobby.bots import make_bot_id, verify_name, verify_text

HOUSE = {"greedy", "random"}


@pytest.mark.parametrize("name", ["a", "7", "My-Bot_v1.2", "x" * 40, "greedy2", "house"])
def test_a_good_name_is_accepted(name: str) -> None:
    verify_name(name, HOUSE)


@pytest.mark.parametrize(
    "name", ["", "x" * 41, "-a", ".a", "_a", "a b", "a\n", "a/b", "保皇", "é", "a\x00", "a:b", "<b>", "１"]
)
def test_a_name_of_another_form_is_refused_saying_which_form_is_allowed(name: str) -> None:
    with pytest.raises(PlatformError, match="1 to 40 letters") as caught:
        verify_name(name, HOUSE)
    assert caught.value.reason is Reason.NAME_INVALID


@pytest.mark.parametrize("name", ["house:greedy", "house:", "greedy", "Greedy", "RANDOM"])
def test_names_of_house_bots_are_reserved(name: str) -> None:
    with pytest.raises(PlatformError, match="house bot") as caught:
        verify_name(name, HOUSE)
    assert caught.value.reason is Reason.NAME_INVALID


@pytest.mark.parametrize("text", ["", "Ann", "保皇 1.0 (ß)"])
def test_other_texts_may_be_anything_that_can_be_printed(text: str) -> None:
    verify_text("owner", text, 40)


@pytest.mark.parametrize("text", ["x" * 41, "a\nb", "\x1b[31m", "\u202e"])
def test_texts_that_are_long_or_change_the_terminal_are_refused_by_field(text: str) -> None:
    with pytest.raises(PlatformError, match="owner") as caught:
        verify_text("owner", text, 40)
    assert (caught.value.reason, caught.value.metadata["field"]) == (Reason.MALFORMED, "owner")


def test_a_token_is_known_by_its_prefix_and_holds_32_random_bytes() -> None:
    assert re.fullmatch(r"bh_[A-Za-z0-9_-]{43}", make_token())
    assert len({make_token() for _ in range(100)}) == 100


def test_the_hash_of_a_token_is_its_sha_256() -> None:
    assert hash_token("bh_x") == hashlib.sha256(b"bh_x").digest()


def test_anything_can_be_hashed() -> None:
    assert len(hash_token("保皇\ud800")) == 32


def test_ids_of_bots_are_never_those_of_house_bots() -> None:
    ids = {make_bot_id() for _ in range(100)}
    assert len(ids) == 100
    assert not any(bot_id.startswith("house:") for bot_id in ids)
