"""The director of one tournament, as a plain asyncio object: no Ray, no gRPC, no database in sight."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from services.common.clock import Clock
from services.common.errors import PlatformError
from services.common.matches import Ending, MatchOrder, MatchOutcome
from services.common.metrics import TournamentMetrics
from services.ledger.values import Rulings, TournamentState
from services.tournament.director.aim import Aim
from services.tournament.director.bench import Bench
from services.tournament.director.dispatch import Dispatch, void_outcome
from services.tournament.director.lane import Lane
from services.tournament.director.limits import Limits, Retries
from services.tournament.director.ports import (
    Fixtures,
    LedgerPort,
    MatchServiceLost,
    MatchServicePort,
    StagesPort,
    StopPort,
)
from services.tournament.director.status import Board, DirectorStatus
from services.tournament.director.strikes import Strikes
from services.tournament.director.writer import Writer

_log = logging.getLogger(__name__)

GOODBYE = 3.0
"""Seconds that the last words to match services may take."""

RECALLED = "An operator has the match played again."


class Director:
    """Plays what is scheduled and not done, each match until it has exactly one result.

    Whatever is not in the ledger is played again, so it may be killed at any time; a new one begins by withdrawing what
    the old one handed out. `run` does the work, once; the verbs only change what it aims at and return at once.
    """

    def __init__(  # noqa: PLR0913 - its whole surroundings, given once
        self,
        tournament: str,
        fixtures: Fixtures,
        services: Sequence[MatchServicePort],
        ledger: LedgerPort,
        *,
        limits: Limits,
        clock: Clock,
        new_attempt: Callable[[], str],
        metrics: TournamentMetrics | None = None,
        stopping: StopPort | None = None,
        stages: StagesPort | None = None,
    ) -> None:
        self._tournament = tournament
        self._fixtures = fixtures
        self._ledger = ledger
        self._limits = limits
        self._clock = clock
        self._new_attempt = new_attempt
        self._metrics = metrics or TournamentMetrics()
        self._metrics.matches_scheduled = fixtures.matches
        self._names = {bot.bot_id: bot.name for bot in fixtures.bots}
        self._lanes = [Lane(port) for port in services]
        self._dispatch = Dispatch(fixtures, (), self._lanes, limits)
        self._rulings = Rulings()
        # Held while what the ledger says is read and applied, so that what is older never goes over what is newer.
        self._reading = asyncio.Lock()
        self._closing: dict[int, asyncio.Future[None]] = {}
        self._writer = Writer(ledger, limits.retries(), self._go_on)
        self._strikes = Strikes(limits)
        self._bench = Bench(limits, fixtures.among, ledger, self._writer, self._metrics)
        # Matches that are to be played again, and have no result since: asked for once more they are not played twice.
        self._again: set[int] = set()
        self._stopping = stopping
        self._stages = stages
        # Why it ends before its schedule does; then nothing new is handed out.
        self._enough = "" if stopping is None else stopping.recorded
        self._board = Board(fixtures.matches)
        self._aim = Aim(self._enough)
        self._begun = False
        self._leaving = False
        self._started = False
        self._advancing = False

    # ---- verbs: whether it is still to be reached by one, since what is at its end does not listen any more

    def pause(self, reason: str = "") -> bool:
        """Hand out nothing more; finish what runs, then stop. `resume` before that takes it back.

        Said while the platform stops, in the time that is left for that, it holds over the restart.
        """
        if self._aim.outlast(reason):
            self._publish()
            return True
        return self._halt(reason)

    def cancel(self) -> bool:
        """Stop for good, at once."""
        return self._see_to(self._aim.stop(TournamentState.CANCELLED, "", 0.0))

    def suspend(self, grace: float) -> bool:
        """The platform stops: as a pause of at most `grace` seconds, but the ledger still says that it goes on."""
        return self._see_to(self._aim.suspend(grace))

    def resume(self) -> bool:
        """Go on after a pause that has not come to its end."""
        was_pausing = self._aim.state is TournamentState.PAUSED
        if not self._aim.resume():
            return False
        if was_pausing:
            self._strikes.forgive()
            self._go_on()
        return True

    async def heed(self) -> bool:
        """Read in the ledger what operators decided, and go by it from now on."""
        async with self._reading:
            if self._aim.is_over:
                return False
            self._apply(await asyncio.to_thread(self._ledger.rulings))
        self._go_on()
        return True

    async def requeue(self, number: int, reason: str = "") -> bool:
        """Have a match played again: what is played of it just now will not count, or its result is taken back.

        An attempt that is recalled needs no note in the ledger: it has no result before it is over, and whoever
        directs after a crash plays the match again anyway. Asked for again before there is a result, nothing more is
        done.

        Raises PlatformError STATE_CONFLICT if it has a result and its deals are known by now.
        """
        async with self._reading:
            if self._aim.is_over:
                return False
            if number not in self._again and self._dispatch.recall(number):
                self._again.add(number)
            elif number not in self._again:
                if (writing := self._closing.get(number)) and not await self._until_written(writing):
                    return False
                await self._take_back_result(number, reason)
        self._go_on()
        return True

    async def _until_written(self, writing: asyncio.Future[None]) -> bool:
        """Wait for an outcome that is being written; False if the end comes first, after which nothing is written."""
        ended = asyncio.create_task(self._aim.ended.wait())
        either: list[asyncio.Future[Any]] = [writing, ended]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        ended.cancel()
        return writing.done() and not self._aim.is_over

    async def _take_back_result(self, number: int, reason: str) -> None:
        # What is left out for good will never be played: its deals stay hidden only as long as others need them.
        dispatch = self._dispatch
        needed = [
            one
            for one in self._fixtures.sharing(number)
            if dispatch.backlog.is_done(one) or not dispatch.is_left_out(one)
        ]
        if await asyncio.to_thread(self._ledger.retract, number, needed, reason):
            self._dispatch.backlog.reopen(number)
            self._again.add(number)
        self._strikes.forgive_match(number)

    async def status(self, known: int = 0, wait: float = 0.0) -> DirectorStatus:
        """Where it stands; waits up to `wait` seconds while that is version `known`."""
        return await self._board.see(known, wait)

    def _halt(self, reason: str) -> bool:
        """The same, said by nobody: what the platform's own stopping brings about must not outlast it."""
        return self._see_to(self._aim.stop(TournamentState.PAUSED, reason, self._limits.drain))

    # ---- run

    async def run(self) -> TournamentState:
        """Play until everything has a result, or until a verb or a fault ends it earlier; the state it ended in."""
        try:
            await self._play()
        except Exception as error:  # the seam: a fault of ours is logged and becomes a sentence
            _log.exception("director of %s failed", self._tournament)
            self._aim.state = TournamentState.PAUSED
            self._aim.reason = f"The director failed ({type(error).__name__}), its log tells more; resume to go on."
        self._aim.end()
        await asyncio.gather(*(self._say_goodbye(lane) for lane in self._lanes))
        if not self._aim.is_suspended:
            try:
                await self._writer.insist(lambda: self._ledger.set_state(self._aim.state, self._aim.reason))
            except PlatformError as error:  # somebody has ended it in another way meanwhile
                _log.error(
                    "%s ends as %s, which cannot be written: %s", self._tournament, self._aim.state, error.message
                )
                self._aim.reason = error.message
        self._publish(self._aim.state)
        status = self._board.current
        _log.info(
            "%s is left as %s",
            self._tournament,
            self._aim.state,
            extra={"reason": self._aim.reason, "matches_done": status.matches_done},
        )
        return self._aim.state

    async def _play(self) -> None:
        """All that goes on at the same time, until it is over; raises what any of it raises."""
        await self._begin()
        await self._bench.recall(self._fixtures.seats)
        if self._stopping is not None:  # before anything is handed out: it may have been over before a crash
            await self._take_looks(self._stopping)
        self._settle()
        bench = self._bench.run(lambda: self._rulings.excluded, self.heed, self._halt)
        work = [
            asyncio.create_task(job) for job in (self._writer.run(), self._keep_state(), bench, self._aim.ended.wait())
        ]
        work += [asyncio.create_task(self._tend(lane)) for lane in self._lanes]
        if self._stopping is not None:
            work.append(asyncio.create_task(self._look_out(self._stopping)))
        if self._stages is not None:
            work.append(asyncio.create_task(self._keep_stages(self._stages)))
        try:
            over, _ = await asyncio.wait(work, return_when=asyncio.FIRST_COMPLETED)
            for task in over:
                task.result()
        finally:
            self._leaving = True
            for task in work:
                task.cancel()
            await asyncio.gather(*work, return_exceptions=True)

    async def _begin(self, stages: StagesPort | None = None) -> None:
        """Read in the ledger what is done and decided, and go by it; with the next stage, if that is to be entered."""
        async with self._reading:
            done = await asyncio.to_thread(lambda: list(self._ledger.done()))
            rulings = await asyncio.to_thread(self._ledger.rulings)
            if stages is not None:
                stages.enter()
            self._metrics.matches_scheduled = self._fixtures.matches
            self._dispatch = Dispatch(self._fixtures, done, self._lanes, self._limits)
            self._apply(rulings)
            self._begun = True

    async def _keep_stages(self, stages: StagesPort) -> None:
        """Go on to the next stage as soon as all before it is played and on the disk, unless a pause is wanted."""
        status = self._board.current
        while stages.is_open:
            if self._dispatch.is_complete and self._aim.state is TournamentState.FINISHED:
                await self._writer.insist(stages.decide)
                await self._begin(stages)
                _log.info("%s goes on to its next stage", self._tournament)
                self._go_on()
            else:
                status = await self._board.see(status.version, self._limits.poll)
        await self._aim.ended.wait()

    async def _say_goodbye(self, lane: Lane) -> None:
        """Nobody plays on for a tournament that has stopped."""
        try:
            async with asyncio.timeout(GOODBYE):
                await lane.port.withdraw(self._tournament)
        except (MatchServiceLost, TimeoutError):
            pass
        lane.lose()

    async def _keep_state(self) -> None:
        """Write to the ledger where the tournament stands, whenever that changes."""
        written: tuple[TournamentState, str] | None = None
        status = self._board.current
        while True:
            current = (status.state, self._aim.reason)
            if current != written and not self._aim.is_suspended:
                await self._writer.insist(lambda current=current: self._ledger.set_state(*current))  # type: ignore[misc]
                written = current
                _log.info("%s is %s", self._tournament, status.state, extra={"reason": self._aim.reason})
            status = await self._board.see(status.version, self._limits.poll)

    async def _look_out(self, stopping: StopPort) -> None:
        """See whether it has said enough, whenever there is a look to take: at what is on the disk, never sooner."""
        status = self._board.current
        while True:
            await self._take_looks(stopping)
            status = await self._board.see(status.version, self._limits.poll)

    async def _take_looks(self, stopping: StopPort) -> None:
        """Take the looks that are due, until one says that it is enough."""

        def take_look() -> None:
            self._enough = stopping.take_look()

        if self._enough or (self._stages is not None and self._stages.is_open):
            return
        while stopping.is_due(self._dispatch.backlog.is_done):
            await self._writer.insist(take_look)
        self._notice_enough()

    def _notice_enough(self) -> None:
        if self._enough:
            _log.info("%s: %s", self._tournament, self._enough)
            self._aim.reason = self._aim.reason or self._enough
            self._go_on()

    # ---- lanes

    async def _tend(self, lane: Lane) -> None:
        """Work with one match service, beginning anew whenever it was lost."""
        retries = self._limits.retries()
        while True:
            try:
                await lane.port.withdraw(self._tournament)
                async with asyncio.TaskGroup() as all_three:
                    all_three.create_task(self._gather(lane, retries))
                    all_three.create_task(self._submit(lane))
                    all_three.create_task(self._collect(lane))
            except* MatchServiceLost as lost:
                _log.warning("match service %s lost: %s", lane.port.name, lost.exceptions[0])
            if self._leaving:  # a group that fails as it is cancelled tells only of its failure
                return
            for order in self._dispatch.take_lost(lane):
                message = f"The match service {lane.port.name} was lost."
                # A loss says nothing against the match: it is no strike.
                self._write(order, void_outcome(order, lane.port.name, message, self._clock.now()), strike=False)
            self._publish()
            await asyncio.sleep(retries.next())

    async def _gather(self, lane: Lane, retries: Retries) -> None:
        """Keep up with who has a stream there, until all have; and again when somebody did not turn up at a match."""
        wait = 0.0
        while True:
            lane.doubt.clear()  # before asking: whoever leaves while the answer is under way is in doubt again
            missing = await lane.port.missing(list(self._names), wait)
            lane.missing = frozenset(missing).intersection(self._names)  # somebody may be excluded meanwhile
            wait = self._limits.gather
            retries.reset()
            # The first match waits until some match service has all bots, so that nobody begins while others start up.
            self._started = self._started or lane.is_complete
            self._go_on()
            if lane.is_complete:
                await lane.doubt.wait()
                wait = 0.0

    async def _submit(self, lane: Lane) -> None:
        while True:
            await lane.wake.wait()
            await lane.port.submit(lane.take_outgoing())

    async def _collect(self, lane: Lane) -> None:
        confirmed = 0
        while True:
            numbered = await lane.port.collect(self._tournament, confirmed, self._limits.poll, lane.enough)
            writes = []
            for _, outcome in numbered:
                if order := self._dispatch.take_back(lane, outcome.attempt):
                    told = replace(outcome, match_service=outcome.match_service or lane.port.name)
                    recalled = self._dispatch.is_recalled(outcome.attempt)
                    if recalled:
                        told = void_outcome(order, told.match_service, RECALLED, told.started_at, told.ended_at)
                    writes.append(self._write(order, told, strike=not recalled))
                    if told.ending is Ending.NO_SHOW:
                        lane.doubt.set()
            if writes:  # only what is on the disk is confirmed: until then the match service keeps it
                await asyncio.wait(writes)
            confirmed = max([confirmed, *(number for number, _ in numbered)])
            if not numbered:
                self._dispatch.press_on()
                self._go_on()

    def _write(self, order: MatchOrder, outcome: MatchOutcome, *, strike: bool) -> asyncio.Future[None]:
        """Have an outcome written, and the match closed as soon as it is."""

        def close(written: asyncio.Future[None]) -> None:
            if self._closing.get(order.number) is written:
                del self._closing[order.number]
            if written.cancelled():
                return
            self._metrics.attempt_ended(outcome.ending, len(outcome.deals))
            reason = self._strikes.count(order, outcome) if strike else ""
            if strike:
                self._bench.put(self._strikes.absent(order, outcome))
            self._bench.count(order, outcome)
            if outcome.ending.counts:
                self._again.discard(order.number)
            self._dispatch.close(order, counts=outcome.ending.counts)
            if reason:
                self._halt(reason)
            self._go_on()

        future = self._closing[order.number] = self._writer.put(outcome)
        future.add_done_callback(close)
        return future

    # ---- state

    def _go_on(self) -> None:
        """Something has changed: see to it in the next turn of the loop, once for all that changes in this one."""
        if not self._advancing:
            self._advancing = True
            asyncio.get_running_loop().call_soon(self._advance)

    def _advance(self) -> None:
        """Hand out what may go, see whether it is over, and tell."""
        self._advancing = False
        if self._aim.is_over:
            return
        self._settle()
        may_play = self._started and self._aim.state is TournamentState.FINISHED and not self._aim.is_over
        if may_play and not self._writer.stalled and not self._enough:
            self._dispatch.hand_out(self._new_attempt)
            self._settle()  # what was left may all have been left out
            if self._dispatch.backlog.is_interrupted:
                self._go_on()
        self._publish()

    def _apply(self, rulings: Rulings) -> None:
        """Go by what operators decided: nobody waits for, or plays with, who is excluded."""
        self._rulings = rulings
        self._dispatch.limits = self._limits.with_in_flight(rulings.in_flight)
        self._dispatch.excluded = rulings.excluded
        self._metrics.bots_excluded = len(rulings.excluded)
        self._names = {bot.bot_id: bot.name for bot in self._fixtures.bots if bot.name not in rulings.excluded}
        for lane in self._lanes:
            if lane.missing is not None:
                lane.missing = lane.missing.intersection(self._names)
            self._started = self._started or lane.is_complete

    def _settle(self) -> None:
        """See whether it is over."""
        has_ended_early = (
            self._enough and self._aim.state is not TournamentState.CANCELLED and not self._dispatch.running
        )
        is_played = self._dispatch.is_complete and not (self._stages is not None and self._stages.is_open)
        if self._begun and (is_played or has_ended_early):
            self._aim.finish(self._enough)
        elif self._aim.state is TournamentState.PAUSED and not self._dispatch.running:
            self._aim.ended.set()

    def _see_to(self, is_heard: bool) -> bool:
        """See whether it is over at once by what a verb has said, and tell; if it has said anything."""
        if is_heard:
            self._settle()
            self._publish()
        return is_heard

    def _publish(self, final: TournamentState | None = None) -> None:
        state = TournamentState.RUNNING if self._aim.state is TournamentState.FINISHED else TournamentState.DRAINING
        metrics, dispatch = self._metrics, self._dispatch
        metrics.running = final is None and state is TournamentState.RUNNING and self._started
        metrics.matches_done, metrics.matches_in_flight = dispatch.backlog.done_count, dispatch.running
        self._board.put(
            DirectorStatus(
                version=0,
                state=final or state,
                message=self._writer.stalled or self._aim.reason,
                matches=self._fixtures.matches,
                matches_done=metrics.matches_done,
                matches_running=metrics.matches_in_flight,
                missing=self._missing(),
                matches_left_out=dispatch.backlog.left_out,
            )
        )

    def _missing(self) -> tuple[str, ...]:
        """Names of the bots waited for: before the first match those that hinder it, later those that are nowhere."""
        known = [lane.missing for lane in self._lanes if lane.missing is not None]
        if not known:
            return ()
        away = frozenset.intersection(*known) if self._started else min(known, key=len)
        return tuple(sorted(self._names[bot] for bot in away))
