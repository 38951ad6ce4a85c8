"""The clock of a seat: kinds of decision with limits of their own, the bank, and when a deadline is looked at."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bots_sdk.replay import decompress_record, record_from_bytes
from bots_sdk.rules.answers import Answer, Word
from bots_sdk.rules.phases import Phase
from services.common.matches import ClockRules, FaultRules
from services.match.clocks import WRITE_PATIENCE, Departure, SeatClock, limit_of
from tests.unit.match.fakes import Play

ASKED = [phase for phase in Phase if phase <= Phase.PLAY]
OWN_LIMITS = ClockRules(
    limit=timedelta(seconds=2),
    limits=((Phase.WINDOW, timedelta(seconds=30)), (Phase.PLAY, timedelta(seconds=1))),
    grace=timedelta(milliseconds=200),
)


def test_every_request_says_the_limit_of_its_kind() -> None:
    play = Play(clock=OWN_LIMITS).open()
    for seat in play.asked():
        play.answer(seat, Answer(Word.STAY))  # a solo would spare the rest
    play.finish()
    told = {Phase(record.request.phase): record.request.limit_ms for wire in play.wires.values()
            for record in wire.records if record.WhichOneof("record") == "request"}  # fmt: skip
    assert told.pop(Phase.WINDOW) == 30_000
    assert told.pop(Phase.PLAY) == 1_000
    assert told, "there were other kinds"
    assert set(told.values()) == {2_000}


def test_the_bots_and_the_record_are_told_which_limits_there_are() -> None:
    play = Play(clock=OWN_LIMITS).open()
    outcome = play.finish()
    seated = play.wires[0].last("seated").seated.clock
    recorded = record_from_bytes(decompress_record(outcome.record)).clock
    assert seated == recorded
    assert [(Phase(one.phase), one.limit_ms) for one in seated.limits] == [(Phase.WINDOW, 30_000), (Phase.PLAY, 1_000)]


def test_a_decision_is_overdue_by_the_limit_of_its_own_kind() -> None:
    """The window has the longer limit: what is watched for its sake must not hide the shorter one of the next kind."""
    play = Play(clock=OWN_LIMITS, faults=FaultRules(takeover_after=0)).open()
    play.host.advance(29.0)
    assert play.host.observer.timeouts == 0
    while play.asked() and play.wires[play.asked()[0]].request.phase != Phase.PLAY:  # type: ignore[union-attr]
        play.answer(play.asked()[0])
    (seat,) = play.asked()
    play.host.advance(1.1)
    assert play.host.observer.timeouts == 0, "the grace is not over"
    play.host.advance(0.2)
    assert play.host.observer.timeouts == 1
    assert play.wires[seat].last("charged").charged.timed_out


def test_clocks_off_are_off_for_every_kind() -> None:
    play = Play(clock=ClockRules(limit=None, limits=((Phase.PLAY, timedelta(seconds=1)),))).open()
    assert list(play.wires[0].last("seated").seated.clock.limits) == []
    while play.wires[play.asked()[0]].request.phase != Phase.PLAY:  # type: ignore[union-attr]
        play.answer(play.asked()[0])
    play.host.advance(1e6)
    assert play.host.observer.timeouts == 0
    assert play.wires[play.asked()[0]].request.limit_ms == 0  # type: ignore[union-attr]


def test_the_bank_lends_to_any_kind_and_grows_with_each_decision() -> None:
    clock = SeatClock(
        ClockRules(
            limit=timedelta(seconds=1), limits=((Phase.CALL, timedelta(seconds=10)),), bank=timedelta(seconds=4),
            increment=timedelta(milliseconds=500), grace=timedelta(0),
        )
    )  # fmt: skip
    clock.ask(0.0, 0.0, Phase.CALL)
    clock.unreachable(0.0)
    assert not clock.stop(9.0, 0.0).timed_out
    assert clock.bank == pytest.approx(4.5)
    clock.ask(9.0, 0.0, Phase.PLAY)
    clock.unreachable(9.0)
    assert clock.due(0.0) == pytest.approx(9.0 + 1.0 + 4.5)
    assert not clock.stop(13.0, 0.0).timed_out
    assert clock.bank == pytest.approx(4.5 - 3.0 + 0.5)
    clock.ask(13.0, 0.0, Phase.PLAY)
    clock.unreachable(13.0)
    late = clock.stop(16.5, 0.0)
    assert late.timed_out
    assert clock.bank == 0.0, "what was in it is spent, and nothing is added for a decision that did not come"


def test_what_is_overdue_to_the_moment_leaves_nothing_in_the_bank() -> None:
    """It is called so at the very end of its time, when an answer would still have been in time."""
    clock = ClockRules(
        limit=timedelta(seconds=2), bank=timedelta(seconds=1), increment=timedelta(seconds=1), grace=timedelta(0)
    )
    play = Play(clock=clock).open()
    (seat, *_) = play.asked()
    play.host.advance(3.0)
    charged = play.wires[seat].last("charged").charged
    assert (charged.timed_out, charged.charged_us, charged.bank_ms) == (True, 3_000_000, 0)


@given(st.floats(0.001, 100), st.floats(0, 100), st.floats(0, 10), st.floats(0, 1000))
def test_what_is_in_time_by_no_more_than_a_rounding_error_is_in_time(
    limit: float, bank: float, grace: float, start: float
) -> None:
    one = timedelta(seconds=1)
    clock = SeatClock(ClockRules(one * limit, bank=one * bank, increment=one, grace=one * grace))
    clock.ask(start, 0.0, Phase.PLAY)
    clock.unreachable(start)
    charge = clock.stop(start + clock.allowed, 0.0)
    if not charge.timed_out:
        assert clock.bank == pytest.approx(1.0), "all that was lent is gone, and the decision is paid for"


seconds = st.integers(1, 40).map(lambda tenths: timedelta(milliseconds=100 * tenths))
rules = st.builds(
    ClockRules,
    limit=seconds,
    limits=st.dictionaries(st.sampled_from(ASKED), seconds).map(lambda limits: tuple(sorted(limits.items()))),
    bank=st.sampled_from([timedelta(0), timedelta(seconds=3)]),
    increment=st.sampled_from([timedelta(0), timedelta(milliseconds=700)]),
    grace=st.sampled_from([timedelta(0), timedelta(milliseconds=200)]),
)


@given(rules, st.lists(st.tuples(st.sampled_from(ASKED), st.floats(0, 1)), min_size=1, max_size=30))
def test_one_watched_deadline_never_hides_an_earlier_one(
    rules: ClockRules, decisions: list[tuple[Phase, float]]
) -> None:
    """Only what is looked at no later than it is due can be dealt with in time."""
    clock, now = SeatClock(rules), 0.0
    watched = clock.soonest(now)
    assert watched is not None
    for phase, used in decisions:
        clock.ask(now, 0.0, phase)
        clock.unreachable(now)
        due = clock.due(0.0)
        assert due is not None
        assert due == pytest.approx(now + (limit_of(rules, phase) or 0) + clock.bank + rules.grace.total_seconds())
        assert watched <= due + 1e-9
        now += used * (due - now)
        clock.stop(now, 0.0)
        if watched <= now:
            watched = clock.soonest(now) or 0.0


def write(clock: SeatClock, now: float, lag: float) -> None:
    departure = Departure()
    clock.look_back()
    clock.departure = departure
    departure.written(now, lag)


def unread(clock: ClockRules) -> SeatClock:
    """A decision that is asked for at 0, whose request waits because the client confirms nothing."""
    seat = SeatClock(clock)
    seat.ask(0.0, 0.0, Phase.PLAY)
    return seat


BANKED = ClockRules(limit=timedelta(seconds=1), bank=timedelta(seconds=60), increment=timedelta(seconds=1))


def test_a_request_that_is_never_read_costs_what_it_took() -> None:
    """Otherwise whoever confirms nothing gets the increment for it, and its bank is lent anew to every decision."""
    clock = unread(BANKED)
    due = WRITE_PATIENCE + 1 + 60 + 0.2
    assert clock.due(0.0) == pytest.approx(due)
    charge = clock.stop(due + 0.001, 0.0)
    assert charge.timed_out
    assert charge.charged > 61.0
    assert clock.bank == 0.0


def test_a_request_that_is_read_late_has_the_time_that_is_left() -> None:
    """To confirm late must not be a way to hold up a table as long as the bank lasts, again and again for nothing."""
    clock = unread(BANKED)
    due = clock.due(0.0)
    write(clock, 50.0, 0.0)
    assert clock.due(0.0) == due
    assert clock.left(50.0, 0.0) == 0.0
    assert clock.stop(50.5, 0.0).charged == pytest.approx(50.5 - WRITE_PATIENCE - 0.2)
    assert clock.bank == pytest.approx(60 + 1 - (50.5 - WRITE_PATIENCE - 0.2 - 1))


def test_a_request_that_waits_a_moment_has_all_its_time_and_one_that_waits_for_the_service_too() -> None:
    clock = unread(BANKED)
    write(clock, 0.9, 0.0)
    assert clock.left(0.9, 0.0) == 1.0
    clock = unread(BANKED)
    write(clock, 5.0, 4.5)
    assert clock.left(5.0, 4.5) == 1.0, "the service itself was late"
    clock = unread(BANKED)
    clock.unreachable(30.0)
    assert clock.due(0.0) == pytest.approx(WRITE_PATIENCE + 1 + 60 + 0.2), "nor does a broken wire begin anew"


@pytest.mark.parametrize("list_legal", [False, True])
def test_a_bank_that_has_grown_for_weeks_is_shown_as_what_the_field_holds(list_legal: bool) -> None:
    """An hour for each decision of a long match is beyond what 32 bits of milliseconds hold."""
    rules = ClockRules(bank=timedelta(days=49), increment=timedelta(hours=9))
    play = Play(clock=rules, list_legal=list_legal).open()
    assert play.finish().ending.counts
    shown = [record.request.bank_ms for record in play.wires[0].records if record.WhichOneof("record") == "request"]
    assert max(shown) == (1 << 32) - 1
    assert shown == sorted(shown)
    seat = play.table.seats[0]
    assert seat.clock.bank > (1 << 32) / 1000
