"""Who is in, and since when."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from services.lobby.presence import Presence, PresenceBoard, Sighting

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
LATER = NOON + timedelta(minutes=1)


def test_a_bot_that_never_came_is_not_known() -> None:
    assert PresenceBoard().of("b") is None


def test_a_bot_is_in_since_it_came_and_away_since_it_left() -> None:
    board = PresenceBoard()
    board.arrive("b", 4, NOON)
    assert board.of("b") == Sighting(Presence.HERE, NOON, 4)
    assert board.here() == {"b": Sighting(Presence.HERE, NOON, 4)}
    board.leave("b", LATER)
    assert board.of("b") == Sighting(Presence.AWAY, LATER, 0)
    assert board.here() == {}


def test_a_bot_that_comes_in_twice_is_in_since_the_first_time() -> None:
    board = PresenceBoard()
    board.arrive("b", 4, NOON)
    board.arrive("b", 2, LATER)
    assert board.of("b") == Sighting(Presence.HERE, NOON, 2)


def test_a_bot_that_comes_back_is_in_since_then() -> None:
    board = PresenceBoard()
    board.arrive("b", 4, NOON)
    board.leave("b", NOON)
    board.arrive("b", 4, LATER)
    assert board.of("b") == Sighting(Presence.HERE, LATER, 4)
