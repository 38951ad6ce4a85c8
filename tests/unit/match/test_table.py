"""A table, from seated to its outcome: answers that are late, missing, illegal, garbled; bots that go and come back."""

from __future__ import annotations

from datetime import timedelta

import pytest

from baohuang.cards.v1 import answer_pb2, event_pb2
from baohuang.match.v1 import match_service_pb2 as pb
from bots_sdk.bot import Bot
from bots_sdk.house import make_house_bot
from bots_sdk.rules.answers import Answer, Word
from bots_sdk.rules.cards import STRENGTH_OF
from bots_sdk.rules.shuffle import commitment
from bots_sdk.rules.view import View
from services.common.matches import ClockRules, Ending, FaultRules, IllegalPolicy
from services.match.table import Table
from tests.properties.test_no_leak import seen
from tests.unit.match.fakes import FakeWire, Play, decision


def test_a_match_of_honest_bots_is_completed_and_counts() -> None:
    play = Play(deals=2).open()
    outcome = play.finish()
    assert outcome.ending is Ending.COMPLETED
    assert outcome.ending.counts
    assert [deal.number for deal in outcome.deals] == [0, 1]
    assert all(sum(deal.points) == 0 and sorted(deal.places) == [0, 1, 2, 3, 4] for deal in outcome.deals)
    assert outcome.decisions == len(play.host.observer.decisions)
    ended = play.wires[0].last("match_ended").match_ended
    assert ended.ending == pb.ENDING_COMPLETED
    assert list(ended.points) == [sum(deal.points[seat] for deal in outcome.deals) for seat in range(5)]


def test_house_bots_fill_seats_and_nobody_else_is_needed() -> None:
    play = Play(remote=()).open()
    assert play.finish().ending is Ending.COMPLETED


def test_the_first_request_waits_for_the_last_ready() -> None:
    play = Play()
    play.table.open(dict(play.wires), play.host.now)
    for seat in range(4):
        play.table.ready(play.table.seats[seat], play.host.now)
        assert play.wires[seat].kinds() == ["seated"]
    assert [seat.index for seat in play.table.unready] == [4]
    play.table.ready(play.table.seats[4], play.host.now)
    assert play.table.unready == ()
    assert "request" in play.wires[0].kinds()


def test_events_are_the_same_bytes_for_all_but_the_hand() -> None:
    play = Play().open()
    play.finish()
    streams = [play.wires[seat].events for seat in range(5)]
    for number, records in enumerate(zip(*streams, strict=True), start=1):
        events = [event_pb2.Event.FromString(one) for one in records]
        assert {event.number for event in events} == {number}
        if events[0].WhichOneof("event") == "hand_dealt":
            assert len(set(records)) == 5
        else:
            assert len(set(records)) == 1


def test_an_answer_of_a_sealed_phase_has_nothing_sent_to_anybody_before_the_last() -> None:
    play = Play().open()
    window = play.asked()
    assert len(window) == 4  # all but the holder
    sent = [len(wire.records) for wire in play.wires.values()]
    for seat in window[:-1]:
        play.answer(seat, Answer(Word.STAY))
        assert [len(wire.records) for wire in play.wires.values()] == sent
    play.answer(window[-1], Answer(Word.STAY))
    for seat, before in enumerate(sent):
        kinds = [record.WhichOneof("record") for record in play.wires[seat].records[before:]]
        assert kinds[:2] == (["charged", "event"] if seat in window else kinds[:2])
        assert "event" in kinds


def test_a_missing_answer_is_a_timeout_and_the_default_is_played() -> None:
    play = Play(faults=FaultRules(takeover_after=0)).open()
    silent = play.asked()[0]
    for seat in play.asked()[1:]:
        play.answer(seat)
    play.host.advance(2.1)
    assert play.host.observer.timeouts == 0, "the grace is not over"
    play.host.advance(0.2)
    assert play.host.observer.timeouts == 1
    charged = play.wires[silent].last("charged").charged
    assert charged.timed_out
    assert charged.charged_us >= 2_000_000
    outcome = play.finish()
    assert outcome.ending is Ending.COMPLETED_WITH_FAULTS
    assert outcome.blamed == (silent,)
    assert outcome.faults[silent].timeouts == 1


