"""A bot with many tables that comes back is told all of them anew, and is not sent away for how much that is."""

from __future__ import annotations

import pytest

from services.match import sessions
from services.match.sessions import Session
from tests.unit.match.hall import Hall, order_for

TABLES = 30


def test_what_a_bot_is_told_anew_is_not_held_against_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """At some thousand tables it is more than `OUTBOX_BYTES`; the bot came back, had to go again, for ever."""
    monkeypatch.setattr(sessions, "MESSAGE_BYTES", 1_000)
    hall = Hall()
    first = hall.come("ann", TABLES)
    hall.floor.submit([order_for("ann", attempt=f"a{number}") for number in range(TABLES)], hall.now)
    hall.settle()
    first.read()
    first.ready()
    first.leave()
    monkeypatch.setattr(sessions, "OUTBOX_BYTES", 5_000)
    back = hall.come("ann", TABLES)
    # it reads one message, and the floor looks after those that do not read before it reads the next
    message = back.session.take(hall.now, 0.0)
    assert message is not None
    hall.floor.tidy(hall.now, 1e9)
    assert back.session.farewell is None
    back.session.heard(hall.now, 1)
    back._read = 1
    back.read()
    assert len(back.resumed) > TABLES / 2
    # what comes on top of that is bounded as ever
    for _ in range(6):
        back.session.push_now(bytes(1_000))
    hall.floor.tidy(hall.now, 1e9)
    assert back.session.farewell is not None


def test_what_is_told_anew_is_forgiven_once_and_not_again_when_it_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "OUTBOX_BYTES", 5_000)
    terms = sessions.SessionTerms(bot_id="b", name="b", tables=1, list_legal=False, window=1)
    session = Session(terms, {}, 0.0, lambda: None, lambda _: None)
    session.push_now(bytes(20_000))
    session.forgive()
    assert not session.is_flooded
    assert session.take(0.0, 0.0) is not None
    for _ in range(6):
        session.push_now(bytes(1_000))
    assert session.is_flooded
