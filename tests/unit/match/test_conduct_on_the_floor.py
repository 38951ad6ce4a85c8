"""What honest clients send is never held against them: however fast, however slow, at however many tables."""

from __future__ import annotations

from services.match.conduct import WASTE
from services.match.floor import FORGOTTEN_AFTER, UNREAD_RETRY_S
from tests.unit.match.hall import Hall, Visitor, order_for

TABLES = 60


def seated(hall: Hall, bot: str = "ann", tables: int = TABLES) -> Visitor:
    """A bot that has been asked for its first answer at every table."""
    visitor = hall.come(bot, tables)
    hall.floor.submit([order_for(bot, attempt=f"a{number}") for number in range(tables)], hall.now)
    visitor.read()
    visitor.ready()
    visitor.read()
    assert len(visitor.requests) == tables
    return visitor


def left_in_bucket(hall: Hall, visitor: Visitor) -> int:
    """What the bot may still send in vain, once that which it has sent is counted."""
    conduct = hall.floor.conduct_of(visitor.bot_id, hall.now)
    for _ in range(visitor.in_vain):
        assert not conduct.waste(hall.now)
    left = 0
    while not conduct.waste(hall.now):
        left += 1
    return left


def test_answering_everything_at_once_is_never_in_vain() -> None:
    hall = Hall()
    visitor = seated(hall)
    while len(hall.outcomes()) < TABLES:
        visitor.read()
        visitor.answer(TABLES)
    assert visitor.in_vain == 0


def test_answering_everything_too_late_is_excused_once_for_each_request() -> None:
    hall = Hall()
    visitor = seated(hall)
    late = list(visitor.requests.values())
    hall.advance(2.0)
    for request in late:
        visitor.decide(request)
    assert visitor.in_vain == 0
    for request in late:
        visitor.decide(request)
    assert visitor.in_vain == TABLES


def test_answers_that_cross_with_the_end_of_their_matches_are_excused() -> None:
    hall = Hall()
    visitor = seated(hall)
    crossing = list(visitor.requests.values())
    hall.floor.withdraw("t")
    for request in crossing:
        visitor.decide(request)
    assert visitor.in_vain == TABLES
    assert left_in_bucket(hall, visitor) >= WASTE.burst


def test_answers_that_are_sent_again_after_coming_back_are_excused() -> None:
    hall = Hall()
    visitor = seated(hall)
    answered = list(visitor.requests.values())
    for request in answered:
        visitor.decide(request)
    again = hall.come("ann", TABLES)
    for request in answered:
        again.decide(request)
    assert again.in_vain == TABLES
    assert left_in_bucket(hall, again) >= WASTE.burst


def test_a_match_that_ends_excuses_only_those_who_sat_there() -> None:
    hall = Hall()
    seated(hall)
    stranger = hall.come("ben", 1)
    hall.floor.withdraw("t")
    assert left_in_bucket(hall, stranger) == WASTE.burst


def test_nothing_is_remembered_of_a_bot_that_has_gone_and_behaved() -> None:
    hall = Hall()
    visitor = seated(hall)
    hall.floor.withdraw("t")
    visitor.leave()
    hall.advance(2 * UNREAD_RETRY_S)
    assert hall.floor._conducts == {}


def test_what_is_said_while_the_service_stands_still_is_no_silence() -> None:
    hall = Hall()
    visitor = hall.come("ann", 1)
    hall.advance(1.0, silence=10.0)
    # the loop is blocked for a minute; what the bot said meanwhile lies unread in the socket
    hall.clock.advance(60.0)
    hall.floor.sweep(hall.now, 0.1)
    hall.floor.tidy(hall.now, 10.0)
    assert visitor.session.farewell is None
    # it is read now
    visitor.session.heard(hall.now, 0)
    hall.advance(9.0, silence=10.0)
    assert visitor.session.farewell is None
    hall.advance(3.0, silence=10.0)
    assert visitor.session.farewell is not None


def test_nothing_at_all_is_remembered_of_bots_that_come_once_and_never_again() -> None:
    hall = Hall()
    playing = seated(hall, tables=1)
    for number in range(50):
        hall.come(f"stranger-{number}", 1).leave()
    playing.leave()
    hall.advance(2 * FORGOTTEN_AFTER)
    assert hall.outcomes(), "the house bot that took over has ended the match"
    floor = hall.floor
    assert (floor._conducts, floor._absent_since, floor._seats) == ({}, {}, {})


def test_a_bot_that_comes_while_the_service_stops_is_told_so() -> None:
    hall = Hall()
    seated(hall, tables=1)
    hall.floor.drain(60.0)
    hall.advance(20.0)
    late = hall.come("ben", 1)
    late.read()
    assert [told.grace_ms for told in late.draining] == [40_000]