def test_a_late_answer_does_not_count_even_if_nobody_looked_yet() -> None:
    play = Play().open()
    seat = play.asked()[0]
    request = play.wires[seat].request
    assert request is not None
    play.host.clock.advance(2.3)  # the sweep has not run
    play.send(seat, decision(request, Answer(Word.SOLO)))
    assert play.host.observer.timeouts == 1
    play.host.advance(0.1)  # everybody else is late, too, and so the phase is closed
    assert play.wires[seat].last("charged").charged.timed_out


def test_a_late_answer_is_never_taken_for_the_next_request() -> None:
    play = Play(remote=(0,), faults=FaultRules(takeover_after=0)).open()
    stale = play.wires[0].request
    assert stale is not None
    play.host.advance(2.5)
    play.host.run_house()
    fresh = play.wires[0].request
    assert fresh is not None
    assert fresh.request != stale.request
    play.send(0, decision(stale, Answer(Word.STAY)))
    assert play.host.observer.late_answers == 1
    assert play.wires[0].request is fresh, "the open request is untouched"


def test_the_same_answer_twice_is_harmless() -> None:
    play = Play().open()
    seat = play.asked()[0]
    request = play.wires[seat].request
    assert request is not None
    said = decision(request, Answer(Word.STAY))
    play.send(seat, said)
    before = len(play.wires[seat].records)
    play.send(seat, said)
    assert len(play.wires[seat].records) == before
    assert play.finish().ending is Ending.COMPLETED


