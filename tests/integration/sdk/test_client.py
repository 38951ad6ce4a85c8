"""The client against a match service that does what a test says, over real gRPC."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

import grpc
import pytest

from baohuang.cards.v1 import event_pb2
from baohuang.error.v1 import reason_pb2
from baohuang.match.v1 import match_service_pb2 as pb
from bots_sdk.bot import AnyBot, AsyncBot, Bot, MatchResult, Seating
from bots_sdk.client import (
    AsyncThinker,
    BotPool,
    ClientStatistics,
    Crew,
    InlineThinker,
    PlayClient,
    Thinker,
    ThreadThinker,
    Ticket,
)
from bots_sdk.convert import decision_from_proto
from bots_sdk.errors import Superseded, VersionMismatch
from bots_sdk.house import GreedyBot
from bots_sdk.rules.answers import Answer, Word
from bots_sdk.rules.events import DealEnded, Event
from bots_sdk.rules.view import View
from bots_sdk.testing.fake_match_service import FakeMatchService, FakeStream
from bots_sdk.testing.hosted_match import HostedMatch, host

pytestmark = pytest.mark.timeout(30)


class Played(GreedyBot):
    """Plays like greedy, takes notes, and is shared by all seats of a test."""

    def __init__(self) -> None:
        super().__init__()
        self.seatings: list[Seating] = []
        self.events: list[Event] = []
        self.ended: list[DealEnded] = []
        self.results: list[MatchResult] = []

    def seated(self, seating: Seating) -> None:
        self.seatings.append(seating)

    def event_seen(self, event: Event, view: View) -> None:
        self.events.append(event)

    def deal_ended(self, result: DealEnded, view: View) -> None:
        self.ended.append(result)

    def match_ended(self, result: MatchResult) -> None:
        self.results.append(result)


class Running:
    """A client that is running, and what it said."""

    def __init__(self, service: FakeMatchService, thinker: Thinker) -> None:
        self.service = service
        self.said: list[str] = []
        self.statistics = ClientStatistics()
        ticket = Ticket("ms-1", service.address, "a ticket", 16)
        self.client = PlayClient(ticket, thinker, self.statistics, self.said.append)
        self.task = asyncio.create_task(self.client.run())

    async def stream(self) -> FakeStream:
        return await self.service.next_stream()

    async def until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            assert not self.task.done(), self.task.exception()
            await asyncio.sleep(0.005)


Start = Callable[..., Running]


@pytest.fixture
async def start() -> AsyncIterator[Start]:
    running: list[Running] = []
    crew = Crew(2)
    async with FakeMatchService() as service:

        def begin(make: Callable[[], AnyBot] = GreedyBot, *, mode: str = "inline") -> Running:
            pool = BotPool(lambda _seed: make())
            thinkers: dict[str, Callable[[], Thinker]] = {
                "inline": lambda: InlineThinker(pool, trusted=False),
                "threads": lambda: ThreadThinker(pool, crew, asyncio.get_running_loop()),
                "async": lambda: AsyncThinker(pool),
            }
            running.append(Running(service, thinkers[mode]()))
            return running[-1]

        yield begin
        for one in running:
            one.task.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await one.task
    crew.close()


async def seated_at(stream: FakeStream, match: HostedMatch) -> pb.Request:
    """Seat the client and play on until its first request; returns that."""
    await stream.welcome()
    await stream.send(seated=match.seated())
    await stream.record("ready")
    records = match.start()
    await stream.send(*records)
    return records[-1].request


async def play_on(stream: FakeStream, match: HostedMatch) -> None:
    while not match.match.over:
        decision = (await stream.record("decision")).decision
        if decision.request == match.request:
            await stream.send(*match.decide(decision))


# ------------------------------------------------------------------------------------------------------- a whole match


@pytest.mark.parametrize("mode", ["inline", "threads"])
async def test_a_match_is_played_to_its_end(start: Start, mode: str) -> None:
    bot = Played()
    running = start(lambda: bot, mode=mode)
    match = HostedMatch(table=7, seat=2, deals=3)
    await host(await running.stream(), match)
    await running.until(lambda: bool(bot.results))
    (seating,) = bot.seatings
    assert (seating.match_id, seating.seat, seating.deals) == ("match-7", 2, 3)
    assert seating.options == match.match.options
    assert bot.results == [MatchResult(True, match.match.points)]
    assert len(bot.events) == match.number
    assert [end.points for end in bot.ended] == [result.points for result in match.match.results]
    assert (running.statistics.matches, running.statistics.decisions) == (1, match.request)
    assert (running.statistics.failures, running.statistics.rejected, running.statistics.dropped) == (0, 0, 0)
    assert running.client.session.seats == {}


async def test_many_tables_share_a_stream_and_their_answers_share_messages(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bots_sdk.client.play.SLICE_S", 10.0)  # on a busy machine a slice holds little
    running = start()
    stream = await running.stream()
    matches = [HostedMatch(table, table % 5, secret=b"%d" % table) for table in range(1, 13)]
    await stream.welcome()
    await stream.send(*(pb.ServerRecord(seated=match.seated()) for match in matches))
    ready = [(await stream.record("ready")).ready.table for _ in matches]
    assert sorted(ready) == list(range(1, 13))
    await stream.send(*(record for match in matches for record in match.start()))
    message = await stream.read()
    while message is not None and not message.records:
        message = await stream.read()
    assert message is not None
    assert len(message.records) == 12  # twelve requests in one message, twelve answers in one
    assert message.confirmed == stream.sent


async def test_an_async_bot_plays_a_match(start: Start) -> None:
    class Asks(AsyncBot):
        async def answer(self, view: View) -> Answer:
            await asyncio.sleep(0)
            return GreedyBot().answer(view)

    running = start(Asks, mode="async")
    match = HostedMatch()
    await host(await running.stream(), match)
    assert match.match.over
    await running.until(lambda: running.statistics.matches == 1)
    assert running.statistics.failures == 0


async def test_a_bot_is_used_again_for_the_next_match(start: Start) -> None:
    made: list[Played] = []

    def make() -> Played:
        made.append(Played())
        return made[-1]

    running = start(make)
    stream = await running.stream()
    first, second = HostedMatch(1, secret=b"1"), HostedMatch(2, 3, secret=b"2")
    await seated_at(stream, first)
    await play_on(stream, first)
    await stream.send(seated=second.seated())
    await stream.record("ready")
    await stream.send(*second.start())
    await play_on(stream, second)
    await running.until(lambda: running.statistics.matches == 2)
    (bot,) = made
    assert [seating.match_id for seating in bot.seatings] == ["match-1", "match-2"]


# --------------------------------------------------------------------------------------------------------------- credit


@pytest.mark.parametrize("mode", ["threads", "async"])
async def test_messages_are_confirmed_while_the_bot_thinks(start: Start, mode: str) -> None:
    go = threading.Event()

    class Slow(Bot):
        def answer(self, view: View) -> Answer:
            go.wait(20)
            return view.default()

    class SlowAsync(AsyncBot):
        async def answer(self, view: View) -> Answer:
            await asyncio.to_thread(go.wait, 20)
            return view.default()

    running = start(Slow if mode == "threads" else SlowAsync, mode=mode)
    stream = await running.stream()
    match = HostedMatch(limit_ms=0)
    await seated_at(stream, match)
    for _ in range(5):
        await stream.send(heartbeat=pb.Heartbeat())
        while stream.confirmed < stream.sent:
            message = await stream.read()
            assert message is not None
            assert not message.records
    go.set()
    assert (await stream.record("decision")).decision.request == 1


async def test_heartbeats_come_without_being_asked_for(start: Start) -> None:
    running = start()
    stream = await running.stream()
    await stream.welcome(heartbeat_ms=200)
    for _ in range(3):
        await stream.record("heartbeat")
        await stream.send(heartbeat=pb.Heartbeat())


# ------------------------------------------------------------------------------------------------------- coming back


async def test_a_broken_stream_is_opened_again_and_the_match_goes_on(start: Start) -> None:
    bot = Played()
    running = start(lambda: bot)
    stream = await running.stream()
    match = HostedMatch(deals=2)
    await seated_at(stream, match)
    for _ in range(4):
        await stream.send(*match.decide((await stream.record("decision")).decision))
    stream.end()
    stream = await running.stream()
    await stream.welcome(resumed=1)
    await stream.send(resumed=match.resumed())
    await play_on(stream, match)
    await running.until(lambda: bool(bot.results))
    assert len(bot.seatings) == 1
    assert len(bot.events) == match.number  # nothing told twice, nothing missing
    assert running.statistics.reconnects == 1
    assert any("trying again" in line for line in running.said)
    assert any("connected again" in line for line in running.said)


async def test_a_service_that_restarts_is_found_again(start: Start) -> None:
    running = start()
    await (await running.stream()).welcome()
    await running.until(lambda: running.client.session.is_welcome)
    await running.service.stop()
    await running.until(lambda: any("nobody answers" in line or "broke" in line for line in running.said))
    await running.service.start()
    match = HostedMatch()
    await host(await running.stream(), match)
    assert match.match.over


async def test_a_new_process_takes_up_a_match_from_its_snapshot(start: Start) -> None:
    bot = Played()
    running = start(lambda: bot)
    match = HostedMatch()
    match.start()
    stream = await running.stream()
    await stream.welcome(resumed=1)
    await stream.send(resumed=match.resumed())
    await play_on(stream, match)
    await running.until(lambda: bool(bot.results))
    assert len(bot.events) == match.number


async def test_a_match_that_ended_while_the_wire_was_down_is_over(start: Start) -> None:
    bot = Played()
    running = start(lambda: bot)
    stream = await running.stream()
    await seated_at(stream, HostedMatch())
    await stream.record("decision")
    stream.end()
    await (await running.stream()).welcome(resumed=0)
    await running.until(lambda: bool(bot.results))
    assert bot.results == [MatchResult(False, (), "the match ended while the connection was down")]
    assert running.client.session.seats == {}


async def test_a_seat_that_never_got_to_say_ready_says_it_again(start: Start) -> None:
    running = start()
    stream = await running.stream()
    match = HostedMatch()
    await stream.welcome()
    await stream.send(seated=match.seated())
    await stream.record("ready")
    stream.end()
    stream = await running.stream()
    await stream.welcome(resumed=1)
    await stream.send(resumed=pb.Resumed(seated=match.seated(), ready_expected=True))
    assert (await stream.record("ready")).ready.table == match.table


async def test_silence_of_two_heartbeats_opens_a_new_stream(start: Start) -> None:
    running = start()
    await (await running.stream()).welcome(heartbeat_ms=150)
    await (await running.stream()).welcome(heartbeat_ms=5000)
    assert any("nothing was heard" in line for line in running.said)


async def test_nobody_there_is_said_once_and_tried_for_ever(start: Start) -> None:
    running = start()
    await running.service.stop()
    await running.until(lambda: running.statistics.reconnects >= 3)
    assert [line for line in running.said if "nobody answers" in line] == running.said
    assert len(running.said) == 1
    await running.service.start()
    await (await running.stream()).welcome()


# ------------------------------------------------------------------------------------------------- what makes no sense


async def broken_by(start: Start, breaks: Callable[[FakeStream, HostedMatch], Any], says: str) -> Running:
    """Whatever breaks the stream, the next one gets the match to its end."""
    bot = Played()
    running = start(lambda: bot)
    stream = await running.stream()
    match = HostedMatch()
    await seated_at(stream, match)
    await stream.send(*match.decide((await stream.record("decision")).decision))
    await breaks(stream, match)
    stream = await running.stream()
    await stream.welcome(resumed=1)
    await stream.send(resumed=match.resumed())
    await play_on(stream, match)
    await running.until(lambda: bool(bot.results))
    assert any(says in line for line in running.said), running.said
    assert len(bot.events) == match.number
    return running


async def test_a_gap_in_the_events_asks_for_a_fresh_snapshot(start: Start) -> None:
    async def skip(stream: FakeStream, match: HostedMatch) -> None:
        records = match.decide((await stream.record("decision")).decision)
        await stream.send(records[0], *records[2:])

    running = await broken_by(start, skip, "came after event")
    assert running.statistics.gaps == 1


async def test_an_event_that_does_not_fit_asks_for_a_fresh_snapshot(start: Start) -> None:
    async def nonsense(stream: FakeStream, match: HostedMatch) -> None:
        events = {"played": event_pb2.Played(seat=match.seat, cards=bytes(16))}
        await stream.send(event=event_pb2.Event(table=match.table, number=match.number + 1, **events))  # type: ignore[arg-type]

    await broken_by(start, nonsense, "does not fit what was known before")


@pytest.mark.parametrize(
    ("record", "says"),
    [
        ({"event": event_pb2.Event(table=99, number=1, passed=event_pb2.Passed(seat=1))}, "where the bot has no seat"),
        ({"event": event_pb2.Event(table=1, number=10_000, passed=event_pb2.Passed(seat=1))}, "came after event"),
        ({"request": pb.Request(table=99, request=1)}, "where the bot has no seat"),
        ({"request": pb.Request(table=1, request=77, event=10_000)}, "asked about event 10000"),
        ({"seated": pb.Seated(table=5, seat=9)}, "seated.names: five names"),
        ({"seated": pb.Seated(table=5, seat=9, names=["x"] * 5)}, "seated.seat: 9 is no seat"),
        ({"seated": pb.Seated(table=5, seat=1, names=["x"] * 5)}, "options.guard_by"),
        ({"match_ended": pb.MatchEnded(table=1, points=[1, 2])}, "match_ended.points"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_records_that_make_no_sense_open_a_new_stream(start: Start, record: dict[str, Any], says: str) -> None:
    async def send(stream: FakeStream, match: HostedMatch) -> None:
        await stream.send(**record)

    await broken_by(start, send, says)


@pytest.mark.parametrize("data", [b"\xff\xff\xff", b"\x0a\x05\x1a\x03\x08", bytes(range(1, 200))])
async def test_bytes_that_are_no_message_open_a_new_stream(start: Start, data: bytes) -> None:
    async def send(stream: FakeStream, match: HostedMatch) -> None:
        await stream.send_bytes(data)

    await broken_by(start, send, "is no PlayResponse")


async def test_records_of_an_unknown_kind_are_ignored(start: Start) -> None:
    running = start()
    match = HostedMatch()
    stream = await running.stream()
    await seated_at(stream, match)
    # Field 99 of a record, with three bytes in it: a kind from the future.
    await stream.send_bytes(b"\x0a\x06\x9a\x06\x03abc")
    await play_on(stream, match)
    assert len(running.service.streams) == 1


# ----------------------------------------------------------------------------------------------- requests and answers


async def test_a_rejected_answer_is_followed_by_the_default_once(start: Start) -> None:
    running = start()
    stream = await running.stream()
    match = HostedMatch()
    request = await seated_at(stream, match)
    await stream.record("decision")
    default = match.match.deal.default(match.seat)
    rejected = pb.Rejected(table=1, request=request.request, refusal="wrong_word", message="not now", retry=True)
    await stream.send(rejected=rejected)
    assert decision_from_proto((await stream.record("decision")).decision) == default
    await stream.send(rejected=rejected)  # the default too: that is not tried for ever
    await stream.send(heartbeat=pb.Heartbeat())
    while stream.confirmed < stream.sent:
        message = await stream.read()
        assert message is not None
        assert not message.records
    assert running.statistics.rejected == 2
    assert any("refused an answer (wrong_word): not now" in line for line in running.said)


async def test_a_bot_that_fails_plays_the_default_and_is_told_where(start: Start) -> None:
    class Fails(Bot):
        calls = 0

        def answer(self, view: View) -> Answer:
            self.calls += 1
            if self.calls % 3 == 0:
                return Answer(Word.TAKE, b"\x01")
            if self.calls % 3 == 1:
                return None  # type: ignore[return-value]
            raise ValueError("out of ideas")

    for mode in ("inline", "threads"):
        running = start(Fails, mode=mode)
        match = HostedMatch()
        await host(await running.stream(), match)
        await running.until(lambda running=running: running.statistics.matches == 1)  # type: ignore[misc]
        assert running.statistics.failures == running.statistics.decisions == match.request
        said = "\n".join(running.said)
        assert "ValueError: out of ideas (test_client.py, line" in said
        assert "illegal answer 'take 3d' (wrong_word)" in said
        assert "answer() returned None" in said
        assert len(running.said) < 10  # the same is said once
        running.task.cancel()


@pytest.mark.parametrize("mode", ["threads", "async"])
async def test_a_slow_bot_is_answered_for_before_its_time_is_up(start: Start, mode: str) -> None:
    go = threading.Event()
    calls: list[float | None] = []

    class Slow(Bot):
        def answer(self, view: View) -> Answer:
            calls.append(self.time_limit)
            go.wait(20)
            return GreedyBot().answer(view)

    class SlowAsync(AsyncBot):
        async def answer(self, view: View) -> Answer:
            calls.append(self.time_limit)
            await asyncio.to_thread(go.wait, 20)
            return GreedyBot().answer(view)

    running = start(Slow if mode == "threads" else SlowAsync, mode=mode)
    stream = await running.stream()
    match = HostedMatch(limit_ms=120)
    await seated_at(stream, match)
    default = match.match.deal.default(match.seat)
    decision = (await stream.record("decision")).decision
    assert decision_from_proto(decision) == default
    assert calls == [0.12]
    # What the bot says in the end belongs to a request that is closed; the next request it answers itself.
    records = match.decide(decision)
    go.set()
    await running.until(lambda: mode == "async" or running.statistics.dropped == 1)
    await stream.send(*records)
    decision = (await stream.record("decision")).decision
    assert decision.request == 2
    assert running.statistics.late_defaults == 1
    await stream.send(*match.decide(decision))
    await play_on(stream, match)
    assert any("time was almost up" in line for line in running.said)


async def test_a_timeout_closes_the_request_and_the_late_answer_is_dropped(start: Start) -> None:
    go, thinking = threading.Event(), threading.Event()

    class Slow(Bot):
        def answer(self, view: View) -> Answer:
            thinking.set()
            go.wait(20)
            return view.legal()[0]

    running = start(Slow, mode="threads")
    stream = await running.stream()
    match = HostedMatch(limit_ms=0)
    request = await seated_at(stream, match)
    await running.until(thinking.is_set)
    await stream.send(charged=pb.Charged(table=1, request=request.request, charged_us=2_000_000, timed_out=True))
    await running.until(lambda: running.statistics.timeouts == 1)
    go.set()
    await running.until(lambda: running.statistics.dropped == 1)
    assert running.statistics.decisions == 0
    assert any("came too late" in line for line in running.said)


async def test_a_bot_that_was_taken_over_is_told_and_asked_no_more(start: Start) -> None:
    running = start()
    stream = await running.stream()
    await seated_at(stream, HostedMatch())
    await stream.send(taken_over=pb.TakenOver(table=1))
    await running.until(lambda: running.statistics.takeovers == 1)
    assert any("a house bot plays on at table 1" in line for line in running.said)


async def test_a_void_match_is_told_as_such(start: Start) -> None:
    bot = Played()
    running = start(lambda: bot)
    stream = await running.stream()
    await seated_at(stream, HostedMatch())
    await stream.send(match_ended=pb.MatchEnded(table=1, ending=pb.ENDING_VOID, message="a host was lost"))
    await running.until(lambda: bool(bot.results))
    assert bot.results == [MatchResult(False, (), "a host was lost")]
    assert (running.statistics.matches, running.statistics.void_matches) == (0, 1)


async def test_a_bot_that_cannot_be_made_does_not_say_it_is_ready(start: Start) -> None:
    def make() -> AnyBot:
        from bots_sdk.errors import BotNotLoaded

        raise BotNotLoaded("no memory for the model")

    running = start(make, mode="threads")
    stream = await running.stream()
    await stream.welcome()
    await stream.send(seated=HostedMatch().seated())
    await running.until(lambda: any("no memory for the model" in line for line in running.said))


# --------------------------------------------------------------------------------------------------- being sent away


@pytest.mark.parametrize("how", ["closing", "status"])
async def test_a_superseded_client_stops_with_a_sentence(start: Start, how: str) -> None:
    running = start()
    stream = await running.stream()
    await stream.welcome()
    if how == "closing":
        closing = pb.Closing(reason=reason_pb2.REASON_SUPERSEDED, message="a newer stream of the same bot took over")
        await stream.send(closing=closing)
    else:
        stream.refuse("REASON_SUPERSEDED", "a newer stream of the same bot took over", grpc.StatusCode.ABORTED)
    with pytest.raises(Superseded, match="a newer stream of the same bot took over"):
        await running.task


async def test_another_version_stops_the_client_with_a_sentence(start: Start) -> None:
    running = start()
    await (await running.stream()).welcome(protocol_version=2)
    with pytest.raises(VersionMismatch, match="the server speaks version 2 of the protocol, this client 1"):
        await running.task


async def test_a_version_that_is_refused_stops_the_client(start: Start) -> None:
    running = start()
    stream = await running.stream()
    await stream.record("hello")
    code = grpc.StatusCode.FAILED_PRECONDITION
    stream.refuse("REASON_VERSION_UNSUPPORTED", "version 1 is not spoken here", code, supported="2")
    with pytest.raises(VersionMismatch, match="version 1 is not spoken here") as caught:
        await running.task
    assert caught.value.metadata == {"supported": "2"}


async def test_a_ticket_that_is_refused_is_replaced_by_a_newer_one(start: Start) -> None:
    running = start()
    stream = await running.stream()
    await stream.record("hello")
    stream.refuse("REASON_TICKET_INVALID", "the ticket is too old", grpc.StatusCode.UNAUTHENTICATED)
    await running.until(lambda: any("the ticket is too old" in line for line in running.said))
    running.client.renew(Ticket("ms-1", running.service.address, "a newer ticket", 16))
    assert (await (await running.stream()).welcome()).ticket == "a newer ticket"


async def test_a_closing_says_when_to_come_back(start: Start) -> None:
    running = start()
    stream = await running.stream()
    await stream.welcome()
    loop = asyncio.get_running_loop()
    began = loop.time()
    reason = reason_pb2.REASON_RATE_LIMITED
    await stream.send(closing=pb.Closing(reason=reason, message="too much at once", retry_after_ms=400))
    await (await running.stream()).welcome()
    assert loop.time() - began >= 0.25  # less a quarter at the most, so that not all come back at once
    assert any("too much at once" in line for line in running.said)


async def test_a_service_that_drains_is_left_when_its_tables_are_done(start: Start) -> None:
    running = start()
    stream = await running.stream()
    match = HostedMatch()
    await seated_at(stream, match)
    await stream.send(draining=pb.Draining(grace_ms=5000))
    running.client.leave()  # the lobby names it no more
    await play_on(stream, match)
    await running.task
    assert any("about to stop, within 5 s" in line for line in running.said)
