"""Events ride with the next request; alone they travel only while there is room."""

from __future__ import annotations

from services.match.riding import ALONE_PER_MESSAGE, ALONE_PER_S, BURST, LOOK_S, Riding
from services.match.sessions import Session, SessionTerms


class Passenger:
    """A session that notes when it is woken, and whose riding is looked at by hand."""

    def __init__(self, riding: Riding, name: str = "bot") -> None:
        self.woken = 0
        terms = SessionTerms(name, name, tables=1, list_legal=False, window=1)
        self.session = Session(terms, {}, 0.0, self._wake, riding.wait)

    def _wake(self) -> None:
        self.woken += 1


def test_an_event_is_sent_alone_at_the_second_look_and_not_before() -> None:
    riding = Riding(0.0)
    bot = Passenger(riding)
    bot.session.push(b"event")
    assert list(riding.look(0, LOOK_S)) == []
    assert list(riding.look(0, 2 * LOOK_S)) == [bot.session]
    assert not riding


def test_events_that_a_request_took_along_are_not_waited_for() -> None:
    riding = Riding(0.0)
    bot = Passenger(riding)
    bot.session.push(b"event")
    list(riding.look(0, LOOK_S))
    bot.session.push_now(b"request")
    assert bot.session.take(LOOK_S, 0.0) == b"eventrequest"
    assert list(riding.look(1, 2 * LOOK_S)) == []
    assert not riding


def test_a_confirmation_hurries_nothing_but_what_is_urgent() -> None:
    riding = Riding(0.0)
    bot = Passenger(riding)
    bot.session.push_now(b"request")
    bot.session.take(0.0, 0.0)
    bot.session.push(b"event")
    woken = bot.woken
    bot.session.heard(0.0, 1)
    assert bot.woken == woken
    bot.session.push_now(b"request")
    bot.session.take(0.0, 0.0)
    bot.session.push_now(b"request")
    woken = bot.woken
    bot.session.heard(0.0, 2)
    assert bot.woken == woken + 1


def test_events_that_came_while_a_message_was_on_its_way_wait_from_its_confirmation() -> None:
    riding = Riding(0.0)
    bot = Passenger(riding)
    bot.session.push_now(b"request")
    bot.session.take(0.0, 0.0)
    bot.session.push(b"event")
    for look in range(1, 4):
        assert list(riding.look(1, look * LOOK_S)) == []
    assert not riding
    bot.session.heard(0.0, 1)
    assert list(riding.look(1, 4 * LOOK_S)) == []
    assert list(riding.look(1, 5 * LOOK_S)) == [bot.session]


def test_without_room_they_wait_and_go_first_when_there_is_room_again() -> None:
    riding = Riding(0.0)
    bots = [Passenger(riding, str(number)) for number in range(int(BURST) + 2)]
    for bot in bots:
        bot.session.push(b"event")
    list(riding.look(0, 0.0))
    assert [session.terms.name for session in riding.look(0, 0.0)] == [str(number) for number in range(int(BURST))]
    assert riding
    assert list(riding.look(0, 0.0)) == []
    assert [session.terms.name for session in riding.look(0, 1 / ALONE_PER_S)] == [str(int(BURST))]
    more = int(1 / ALONE_PER_MESSAGE)
    assert [session.terms.name for session in riding.look(more, 1 / ALONE_PER_S)] == [str(int(BURST) + 1)]


def test_all_the_same_everything_is_sent_in_the_end() -> None:
    riding = Riding(0.0)
    bots = [Passenger(riding, str(number)) for number in range(500)]
    now = 0.0
    for bot in bots:
        bot.session.push(b"event")
    while riding:
        now += LOOK_S
        for session in riding.look(0, now):
            assert session.take(now, 0.0) == b"event"
    assert now < 2 * len(bots) / ALONE_PER_S
