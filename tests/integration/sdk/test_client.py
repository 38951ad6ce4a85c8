"""The client against a match service that does what a test says, over real gRPC: matches, requests, answers."""

from __future__ import annotations

import asyncio
import threading

import pytest

from baohuang.match.v1 import match_service_pb2 as pb
from bots_sdk.bot import AnyBot, AsyncBot, Bot, MatchResult
from bots_sdk.convert import decision_from_proto
from bots_sdk.house import GreedyBot
from bots_sdk.rules.answers import Answer, Word
from bots_sdk.rules.view import View
from bots_sdk.testing.hosted_match import HostedMatch, host
from tests.integration.sdk.running import Played, Start, play_on, seated_at

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
