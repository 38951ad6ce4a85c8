"""Who is in, and since when."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from services.lobby.presence import Presence, PresenceBoard, Sighting

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
LATER = NOON + timedelta(minutes=1)
GONE_AFTER = timedelta(minutes=10)


def test_a_bot_that_never_came_is_not_known() -> None:
    assert PresenceBoard(GONE_AFTER).of("b", NOON) is None


def test_a_bot_is_in_since_it_came_and_away_since_it_left() -> None:
    board = PresenceBoard(GONE_AFTER)
    board.arrive("b", 4, NOON)
    assert board.of("b", LATER) == Sighting(Presence.HERE, NOON, 4)
    assert board.here() == {"b": Sighting(Presence.HERE, NOON, 4)}
    board.leave("b", LATER)
    assert board.of("b", LATER) == Sighting(Presence.AWAY, LATER, 0)
    assert board.here() == {}


def test_a_bot_that_comes_in_twice_is_in_since_the_first_time() -> None:
    board = PresenceBoard(GONE_AFTER)
    board.arrive("b", 4, NOON)
    board.arrive("b", 2, LATER)
    assert board.of("b", LATER) == Sighting(Presence.HERE, NOON, 2)


def test_a_bot_that_comes_back_is_in_since_then() -> None:
    board = PresenceBoard(GONE_AFTER)
    board.arrive("b", 4, NOON)
    board.leave("b", NOON)
    board.arrive("b", 4, LATER)
    assert board.of("b", LATER) == Sighting(Presence.HERE, LATER, 4)


def test_a_bot_that_is_away_for_long_is_gone_since_it_left() -> None:
    board = PresenceBoard(GONE_AFTER)
    board.arrive("b", 4, NOON)
    board.leave("b", LATER)
    assert board.of("b", LATER + GONE_AFTER - timedelta(seconds=1)) == Sighting(Presence.AWAY, LATER, 0)
    assert board.of("b", LATER + GONE_AFTER) == Sighting(Presence.GONE, LATER, 0)
    board.arrive("b", 4, LATER + GONE_AFTER)
    assert board.of("b", LATER + GONE_AFTER) == Sighting(Presence.HERE, LATER + GONE_AFTER, 4)


def test_a_bot_that_is_in_for_long_is_not_gone() -> None:
    board = PresenceBoard(GONE_AFTER)
    board.arrive("b", 4, NOON)
    assert board.of("b", NOON + 100 * GONE_AFTER) == Sighting(Presence.HERE, NOON, 4)


def test_a_bot_whose_token_has_ended_is_gone_at_once_and_stays_so_when_it_is_sent_away() -> None:
    board = PresenceBoard(GONE_AFTER)
    board.arrive("b", 4, NOON)
    board.end("b", LATER)
    board.leave("b", LATER)
    assert board.of("b", LATER) == Sighting(Presence.GONE, LATER, 0)
    assert board.here() == {}
    board.arrive("b", 4, LATER)
    assert board.of("b", LATER) == Sighting(Presence.HERE, LATER, 4)
