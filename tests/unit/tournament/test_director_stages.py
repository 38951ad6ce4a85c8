"""A director of a tournament in stages: the last one is entered when all before it is played, and by whom it says."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from dataclasses import replace

from services.common.clock import ManualClock
from services.common.matches import Ending, Entrant, MatchOrder, MatchOutcome
from services.ledger.values import TournamentState
from services.tournament.director import Director, Limits
from services.tournament.director.scheduled import ScheduledFixtures
from services.tournament.schedule import PoolSchedule, make_timetable
from services.tournament.spec import parse_spec

from .director_fakes import NAME, FakeFixtures, FakeLedger, FakeService, eventually, outcome_of

LIMITS = Limits(retry_first=0.001, retry_most=0.002, poll=5.0, gather=0.01, drain=5.0, in_flight=6)
POOLS, ALL, FINALISTS = 30, 50, 6


class StagedFixtures(FakeFixtures):
    """Ten bots in the first matches, six of them in those behind."""

    def seats(self, number: int) -> Sequence[Entrant]:
        among = 10 if number < POOLS else FINALISTS
        return [Entrant(f"id-{one}", f"bot-{one}") for one in ((number + seat) % among for seat in range(5))]


class Stages:
    """Ten bots play 30 matches, then the first six of them 20 more."""

    def __init__(self, fixtures: FakeFixtures, ledger: FakeLedger, *, is_open: bool = True) -> None:
        self.is_open = is_open
        self.decided: list[int] = []
        self._fixtures = fixtures
        self._ledger = ledger
        if not is_open:
            self.enter()

    def decide(self) -> None:
        self._ledger.set_state(TournamentState.RUNNING, "decided")  # what cannot be written is refused
        self.decided.append(len(self._ledger.results))

    def enter(self) -> None:
        self.is_open = False
        self._fixtures.matches = ALL
        self._fixtures.bots = self._fixtures.bots[:FINALISTS]


def direct(service: FakeService, ledger: FakeLedger, *, is_open: bool = True) -> tuple[Director, Stages]:
    ids = (f"attempt-{index}" for index in itertools.count())
    fixtures = StagedFixtures(POOLS, bots=10)
    stages = Stages(fixtures, ledger, is_open=is_open)
    director = Director(
        NAME,
        fixtures,
        [service],
        ledger,
        limits=LIMITS,
        clock=ManualClock(),
        new_attempt=lambda: next(ids),
        stages=stages,
    )
    return director, stages


async def run(director: Director) -> TournamentState:
    async with asyncio.timeout(20):
        return await director.run()


async def test_the_last_stage_begins_when_everything_before_it_is_on_the_disk() -> None:
    service, ledger = FakeService(), FakeLedger()
    director, stages = direct(service, ledger)
    assert await run(director) is TournamentState.FINISHED
    assert stages.decided == [POOLS]
    assert sorted(ledger.results) == list(range(ALL))
    order = [order.number >= POOLS for order in service.seen]
    assert order == sorted(order)


async def test_matches_of_excluded_bots_are_not_waited_for() -> None:
    service, ledger = FakeService(), FakeLedger()
    ledger.exclude("bot-9")
    director, stages = direct(service, ledger)
    assert await run(director) is TournamentState.FINISHED
    assert stages.decided == [POOLS // 2]
    assert len(ledger.results) == POOLS // 2 + ALL - POOLS


async def test_where_too_few_would_be_left_of_a_final_it_pauses_and_is_not_over_without_one() -> None:
    """Ten have entered and six play the final: of these one can be spared, and not two."""

    def keep_waiting(order: MatchOrder) -> MatchOutcome:
        names = [seat.name for seat in order.seats]
        absent = next((name for name in ("bot-0", "bot-1") if name in names and order.number >= POOLS), "")
        return outcome_of(order, Ending.NO_SHOW, (names.index(absent),)) if absent else outcome_of(order)

    service, ledger = FakeService(decide=keep_waiting), FakeLedger()
    director, _ = direct(service, ledger)
    assert await run(director) is TournamentState.PAUSED
    assert [one.name for one in ledger.decided.exclusions] == ["bot-0"]
    assert ledger.states[-1][1].startswith("Without bot-1 too few would be left to play on")
    again, _ = direct(FakeService(), ledger, is_open=False)
    assert await run(again) is TournamentState.FINISHED
    assert set(range(POOLS)) < set(ledger.results)


def test_those_among_whom_a_bot_plays_are_its_pool_then_the_final() -> None:
    names = [f"house:greedy#{copy}" for copy in range(2, 13)]
    spec = replace(
        parse_spec(
            f"name: cup\nprofile: qingdao\nbots: {names}\ndeals: 1\n"
            "schedule: {kind: pool, pools: 2, each: full, advance: 2, rest: 1, final: full}\n"
        ),
        seed="s",
    )
    timetable = make_timetable(spec)
    assert isinstance(timetable, PoolSchedule)
    fixtures = ScheduledFixtures(spec, timetable, b"s", {})
    pools = [{names[member] for member in pool} for pool in timetable.pools]
    assert [set(fixtures.among(name)) for name in names] == [
        next(one for one in pools if name in one) for name in names
    ]
    fixtures.enter(timetable.drawn(range(5)))
    assert [set(fixtures.among(name)) for name in names] == [set(names[:5])] * 5 + [set()] * 6


async def test_whoever_has_not_gone_on_may_leave() -> None:
    """Given a director that begins in the last stage, when only those who play it are there, then it is played."""
    service, ledger = FakeService(away={f"id-{index}" for index in range(FINALISTS, 10)}), FakeLedger(range(POOLS))
    director, stages = direct(service, ledger, is_open=False)
    assert await run(director) is TournamentState.FINISHED
    assert (stages.decided, sorted(ledger.results)) == ([], list(range(ALL)))
    assert (await director.status()).missing == ()


async def test_nothing_is_decided_while_a_pause_is_wanted() -> None:
    service, ledger = FakeService(), FakeLedger(range(POOLS))
    director, stages = direct(service, ledger)
    director.pause("let me look")
    assert await run(director) is TournamentState.PAUSED
    assert (stages.decided, stages.is_open) == ([], True)


async def test_a_ledger_that_cannot_be_written_is_waited_for() -> None:
    service, ledger = FakeService(), FakeLedger(range(POOLS))
    ledger.full = True
    director, stages = direct(service, ledger)
    running = asyncio.create_task(run(director))
    await eventually(lambda: ledger.refused > 3)
    assert (stages.decided, service.seen) == ([], [])
    ledger.full = False
    assert await running is TournamentState.FINISHED
    assert sorted(ledger.results) == list(range(ALL))


async def test_a_match_that_is_played_again_is_waited_for() -> None:
    """Given a match that an operator has played again, when all others have results, then nothing is decided yet."""
    held = {POOLS - 1}
    service = FakeService(decide=lambda order: None if order.number in held else outcome_of(order))
    ledger = FakeLedger()
    director, stages = direct(service, ledger)
    running = asyncio.create_task(run(director))
    await eventually(lambda: len(ledger.results) == POOLS - 1)
    assert await director.requeue(3, "the wrong build")
    held.clear()
    await eventually(lambda: 3 in ledger.results)
    assert stages.decided == []
    (order,) = service.orders.values()
    service.finish(order, outcome_of(order))
    assert await running is TournamentState.FINISHED
    assert stages.decided == [POOLS]
