"""The client when wires break, services restart, send nonsense or send it away."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import grpc
import pytest

from baohuang.cards.v1 import event_pb2
from baohuang.error.v1 import reason_pb2
from baohuang.match.v1 import match_service_pb2 as pb
from bots_sdk.bot import MatchResult
from bots_sdk.client import PlayClient, Ticket
from bots_sdk.client.play import MOST_BACKOFF_S
from bots_sdk.errors import ArenaError, Superseded, VersionMismatch
from bots_sdk.testing.fake_match_service import FakeStream
from bots_sdk.testing.hosted_match import HostedMatch, host
from tests.integration.sdk.running import Played, Running, Start, play_on, seated_at

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


async def test_a_service_that_says_welcome_and_ends_is_asked_ever_more_seldom(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []

    async def note(_client: PlayClient, _error: ArenaError, seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr(PlayClient, "_wait", note)
    running = start()
    while len(pauses) < 10:
        stream = await running.stream()
        await stream.welcome()
        assert await stream.read() is not None  # it has read the welcome
        stream.end()
    assert max(pauses) > MOST_BACKOFF_S / 2


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


async def test_a_ticket_for_fewer_tables_is_shown_at_once_and_matches_go_on(start: Start) -> None:
    running = start()
    stream = await running.stream()
    match = HostedMatch()
    await seated_at(stream, match)
    assert stream.hello is not None
    assert stream.hello.tables == 16
    running.client.renew(Ticket("ms-1", running.service.address, "for fewer", 4))
    stream = await running.stream()
    hello = await stream.welcome(resumed=1)
    assert (hello.ticket, hello.tables) == ("for fewer", 4)
    await stream.send(resumed=match.resumed())
    await play_on(stream, match)
    await running.until(lambda: running.statistics.matches == 1)
    assert running.said == []


async def test_a_ticket_that_is_only_newer_leaves_the_stream_alone(start: Start) -> None:
    running = start()
    stream = await running.stream()
    await stream.welcome()
    running.client.renew(Ticket("ms-1", running.service.address, "newer", 16))
    match = HostedMatch()
    await stream.send(seated=match.seated())
    await stream.record("ready")
    await stream.send(*match.start())
    await play_on(stream, match)
    assert len(running.service.streams) == 1
