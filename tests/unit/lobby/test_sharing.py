"""A bot's tables are shared out so that it never has more than it takes, and any two bots can meet."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from services.lobby.sharing import share_tables

NAMES = st.sets(st.text("abc123", min_size=1, max_size=4), min_size=1, max_size=8).map(list)


@given(st.integers(1, 50), NAMES)
def test_the_sum_is_what_the_bot_takes_and_the_shares_are_even(tables: int, names: list[str]) -> None:
    shares = share_tables(tables, names)
    assert sum(shares.values()) == tables
    assert set(shares) <= set(names)
    assert min(shares.values()) >= 1
    assert max(shares.values()) - (min(shares.values()) if len(shares) == len(names) else 0) <= 1


@given(st.integers(1, 50), st.integers(1, 50), NAMES)
def test_any_two_bots_have_a_match_service_in_common(one: int, other: int, names: list[str]) -> None:
    assert share_tables(one, names).keys() & share_tables(other, names).keys()


@given(st.integers(1, 50), NAMES)
def test_the_order_of_the_names_changes_nothing(tables: int, names: list[str]) -> None:
    assert share_tables(tables, sorted(names)) == share_tables(tables, sorted(names, reverse=True))


def test_without_match_services_there_is_nothing_to_share() -> None:
    assert share_tables(5, []) == {}
