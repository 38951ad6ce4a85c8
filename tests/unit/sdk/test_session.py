"""The session of a client, without a network: what is sent, what is forgotten, what is counted."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from baohuang.match.v1 import match_service_pb2 as pb
from bots_sdk.bot import AnyBot, Bot, Seating
from bots_sdk.client import BotPool, ClientStatistics, Crew, InlineThinker, ThreadThinker
from bots_sdk.client.seat import EventGap, TableSeat
from bots_sdk.client.session import MOST_RECORDS, PlaySession
from bots_sdk.convert import event_to_proto, options_to_proto
from bots_sdk.errors import BotFailed, ProtocolBroken
from bots_sdk.house import GreedyBot, make_house_bot
from bots_sdk.rules.answers import Answer
from bots_sdk.rules.events import Event, Passed
from bots_sdk.rules.phases import Phase
from bots_sdk.rules.profiles import make_options
from bots_sdk.rules.view import View
from bots_sdk.testing.hosted_match import HostedMatch


class Client:
    """A session with bots that think in the loop."""

    def __init__(
        self,
        make: Callable[[int | str], AnyBot] = lambda seed: make_house_bot("greedy", seed),
        *,
        trusted: bool = True,
    ) -> None:
        self.said: list[str] = []
        self.statistics = ClientStatistics()
        self.thinker = InlineThinker(BotPool(make), trusted=trusted)
        self.session = PlaySession(self.thinker, self.statistics, self.said.append)
        self.session.hello("ticket", 4)
        self.tell(welcome=pb.Welcome(protocol_version=1))

    def tell(self, *records: pb.ServerRecord, **record: Any) -> None:
        message = pb.PlayResponse(records=records)
        if record:
            message.records.add(**record)
        self.session.receive(message.SerializeToString())

    def think(self) -> None:
        self.thinker.think(lambda: False)

    def take(self) -> list[pb.PlayRequest]:
        taken = []
        while (message := self.session.take()) is not None:
            taken.append(message)
        return taken


class SilentBot(Bot):
    """A bot that finds nothing to answer."""

    def answer(self, view: View) -> Answer:
        raise ValueError("nothing")


def test_every_message_is_confirmed_once() -> None:
    client = Client()
    assert [message.confirmed for message in client.take()] == [1]
    assert client.take() == []
    client.tell(heartbeat=pb.Heartbeat())
    client.tell(heartbeat=pb.Heartbeat())
    (message,) = client.take()
    assert (message.confirmed, len(message.records)) == (3, 0)


def test_a_new_stream_counts_anew_and_forgets_what_was_not_sent() -> None:
    client = Client()
    match = HostedMatch()
    client.tell(seated=match.seated())
    client.tell(*match.start())
    client.think()
    hello = client.session.hello("another", 2)
    assert [record.WhichOneof("record") for record in hello.records] == ["hello"]
    assert (hello.records[0].hello.ticket, hello.confirmed) == ("another", 0)
    assert client.take() == []


def test_answers_that_are_too_many_for_a_message_are_split() -> None:
    client = Client()
    for _ in range(MOST_RECORDS * 2 + 5):
        client.session.beat()
    assert [len(message.records) for message in client.take()] == [MOST_RECORDS, MOST_RECORDS, 5]


def test_thinking_stops_when_its_time_is_up_and_goes_on_later() -> None:
    client = Client()
    matches = [HostedMatch(table, secret=b"%d" % table) for table in range(1, 5)]
    client.tell(*(pb.ServerRecord(seated=match.seated()) for match in matches))
    client.take()
    client.tell(*(record for match in matches for record in match.start()))
    assert client.thinker.think(lambda: True)
    assert [len(message.records) for message in client.take()] == [1]
    assert not client.thinker.think(lambda: False)
    assert [len(message.records) for message in client.take()] == [3]


def test_the_same_seed_makes_the_same_bots_in_the_same_order() -> None:
    seeds: list[int | str] = []

    def make(seed: int | str) -> AnyBot:
        seeds.append(seed)
        return GreedyBot()

    pool = BotPool(make, "7")
    first = pool.take()
    pool.take()
    pool.put_back(first)
    assert pool.take() is first
    assert seeds == ["7/1", "7/2"]


def test_a_bot_that_cannot_be_made_is_a_sentence() -> None:
    def make(_: int | str) -> AnyBot:
        raise MemoryError("the model is too large")

    with pytest.raises(BotFailed, match=r"no bot could be made: MemoryError: the model is too large \(test_session.py"):
        BotPool(make).take()
    client = Client(make)
    client.tell(seated=HostedMatch().seated())
    assert "the model is too large" in client.said[0]
    assert [record for message in client.take() for record in message.records] == []


def test_a_house_bot_with_a_fault_plays_the_default() -> None:
    class Faulty(Bot):
        def answer(self, view: View) -> Answer:
            raise IndexError("a fault of ours")

    client = Client(lambda _: Faulty())
    match = HostedMatch()
    client.tell(seated=match.seated())
    client.take()
    client.tell(*match.start())
    client.think()
    (message,) = client.take()
    assert len(message.records) == 1
    assert client.statistics.failures == 1
    assert "IndexError: a fault of ours" in client.said[0]


def test_the_limit_and_the_bank_are_told_to_the_bot() -> None:
    told: list[tuple[float | None, float]] = []

    class Looks(GreedyBot):
        def answer(self, view: View) -> Answer:
            told.append((self.time_limit, self.time_bank))
            return super().answer(view)

    for limit_ms, expected in ((1500, (1.5, 0.0)), (0, (None, 0.0))):
        client = Client(lambda _: Looks())
        match = HostedMatch(limit_ms=limit_ms)
        client.tell(seated=match.seated())
        client.tell(*match.start())
        client.think()
        assert told.pop() == expected


def test_seating_tells_the_clock() -> None:
    seatings: list[Seating] = []

    class Notes(GreedyBot):
        def seated(self, seating: Seating) -> None:
            seatings.append(seating)

    client = Client(lambda _: Notes())
    seated = HostedMatch(limit_ms=2000).seated()
    seated.clock.bank_ms = 30_000
    seated.clock.increment_ms = 100
    client.tell(seated=seated)
    (seating,) = seatings
    assert seating.limit is not None
    assert (seating.limit.total_seconds(), seating.bank.total_seconds(), seating.increment.total_seconds()) == (
        2,
        30,
        0.1,
    )


def test_the_same_trouble_is_said_once() -> None:
    client = Client()
    for request in range(50):
        client.tell(rejected=pb.Rejected(table=9, request=request, refusal="too_weak", message="no"))
    assert len(client.said) == 1
    assert client.statistics.rejected == 50


def test_broken_bytes_are_a_protocol_broken() -> None:
    with pytest.raises(ProtocolBroken):
        Client().session.receive(b"\x0a\xff")


def seated() -> pb.Seated:
    """A seat at table 1."""
    return pb.Seated(table=1, match_id="m", seat=0, options=options_to_proto(make_options("qingdao")), names="abcde")


def test_a_pass_on_an_empty_table_is_a_gap_and_no_endless_circle() -> None:
    client = Client()
    passed = event_to_proto(Passed(0), table=1, number=1)
    with pytest.raises(EventGap):
        client.tell(resumed=pb.Resumed(seated=seated(), events=[passed]))


def test_a_question_to_which_there_is_no_answer_ends_nothing() -> None:
    client = Client(lambda seed: SilentBot())
    client.tell(seated=seated())
    view = client.session.seats[1].view
    view.public.asked, view.public.phase = (0,), Phase.CALL
    client.tell(request=pb.Request(table=1, request=1))
    client.think()
    assert client.session.seats[1].request == 0
    assert any("there is no answer to what the platform asks at table 1" in said for said in client.said)


def test_a_summary_names_what_happened_and_no_more() -> None:
    statistics = ClientStatistics(matches=2, decisions=10, charged_us=25_000)
    assert statistics.summary() == "2 matches, 10 decisions, 2.5 ms each"
    statistics.timeouts = 1
    statistics.reconnects = 3
    assert statistics.summary().endswith("ms each, 1 timed out, 3 reconnects")
    assert ClientStatistics().summary() == "0 matches, 0 decisions, 0.0 ms each"


class Seen:
    """What a thinker says of its seats."""

    def __init__(self) -> None:
        self.mishaps: asyncio.Queue[str] = asyncio.Queue()
        self.ready_seats: asyncio.Queue[TableSeat] = asyncio.Queue()
        self.ready = self.ready_seats.put_nowait

    def mishap(self, seat: TableSeat, message: str) -> None:
        self.mishaps.put_nowait(message)


async def test_a_match_that_cannot_begin_for_want_of_a_thread_says_where_the_bot_is() -> None:
    let_go = threading.Event()

    class Holds(GreedyBot):
        def seated(self, seating: Seating) -> None:
            assert let_go.wait(100)

    crew = Crew(1)
    crew.put(lambda: time.sleep(0.1))  # the thread is late: nobody is to be blamed for that, nor forgotten
    thinker = ThreadThinker(BotPool(lambda _: Holds()), crew, asyncio.get_running_loop(), patience_s=0.2)
    seen = thinker.decider = Seen()  # type: ignore[assignment]
    seats = [TableSeat(HostedMatch(table).seated()) for table in (1, 2)]
    for seat in seats:
        thinker.begin(seat)
    async with asyncio.timeout(60):
        said = await seen.mishaps.get()
        let_go.set()
        assert {await seen.ready_seats.get(), await seen.ready_seats.get()} == set(seats)
    crew.close()
    assert seen.mishaps.empty()
    assert said.startswith("no match can begin while the bot holds every thread (test_session.py, line ")
    assert said.endswith(", in seated)")


def test_what_a_bot_writes_into_its_view_is_its_own_affair() -> None:
    class Writes(GreedyBot):
        def answer(self, view: View) -> Answer:
            answer = super().answer(view)
            view.hand = b""
            return answer

        def event_seen(self, event: Event, view: View) -> None:
            view.public.history.clear()

    client = Client(lambda _: Writes(), trusted=False)
    match = HostedMatch()
    client.tell(seated=match.seated())
    client.tell(*match.start())
    client.think()
    assert client.statistics.decisions == 1
    (seat,) = client.session.seats.values()
    assert seat.view.hand
    assert not client.said


def test_a_crew_does_every_job_and_ends() -> None:
    crew = Crew(2)
    done = [threading.Event() for _ in range(10)]
    for event in done:
        crew.put(event.set)
    assert all(event.wait(5) for event in done)
    crew.close()


def test_a_takeover_that_is_told_again_after_coming_back_is_the_same_one() -> None:
    client = Client()
    client.tell(seated=HostedMatch().seated())
    client.tell(taken_over=pb.TakenOver(table=1))
    client.session.hello("another", 4)
    client.tell(welcome=pb.Welcome(protocol_version=1, resumed=1))
    client.tell(resumed=pb.Resumed(seated=HostedMatch().seated()))
    client.tell(taken_over=pb.TakenOver(table=1))
    assert client.statistics.takeovers == 1
    assert len([line for line in client.said if "house bot plays on" in line]) == 1
