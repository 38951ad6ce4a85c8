"""The scripts of the match service's benchmark: bots answer by them as they should, the null referee does not cheat.

The floor that records a script checks every answer by the rules; here the same is played again, with and without them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from baohuang.match.v1 import match_service_pb2 as pb
from benchmarks.match import offline
from benchmarks.match.bots import Repertoire, ScriptedBot
from benchmarks.match.counting import make_counts
from benchmarks.match.load import order_of, script_of
from benchmarks.match.null import NullFloor
from benchmarks.match.scripts import NAMES, THINKING, Script, answer_body, record_scripts
from benchmarks.match.telling import Told
from bots_sdk.convert.varints import varint
from services.common.clock import ManualClock
from services.common.metrics import MatchMetrics
from services.match.floor import Floor

SCRIPTS = record_scripts(2)
WIDE = 20_000
"""A table whose number takes three bytes."""


def turns(floor: Any, script: int, number: int) -> Iterator[list[bytes]]:
    """Plays a script on a floor; gives what the five seats are told, turn by turn."""
    clock = ManualClock()
    sessions = [offline.enter(floor, name, 1, clock.monotonic()) for name in NAMES]

    def told() -> list[bytes]:
        return [offline.drain(session, clock.monotonic()) for session in sessions]

    floor.submit([order_of(NAMES, 0, script)], clock.monotonic())
    yield told()
    for session in sessions:
        floor.ready(session, number, clock.monotonic())
    yield told()
    recorded = SCRIPTS[script]
    for seat, request in itertools.chain.from_iterable(stage.requests for stage in recorded.stages):
        clock.advance(THINKING)
        decision = offline.decision_of(answer_body(varint(number), recorded.answers[request]))
        floor.decide(sessions[seat], decision, clock.monotonic())
        yield told()


def real_floor() -> Floor:
    return Floor("test", ManualClock(), MatchMetrics(), offline.NoLater())


def null_floor(number: int) -> NullFloor:
    floor = NullFloor(MatchMetrics(), ManualClock(), offline.NoLater(), SCRIPTS)
    floor._numbers = itertools.count(number)
    return floor


def at_table(number: int, message: bytes) -> pb.PlayResponse:
    """The same about another table."""
    moved = pb.PlayResponse.FromString(message)
    for record in moved.records:
        getattr(record, str(record.WhichOneof("record"))).table = number
    return moved


@pytest.mark.parametrize("script", [0, 1])
def test_the_null_referee_says_byte_for_byte_what_the_real_one_says(script: int) -> None:
    # Given the same script on a real floor and on the null referee's, when it is played at the same table,
    played = zip(turns(real_floor(), script, 1), turns(null_floor(1), script, 1), strict=True)
    # then every seat is told the same bytes in every turn.
    for turn, (real, null) in enumerate(played):
        assert null == real, turn


def test_the_null_referee_names_any_table() -> None:
    # Given the null referee at a table with a long number, when a script is played,
    played = zip(turns(real_floor(), 0, 1), turns(null_floor(WIDE), 0, WIDE), strict=True)
    # then it says what the real one says, about that table.
    for real, null in played:
        for one, other in zip(real, null, strict=True):
            assert at_table(WIDE, one) == pb.PlayResponse.FromString(other)


@pytest.mark.parametrize("number", [1, 300, WIDE])
def test_a_scripted_bot_answers_every_request_of_its_script(number: int) -> None:
    # Given five scripted bots,
    counts = make_counts()
    repertoire = Repertoire(SCRIPTS)
    bots = [ScriptedBot(repertoire, counts) for _ in NAMES]
    said = []
    # when they are told what the null referee says in one match,
    for messages in turns(null_floor(number), 0, number):
        for bot, message in zip(bots, messages, strict=True):
            if message:
                said.append(pb.PlayRequest.FromString(bot.answer(message)))
    # then they are ready once each, answer each request once, with the script's answer, and confirm what they read.
    records = [record for message in said for record in message.records]
    decisions = {record.decision.request: record.decision for record in records if record.HasField("decision")}
    assert [record.ready.table for record in records if record.HasField("ready")] == [number] * len(NAMES)
    assert len(decisions) == len(records) - len(NAMES) == len(SCRIPTS[0].answers) - 1
    for request, decision in decisions.items():
        assert decision == pb.Decision.FromString(answer_body(varint(number), SCRIPTS[0].answers[request]))
    assert max(message.confirmed for message in said) == max(bot.read for bot in bots)


def test_the_short_reader_finds_what_protobuf_finds() -> None:
    # Given everything the real floor says in a match to one seat, as one message,
    message = b"".join(told[0] for told in turns(real_floor(), 0, 1))
    # when it is read by the messages of the benchmark,
    told = Told.FromString(message).records
    # then requests, seats and ends are those that the protocol's own messages find.
    records = pb.PlayResponse.FromString(message).records

    def kind(name: str) -> list[Any]:
        return [getattr(record, name) for record in records if record.WhichOneof("record") == name]

    assert [(it.table, it.request) for it in told.request] == [(it.table, it.request) for it in kind("request")]
    assert [(it.table, it.match_id) for it in told.seated] == [(it.table, it.match_id) for it in kind("seated")]
    assert [it.table for it in told.match_ended] == [it.table for it in kind("match_ended")] == [1]


@pytest.mark.parametrize(
    ("count", "make"), [(2, record_scripts), (1, lambda count: record_scripts(count, greedy=True))]
)
def test_scripts_are_always_the_same(count: int, make: Callable[[int], list[Script]]) -> None:
    assert make(count) == make(count)


def test_an_attempt_names_its_script() -> None:
    assert script_of(order_of(NAMES, 12_345_678, 97).attempt) == 97
