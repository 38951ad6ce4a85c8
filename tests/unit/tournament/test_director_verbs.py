"""Whatever operators say, and whatever is killed in between: what is played is the schedule less the excluded."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from services.common.errors import PlatformError
from services.common.matches import Ending
from services.ledger.values import TournamentState
from services.tournament.director import Director, Limits

from .director_fakes import FakeFixtures, FakeLedger, FakeService, eventually, outcome_of
from .test_director import QUICK, direct
from .test_director_rulings import with_bot

MATCHES, BOTS = 60, 12

EXCLUDE = st.tuples(st.just("exclude"), st.integers(0, BOTS - 1))
REQUEUE = st.tuples(st.just("requeue"), st.integers(0, MATCHES - 1))
IN_FLIGHT = st.tuples(st.just("in_flight"), st.integers(1, 20))
KILL = st.tuples(st.just("kill"), st.sampled_from([0, 1]))
PAUSE = st.tuples(st.just("pause"), st.just(0))


class Play:
    """A tournament with its ledger, of which everything else may die."""

    def __init__(self) -> None:
        self.fixtures = FakeFixtures(MATCHES, BOTS)
        self.ledger = FakeLedger()
        self.service = FakeService()
        self.excluded: set[str] = set()
        self.attempts = 0
        self.start()

    def start(self) -> None:
        self.director: Director = direct([self.service], self.ledger, self.fixtures, replace(QUICK, in_flight=4))
        names = (f"{self.attempts}-{index}" for index in range(10_000))
        self.attempts += 1
        self.director._new_attempt = lambda: next(names)
        self.run = asyncio.create_task(self.director.run())

    async def do(self, verb: str, value: int) -> None:
        if verb == "exclude":
            self.excluded.add(f"bot-{value}")
            self.ledger.exclude(*sorted(self.excluded))
            await self.director.heed()
        elif verb == "in_flight":
            self.ledger.decided = replace(self.ledger.decided, in_flight=value)
            await self.director.heed()
        elif verb == "requeue":
            with contextlib.suppress(PlatformError):  # all are played, so the deals are known
                await self.director.requeue(value)
        elif verb == "pause":
            self.director.pause()
            self.director.resume()
        elif value:
            self.service.kill()
        else:
            self.run.cancel()
            await asyncio.gather(self.run, return_exceptions=True)
            await asyncio.sleep(0.01)  # a thread of the dead director may still be writing
            self.start()

    async def finish(self) -> None:
        async with asyncio.timeout(60):
            while await self.run is TournamentState.PAUSED:
                self.start()
        assert self.run.result() is TournamentState.FINISHED


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 30), st.one_of(EXCLUDE, REQUEUE, IN_FLIGHT, KILL, PAUSE)), max_size=12))
def test_what_is_played_is_the_schedule_less_the_excluded(verbs: list[tuple[int, tuple[str, int]]]) -> None:
    async def play() -> Play:
        played = Play()
        for turns, (verb, value) in verbs:
            for _ in range(turns):
                await asyncio.sleep(0)
            await played.do(verb, value)
        await played.finish()
        return played

    played = asyncio.run(play())
    left_out = set().union(*(with_bot(played.fixtures, name) for name in played.excluded))
    missing = set(range(MATCHES)) - set(played.ledger.results)
    assert missing <= left_out
    counted = [one.attempt for one in played.ledger.attempts if one.ending.counts]
    assert sorted([*played.ledger.results.values(), *played.ledger.retracted]) == sorted(counted)


async def test_a_pause_that_is_said_while_the_platform_stops_is_still_one_when_it_is_started_again() -> None:
    service, ledger = FakeService(decide=lambda order: None), FakeLedger()
    director = direct([service], ledger, FakeFixtures(1), Limits())
    run = asyncio.create_task(director.run())
    await eventually(lambda: bool(service.seen))
    assert director.suspend(grace=60)
    assert director.pause("let me look")
    service.finish(service.seen[0], outcome_of(service.seen[0], Ending.VOID))
    assert await asyncio.wait_for(run, 60) is TournamentState.PAUSED
    assert ledger.states[-1] == (TournamentState.PAUSED, "let me look")
