"""A seat that was taken over belongs to the house bot: what its bot sends, and its clock, touch the match no more."""

from __future__ import annotations

from baohuang.match.v1 import match_service_pb2 as pb
from services.common.matches import Ending, FaultRules
from tests.unit.match.fakes import Play, decision

SEAT = 3


def taken_over() -> Play:
    """A match in which the house bot that has taken over is asked, and has not had its turn yet."""
    play = Play(faults=FaultRules(takeover_after=1)).open()
    seat = play.table.seats[SEAT]
    while not seat.taken_over:
        if SEAT in play.asked():
            play.host.advance(2.5)
        else:
            play.answer(play.asked()[0])
    while not (seat.request and seat.house):
        other = play.asked()[0]
        request = play.wires[other].request
        view = play.wires[other].view
        assert request is not None
        assert view is not None
        play.table.decide(play.table.seats[other], decision(request, play._random.answer(view)), play.host.now)
        if not (seat.request and seat.house):
            play.host.run_house()
    return play


def test_an_answer_for_a_seat_that_was_taken_over_is_dropped_even_if_its_number_is_guessed() -> None:
    play = taken_over()
    seat = play.table.seats[SEAT]
    late = play.host.observer.late_answers
    for index in range(3):
        guessed = pb.Decision(table=3, request=seat.request, index=index)
        in_vain = not play.table.decide(seat, guessed, play.host.now)
        assert in_vain is (index > 0), "one may be the answer that came too late, the others are not"
    assert play.host.observer.late_answers == late + 3
    play.host.run_house()
    outcome = play.finish()
    assert outcome.ending is Ending.COMPLETED_WITH_FAULTS
    assert outcome.faults[SEAT].timeouts == 1
    assert outcome.faults[SEAT].illegal_answers == 0


def test_a_deadline_that_is_looked_at_after_the_takeover_is_nobodys() -> None:
    """The late answer itself may have ended the bot's turn, while its deadline is still being watched."""
    play = taken_over()
    seat = play.table.seats[SEAT]
    play.host.clock.advance(10.0)
    assert play.table.overdue(seat, play.host.now) is None
    play.host.run_house()
    outcome = play.finish()
    assert outcome.ending is Ending.COMPLETED_WITH_FAULTS
    assert outcome.faults[SEAT].timeouts == 1


def test_a_bot_that_comes_back_learns_that_its_seat_was_taken_over() -> None:
    play = Play(faults=FaultRules(takeover_after=1)).open()
    seat = play.table.seats[SEAT]
    play.table.detach(seat, play.host.now)
    while not seat.taken_over:
        ready = [one for one in play.asked() if one != SEAT]
        if ready:
            play.answer(ready[0])
        else:
            play.host.advance(2.5)
    again = play.wires[SEAT]
    again.records.clear()
    play.table.attach(seat, again, play.host.now)
    assert again.kinds() == ["resumed", "taken_over"]
