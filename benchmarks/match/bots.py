"""Scripted bots: they find out what they are asked, and answer with bytes that were made before."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import grpc.aio

from baohuang.match.v1 import match_service_pb2 as pb
from benchmarks.match.control import Control, Gate
from benchmarks.match.counting import DECISIONS, ENTERED, HELD, READ, READ_BYTES, WRITTEN, WRITTEN_BYTES, observe
from benchmarks.match.load import hold_of, script_of
from benchmarks.match.scripts import Script, answer_frame, ready_record
from benchmarks.match.telling import Told
from benchmarks.match.unary import DECIDE
from bots_sdk.convert.varints import number_tag, varint

PLAY = "/baohuang.match.v1.MatchService/Play"
CHANNEL = [("grpc.use_local_subchannel_pool", 1)]
JOINING = 200
"""So many unary bots come in at the same time: a server turns away calls that come by the thousand in one instant."""

_CONFIRMED = number_tag(pb.PlayRequest, "confirmed")


class Repertoire:
    """The scripts, made ready for tables with numbers of one to four bytes: `width.join(lines[request])`."""

    def __init__(self, scripts: Sequence[Script]) -> None:
        self._scripts = scripts
        self._ready: dict[tuple[int, int], tuple[tuple[bytes, bytes], ...]] = {}
        self.first = [script.first for script in scripts]

    def lines(self, script: int, width: int) -> tuple[tuple[bytes, bytes], ...]:
        """What stands before and after the number of the table, by request."""
        found = self._ready.get((script, width))
        if found is None:
            answers = self._scripts[script].answers
            found = tuple((answer_frame(answer, width), answer) for answer in answers)
            self._ready[script, width] = found
        return found


@dataclass(slots=True)
class Watch:
    """Measures, for bots of one process, from a decision being written until the next request of its table is read.

    Requests are told apart by the scripts: of those that are open together only the first counts. Tables in `apart` are
    not measured.
    """

    latencies: Any
    first: dict[int, frozenset[int]] = field(default_factory=dict)
    written: dict[int, float] = field(default_factory=dict)
    apart: set[int] = field(default_factory=set)

    def asked(self, table: int, request: int, now: float) -> None:
        if request in self.first[table] and table in self.written and table not in self.apart:
            observe(self.latencies, now - self.written[table])


class ScriptedBot:
    """One bot at any number of tables: takes a message, gives the message to send back."""

    def __init__(self, repertoire: Repertoire, counts: Any) -> None:
        self._repertoire = repertoire
        self._counts = counts
        self._tables: dict[int, tuple[bytes, tuple[tuple[bytes, bytes], ...]]] = {}
        self.read = 0

    def answer(self, data: bytes) -> bytes:
        """Reads one message, confirms it and answers all requests in it."""
        out, decided = self.take(data)
        out.extend(decided)
        return self.sent(out, len(decided))

    def take(self, data: bytes) -> tuple[list[bytes], list[bytes]]:
        """Reads one message: what is to be said at once, and the decisions."""
        counts = self._counts
        if not self.read:
            counts[ENTERED] += 1
        self.read += 1
        counts[READ] += 1
        counts[READ_BYTES] += len(data)
        out = [_CONFIRMED, varint(self.read)]
        told = Told.FromString(data).records
        for seated in told.seated:
            out.append(ready_record(self._sit(seated)))
        if told.resumed:
            for resumed in told.resumed:
                table = self._sit(resumed.seated)
                if resumed.ready_expected:
                    out.append(ready_record(table))
            told.request.extend(resumed.request for resumed in told.resumed if resumed.HasField("request"))
        decided = self._decide(told.request)
        self._noticed(told)
        for ended in told.match_ended:
            del self._tables[ended.table]
        return out, decided

    def _decide(self, requests: Any) -> list[bytes]:
        tables = self._tables
        decided = []
        for asked in requests:
            table, lines = tables[asked.table]
            decided.append(table.join(lines[asked.request]))
        return decided

    def sent(self, parts: list[bytes], decisions: int) -> bytes:
        """The message to send, counted."""
        message = b"".join(parts)
        counts = self._counts
        counts[DECISIONS] += decisions
        counts[WRITTEN] += 1
        counts[WRITTEN_BYTES] += len(message)
        return message

    def _sit(self, seated: Any) -> bytes:
        number = seated.table
        table = varint(number)
        self._tables[number] = (table, self._repertoire.lines(script_of(seated.match_id), len(table)))
        return table

    def _noticed(self, told: Any) -> None:
        """For bots that look closer."""


class WatchingBot(ScriptedBot):
    """A bot that takes the time. `apart`: its tables are not to be measured."""

    def __init__(self, repertoire: Repertoire, counts: Any, watch: Watch, *, apart: bool) -> None:
        super().__init__(repertoire, counts)
        self._watch = watch
        self._apart = apart

    def answer(self, data: bytes) -> bytes:
        now = time.perf_counter()
        out, decided = self.take(data)
        watch, asked = self._watch, self._asked
        for table, request in asked:
            watch.asked(table, request, now)
        out.extend(decided)
        message = self.sent(out, len(decided))
        now = time.perf_counter()
        for table, _ in asked:
            watch.written[table] = now
        return message

    def _sit(self, seated: Any) -> bytes:
        self._watch.first[seated.table] = self._repertoire.first[script_of(seated.match_id)]
        if self._apart:
            self._watch.apart.add(seated.table)
        return super()._sit(seated)

    def _noticed(self, told: Any) -> None:
        self._asked = [(asked.table, asked.request) for asked in told.request]
        for ended in told.match_ended:
            self._watch.written.pop(ended.table, None)
            self._watch.first.pop(ended.table, None)


class HoldingBot(ScriptedBot):
    """A bot that stops answering at some point of the matches that are to be held (see `hold_of`)."""

    def __init__(self, repertoire: Repertoire, counts: Any) -> None:
        super().__init__(repertoire, counts)
        self._holds: dict[int, int] = {}

    def _sit(self, seated: Any) -> bytes:
        table = super()._sit(seated)
        # The first request that is not answered; requests are numbered without gaps, so one of the five is asked it.
        self._holds[seated.table] = max(1, int(hold_of(seated.match_id) * len(self._tables[seated.table][1])))
        return table

    def _decide(self, requests: Any) -> list[bytes]:
        holds = self._holds
        self._counts[HELD] += sum(asked.request == holds[asked.table] for asked in requests)
        return super()._decide([asked for asked in requests if asked.request < holds[asked.table]])


@dataclass(frozen=True, slots=True)
class Part:
    """The bots of one process: their tickets, or for unary bots their names; how many tables each takes.

    With `slow` the first bot of the process thinks as long as `control` says. With `latencies` the time is taken, but
    not at tables with the first bot if `apart` is set. With `holding` matches may be held.
    """

    bots: tuple[str, ...]
    tables: int
    counts: Any
    control: Control
    slow: bool = False
    latencies: Any = None
    apart: bool = False
    holding: bool = False


def hello(ticket: str, tables: int) -> bytes:
    """The first message of a stream."""
    return pb.PlayRequest(
        records=[pb.ClientRecord(hello=pb.Hello(ticket=ticket, protocol_version=1, tables=tables))]
    ).SerializeToString()


async def run_streams(address: str, scripts: Sequence[Script], part: Part) -> None:
    """All stream bots of one process, until they are killed or the server is gone."""
    repertoire = Repertoire(scripts)
    gate = Gate(part.control)
    watch = None if part.latencies is None else Watch(part.latencies)

    def bot_of(number: int) -> ScriptedBot:
        if part.holding:
            return HoldingBot(repertoire, part.counts)
        if watch is None:
            return ScriptedBot(repertoire, part.counts)
        return WatchingBot(repertoire, part.counts, watch, apart=part.apart and number == 0)

    await asyncio.gather(
        *(
            (_slow_bot if part.slow and number == 0 else _stream_bot)(
                address, hello(ticket, part.tables), bot_of(number), gate
            )
            for number, ticket in enumerate(part.bots)
        )
    )


async def _stream_bot(address: str, first: bytes, bot: ScriptedBot, gate: Gate) -> None:
    async with grpc.aio.insecure_channel(address, options=CHANNEL) as channel:
        call: Any = channel.stream_stream(PLAY)()
        await call.write(first)
        with contextlib.suppress(grpc.aio.AioRpcError):
            while (data := await call.read()) is not grpc.aio.EOF:
                message = bot.answer(data)
                if gate.shut:
                    await gate.open()
                await call.write(message)


async def _slow_bot(address: str, first: bytes, bot: ScriptedBot, gate: Gate) -> None:
    """Confirms at once, as a client does whose bot thinks in threads of its own; thinks about each request apart."""
    loop = asyncio.get_running_loop()
    ready: list[bytes] = []
    decided = 0
    something = asyncio.Event()

    def say(parts: list[bytes], decisions: int) -> None:
        nonlocal decided
        ready.extend(parts)
        decided += decisions
        something.set()

    async def write(call: Any) -> None:
        nonlocal decided
        while True:
            await something.wait()
            something.clear()
            message = bot.sent(ready, decided)
            ready.clear()
            decided = 0
            if gate.shut:
                await gate.open()
            await call.write(message)

    async with grpc.aio.insecure_channel(address, options=CHANNEL) as channel:
        call: Any = channel.stream_stream(PLAY)()
        await call.write(first)
        writer = asyncio.create_task(write(call))
        try:
            with contextlib.suppress(grpc.aio.AioRpcError):
                while (data := await call.read()) is not grpc.aio.EOF:
                    now, later = bot.take(data)
                    thinking = gate.thinking
                    if thinking and later:
                        say(now, 0)
                        loop.call_later(thinking, say, later, len(later))
                    else:
                        say(now + later, len(later))
        finally:
            writer.cancel()


async def run_unary(address: str, scripts: Sequence[Script], part: Part, channels: int) -> None:
    """All unary bots of one process, spread over so many connections as there would be bots with streams."""
    repertoire = Repertoire(scripts)
    gate = Gate(part.control)
    opened = [grpc.aio.insecure_channel(address, options=CHANNEL) for _ in range(channels)]
    door = asyncio.Semaphore(JOINING)
    try:
        await asyncio.gather(
            *(
                _unary_bot(channel, name, ScriptedBot(repertoire, part.counts), gate, door)
                for channel, name in zip(itertools.cycle(opened), part.bots)
            )
        )
    finally:
        for channel in opened:
            await channel.close()


async def _unary_bot(
    channel: grpc.aio.Channel, name: str, bot: ScriptedBot, gate: Gate, door: asyncio.Semaphore
) -> None:
    """A bot at one table. A call carries its answer, and comes back with its next request and what happened before."""
    decide: Any = channel.unary_unary(DECIDE)
    metadata = (("bot", name),)
    async with door:
        said = bot.answer(await decide(b"", metadata=metadata))
    while True:
        if gate.shut:
            await gate.open()
        said = bot.answer(await decide(said, metadata=metadata))