GARBLED = {
    "no choice": pb.Decision(),
    "unknown word": pb.Decision(word=99),  # type: ignore[arg-type]
    "index out of range": pb.Decision(index=4_000_000_000),
    "byte that is no card": pb.Decision(cards=b"\xff\x00"),
    "no cards": pb.Decision(cards=b""),
    "cards it does not hold": pb.Decision(cards=bytes(16)),
    "more cards than there are": pb.Decision(cards=bytes([5]) * 300),
    "word of another phase": pb.Decision(word=answer_pb2.WORD_KICK),
    "answer with an unknown word": pb.Decision(answer={"word": 77}),  # type: ignore[arg-type]
    "answer with a bad card": pb.Decision(answer={"word": 5, "cards": b"\xf0"}),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("garbled", GARBLED.values(), ids=GARBLED.keys())
def test_a_garbled_answer_is_refused_with_a_reason_and_may_be_mended(garbled: pb.Decision) -> None:
    play = Play().open()
    seat = play.asked()[0]
    request = play.wires[seat].request
    assert request is not None
    garbled = pb.Decision.FromString(garbled.SerializeToString())
    garbled.table, garbled.request = request.table, request.request
    play.send(seat, garbled)
    rejected = play.wires[seat].last("rejected").rejected
    assert rejected.retry
    assert rejected.refusal
    assert rejected.message
    assert rejected.request == request.request
    play.answer(seat)
    outcome = play.finish()
    assert outcome.faults[seat].illegal_answers == 1
    assert outcome.ending is Ending.COMPLETED_WITH_FAULTS


def test_illegal_answers_to_one_request_are_bounded() -> None:
    play = Play(faults=FaultRules(illegal_limit=3)).open()
    seat = play.asked()[0]
    request = play.wires[seat].request
    assert request is not None
    for _ in range(3):
        play.send(seat, decision(request, Answer(Word.KICK)))
    kinds = [kind for kind in play.wires[seat].kinds() if kind == "rejected"]
    assert len(kinds) == 3
    assert not play.wires[seat].last("rejected").rejected.retry
    assert seat not in play.asked()
    for other in play.asked():
        play.answer(other)
    assert play.wires[seat].last("charged").charged.request == request.request
    assert not play.wires[seat].last("charged").charged.timed_out


def test_without_retry_the_default_is_played_at_once() -> None:
    play = Play(faults=FaultRules(illegal=IllegalPolicy.DEFAULT)).open()
    seat = play.asked()[0]
    play.answer(seat, Answer(Word.KICK))
    assert not play.wires[seat].last("rejected").rejected.retry
    assert seat not in play.asked()


def test_illegal_answers_do_not_stop_the_clock() -> None:
    play = Play().open()
    seat = play.asked()[0]
    play.host.advance(1.5)
    play.answer(seat, Answer(Word.KICK))
    play.host.advance(0.8)
    assert play.host.observer.timeouts >= 1


def test_timeouts_in_a_row_hand_the_seat_to_a_house_bot_which_sees_what_the_seat_sees() -> None:
    play = Play(faults=FaultRules(takeover_after=2)).open()
    outcome = play.finish(idle=(3,))
    assert outcome.faults[3].timeouts == 2
    assert outcome.faults[3].taken_over
    assert play.wires[3].kinds().count("taken_over") == 1
    assert "taken_over" not in play.wires[2].kinds(), "the others notice nothing but its play"
    assert play.wires[3].kinds()[-1] == "match_ended"


def test_a_bot_that_answers_again_is_not_taken_over() -> None:
    play = Play(remote=(0,), faults=FaultRules(takeover_after=2)).open()
    play.host.advance(2.5)
    play.host.run_house()
    play.answer(0)
    play.host.advance(2.5)
    play.host.run_house()
    assert play.host.observer.timeouts == 2
    assert not play.table.seats[0].taken_over


def test_clocks_off_wait_for_ever() -> None:
    play = Play(clock=ClockRules(limit=None)).open()
    play.host.advance(1e6)
    assert play.host.observer.timeouts == 0
    request = play.wires[play.asked()[0]].request
    assert request is not None
    assert request.limit_ms == 0


def test_time_beyond_the_limit_comes_out_of_the_bank() -> None:
    clock = ClockRules(
        limit=timedelta(seconds=1), bank=timedelta(seconds=5), increment=timedelta(seconds=1), grace=timedelta(0)
    )
    play = Play(remote=(0,), clock=clock).open()
    play.host.advance(4)
    play.answer(0)
    charged = play.wires[0].last("charged").charged
    assert not charged.timed_out
    assert charged.bank_ms == 5_000 - 3_000 + 1_000


def test_what_the_service_was_late_is_not_charged() -> None:
    play = Play(remote=(0,)).open()
    play.host.clock.advance(30)
    play.host.lag.total += 29.5
    play.host.advance(0)
    assert play.host.observer.timeouts == 0
    play.answer(0)
    charged = play.wires[0].last("charged").charged
    assert 200_000 <= charged.charged_us <= 400_000
    assert 400_000 <= charged.elapsed_us <= 600_000


def test_an_index_answers_a_request_with_listed_answers() -> None:
    play = Play(remote=(2,), list_legal=True).open()
    for _ in range(400):
        if play.host.outcomes:
            break
        request = play.wires[2].request
        assert request is not None
        assert request.legal
        play.send(2, pb.Decision(table=request.table, request=request.request, index=len(request.legal) - 1))
    assert play.host.observer.illegal_answers == 0


def test_a_bot_that_comes_back_finds_seat_view_and_running_clock() -> None:
    play = Play(remote=(0, 1)).open()
    while play.wires[0].request is None or play.host.observer.decisions.__len__() < 12:
        play.answer(play.asked()[0])
    request = play.wires[0].request
    view = play.wires[0].view
    assert request is not None
    assert view is not None
    seat = play.table.seats[0]
    play.table.detach(seat, play.host.now)
    play.host.advance(1.2)
    back = FakeWire(play.host, play.order.options)
    play.table.attach(seat, back, play.host.now)
    play.wires[0] = back
    resumed = back.last("resumed").resumed
    assert resumed.seated.seat == 0
    assert resumed.seated.match_id == "a-1"
    assert not resumed.ready_expected
    assert resumed.request.request == request.request
    assert resumed.request.limit_ms == pytest.approx(800, abs=2)
    assert back.view is not None
    assert back.view.hand == view.hand
    assert back.view.legal() == view.legal()
    outcome = play.finish()
    assert outcome.faults[0].disconnects == 1
    assert outcome.ending is Ending.COMPLETED, "a disconnect that cost no decision is no fault"


def test_a_broken_wire_does_not_stop_the_clock() -> None:
    play = Play(remote=(0,), faults=FaultRules(takeover_after=2)).open()
    play.table.detach(play.table.seats[0], play.host.now)
    outcome = play.finish(idle=(0,))
    assert outcome.faults[0].taken_over


def test_a_bot_that_never_reads_cannot_stop_its_clock() -> None:
    play = Play(remote=(0,))
    play.wires[0].push_request = lambda record, seat: play.wires[0].push(record)  # type: ignore[method-assign]
    play.open()
    play.host.advance(3.0)
    assert play.host.observer.timeouts == 0, "it is given a moment to read"
    play.host.advance(0.3)
    assert play.host.observer.timeouts == 1


def test_the_secret_is_bound_before_and_shown_after_unless_withheld() -> None:
    secret = bytes(range(32))
    play = Play(secret=secret, withhold=False).open()
    seated = play.wires[0].last("seated").seated
    play.finish()
    ended = play.wires[0].last("match_ended").match_ended
    assert ended.secret == secret
    assert seated.commitment == commitment(ended.nonce, ended.secret)
    held = Play(secret=secret).open()
    held.finish()
    for record in held.wires[0].records:
        assert secret not in record.SerializeToString()


@pytest.mark.parametrize("suits", [0, 1, 4])
def test_suits_are_bound_and_told_with_the_secret(suits: int) -> None:
    play = Play(secret=bytes(range(32)), withhold=False, suits=suits).open()
    seated = play.wires[0].last("seated").seated
    play.finish()
    ended = play.wires[0].last("match_ended").match_ended
    assert ended.suits == suits
    assert seated.commitment == commitment(ended.nonce, ended.secret, suits)


def test_nothing_that_a_seat_is_told_says_which_suits_it_is_dealt() -> None:
    """But the hash that binds them, which tells nothing without the nonce: nobody learns which rotation it is."""
    told = []
    for suits in range(5):
        play = Play(secret=bytes(range(32)), suits=suits).open()
        seated = play.wires[0].last("seated").seated
        play.finish()
        ended = play.wires[0].last("match_ended").match_ended
        assert (ended.suits, ended.secret, ended.nonce) == (0, b"", b"")
        assert len(seated.commitment) == 32
        seated.commitment = b""
        del ended.points[:]
        told.append((seated.SerializeToString(), ended.SerializeToString()))
    assert len(set(told)) == 1


def test_the_same_deal_is_dealt_with_other_suits() -> None:
    hands = [Play(secret=bytes(range(32)), suits=suits).open().table._match.deal.hand(2) for suits in range(5)]
    assert len(set(hands)) == 5
    assert len({bytes(STRENGTH_OF[card] for card in hand) for hand in hands}) == 1


def test_an_attempt_that_is_voided_shows_no_secret_and_does_not_count() -> None:
    play = Play(withhold=False, secret=bytes(range(32))).open()
    play.table.end_early(Ending.VOID, (), "the match service stopped")
    assert not play.host.outcomes[0].ending.counts
    assert play.wires[0].last("match_ended").match_ended.secret == b""
    assert play.table.overdue(play.table.seats[0], play.host.now + 99) is None


@pytest.mark.parametrize("profile", ["classic", "classic-marked", "bean", "bean-qingdao", "special"])
def test_every_profile_is_played_to_its_end(profile: str) -> None:
    outcome = Play(profile=profile, deals=2).open().finish()
    assert outcome.ending is Ending.COMPLETED


def test_a_house_bot_that_takes_over_is_given_the_view_of_its_seat_and_nothing_else() -> None:
    """Another table with the same cards, where the bot itself plays on as the house bot does, gives it the same."""
    given: list[tuple[View, View]] = []
    made: list[tuple[object, ...]] = []
    play = Play(faults=FaultRules(takeover_after=1), deals=2)

    class Watched(Bot):
        """Notes what it is shown, beside what the seat was told over its wire."""

        def __init__(self) -> None:
            self._house = make_house_bot("greedy", 1)

        def answer(self, view: View) -> Answer:
            told = play.wires[3].view
            assert told is not None
            given.append((view.copy(), told.copy()))
            return self._house.answer(view)

    def make(*arguments: object) -> Bot:
        made.append(arguments)
        return Watched()

    play.table = Table(3, play.order, play.host, make)
    outcome = play.open().finish(idle=(3,))
    assert outcome.faults[3].taken_over
    assert len(given) > 5
    for view, told in given:
        assert type(view) is View
        assert seen(view) == seen(told), "no more than a client knows that has read the seat's events"
    assert made == [("greedy", "t/7/3")], "a name and a seed in which there is nothing of the cards"
