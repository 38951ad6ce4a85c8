"""The desk: what operators may do with tournaments, and the directors that do the work. No gRPC, no Ray."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Collection

from services.common.clock import Clock, SystemClock
from services.common.errors import PlatformError, Reason
from services.common.targets import Target
from services.ledger.ledger import Ledger
from services.ledger.values import Page, Result, Side, TournamentState
from services.tournament.director import FINAL
from services.tournament.servicer.carrying import carried_through
from services.tournament.servicer.entrance import Entrance
from services.tournament.servicer.planner import Planner
from services.tournament.servicer.plans import Plan, Plans
from services.tournament.servicer.releases import read_record, without_open_rounds
from services.tournament.servicer.running import DirectorLost, DirectorPort, RunningTournament
from services.tournament.servicer.tables import Tables
from services.tournament.servicer.verbs import ALLOWED, Verb, verify_allowed
from services.tournament.servicer.views import TournamentView, Views
from services.tournament.standings import Order, Standing

__all__ = ["Desk", "DirectorLost", "DirectorPort", "TournamentView"]

_log = logging.getLogger(__name__)

GOES_ON = (TournamentState.RUNNING,)
"""States that a platform takes up again by itself when it starts."""

MOST_IN_FLIGHT = 100_000
MOST_REASON = 300
"""Characters: a sentence or two that everybody can read."""

VERB_PATIENCE = 15.0
"""Seconds for which a verb is offered to a director that is being restarted."""

VERB_PAUSE = 0.5
"""Seconds between two offers."""


class Desk:
    """All tournaments of a platform. `launch` starts a director for a tournament by name; `new_seed` draws one."""

    def __init__(
        self,
        ledger: Ledger,
        launch: Callable[[str], DirectorPort],
        new_seed: Callable[[], str],
        clock: Clock | None = None,
    ) -> None:
        self._ledger = ledger
        self._launch = launch
        plans = Plans()
        self._entrance = Entrance(ledger, Planner(), plans, new_seed, clock or SystemClock())
        self._tables = Tables(ledger)
        self._running: dict[str, RunningTournament] = {}
        self._views = Views(ledger, plans, self._running)
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopping = False
        # Held while something is done to one without a director: one that begins meanwhile would not know of it.
        self._between = asyncio.Lock()

    # ---- life of a platform

    async def recover(self) -> None:
        """Go on with what a platform before this one did not finish; a pause that was asked for is completed."""
        for tournament in await asyncio.to_thread(self._ledger.tournaments_in, [TournamentState.DRAINING]):
            await self._set_state(tournament.name, TournamentState.PAUSED, tournament.message)
        for tournament in await asyncio.to_thread(self._ledger.tournaments_in, GOES_ON):
            self._start(tournament.name)

    async def suspend(self, grace: float) -> list[str]:
        """The platform stops: finish what runs, for at most `grace` seconds; names of what goes on next time."""
        self._stopping = True
        running = list(self._running.values())
        await asyncio.gather(*(self._suspend(one, grace) for one in running))
        return [one.name for one in running if one.status is None or one.status.state is not TournamentState.FINISHED]

    async def _suspend(self, one: RunningTournament, grace: float) -> None:
        try:
            await one.director.suspend(grace)
            async with asyncio.timeout(grace + 5):
                await one.wait_for_end()
        except (DirectorLost, PlatformError, TimeoutError) as error:
            _log.warning("director of %s left as it is: %r", one.name, error)

    @property
    def targets(self) -> list[Target]:
        """Where the directors' metrics are."""
        return [one.target for one in self._running.values() if one.target is not None]

    # ---- verbs

    async def plan(self, spec_yaml: str) -> Plan:
        """What a specification would come to. Raises PlatformError SPEC_INVALID or RATE_LIMITED."""
        return await self._entrance.plan(spec_yaml)

    @carried_through
    async def create(self, spec_yaml: str, state: TournamentState = TournamentState.RUNNING) -> TournamentView:
        """Store a tournament as a draft, or open, or start its director as well.

        Raises PlatformError SPEC_INVALID, RATE_LIMITED, TOURNAMENT_EXISTS, BOT_UNKNOWN, STATE_CONFLICT with too few
        entrants, or DRAINING while the platform stops.
        """
        self._verify_not_stopping()
        name = await self._entrance.create(spec_yaml, state)
        if state.has_begun:
            self._start(name)
        return await self.view(name)

    @carried_through
    async def edit(self, spec_yaml: str) -> TournamentView:
        """Put another specification in the place of a draft's. Raises as `Entrance.edit`."""
        return await self.view(await self._entrance.edit(spec_yaml))

    @carried_through
    async def open(self, name: str) -> TournamentView:
        """Let bots enter. Raises PlatformError TOURNAMENT_UNKNOWN or STATE_CONFLICT."""
        await self._entrance.open(name)
        return await self.view(name)

    @carried_through
    async def enter(self, name: str, bot: str, by: Side) -> TournamentView:
        """A bot will play. Raises PlatformError TOURNAMENT_UNKNOWN, BOT_UNKNOWN, STATE_CONFLICT or RATE_LIMITED."""
        await self._entrance.enter(name, bot, by)
        return await self.view(name)

    @carried_through
    async def withdraw(self, name: str, bot: str, by: Side) -> TournamentView:
        """A bot will not play after all. Raises as `enter`."""
        await self._entrance.withdraw(name, bot, by)
        return await self.view(name)

    @carried_through
    async def start(self, name: str) -> TournamentView:
        """Settle who plays, and play. Raises as `Entrance.start`, or PlatformError DRAINING."""
        self._verify_not_stopping()
        async with self._entrance.holding(name):
            await self._entrance.start(name)
            self._start(name)
        return await self.view(name)

    @carried_through
    async def pause(self, name: str, reason: str = "") -> TournamentView:
        """Finish what runs, then stop. Raises PlatformError TOURNAMENT_UNKNOWN or STATE_CONFLICT."""
        one = self._running.get(name)
        if one is not None:
            if await self._offer(one, lambda: one.director.pause(reason)):
                return await self.view(name)
            await one.wait_for_end()
        else:
            await self._verify_allowed(name, Verb.PAUSE)
        async with self._between:
            state = (await asyncio.to_thread(self._ledger.tournament, name)).state
            if state in GOES_ON and name not in self._running:  # the next platform would go on with it
                await self._set_state(name, TournamentState.PAUSED, reason)
        return await self.view(name)

    @carried_through
    async def resume(self, name: str) -> TournamentView:
        """Play what is scheduled and not done. Raises PlatformError TOURNAMENT_UNKNOWN, STATE_CONFLICT or DRAINING."""
        self._verify_not_stopping()
        one = self._running.get(name)
        if one is not None:
            if await self._offer(one, one.director.resume):
                return await self.view(name)
            await one.wait_for_end()
        allowed = ALLOWED[Verb.RESUME]
        async with self._between:
            await self._verify_allowed(name, Verb.RESUME)
            await asyncio.to_thread(self._ledger.transition, name, allowed, TournamentState.RUNNING)
            self._start(name)
        return await self.view(name)

    @carried_through
    async def cancel(self, name: str) -> TournamentView:
        """End it for good; results stay. Raises PlatformError TOURNAMENT_UNKNOWN or STATE_CONFLICT."""
        # One that is just being started or resumed will have a director.
        async with self._entrance.holding(name), self._between:
            one = self._running.get(name)
            if one is None:
                await self._end(name)
        if one is not None:
            await self._offer(one, one.director.cancel)
            await one.wait_for_end()
            await self._end(name)  # one that was about to pause has not listened any more
        return await self.view(name)

    async def _end(self, name: str) -> None:
        await self._verify_allowed(name, Verb.CANCEL)
        await asyncio.to_thread(self._ledger.transition, name, ALLOWED[Verb.CANCEL], TournamentState.CANCELLED)
        self._entrance.tell_cancelled(name)

    @carried_through
    async def exclude(self, name: str, bot: str, *, annulled: bool, reason: str = "") -> TournamentView:
        """An entrant plays no more; what it has played counts, or counts for nobody.

        Raises PlatformError TOURNAMENT_UNKNOWN, BOT_UNKNOWN if it is no entrant, MALFORMED for a reason too long.
        """
        verify_reason(reason)
        view = await self.view(name)
        verify_allowed(name, view.tournament.state, Verb.EXCLUDE)
        if view.plan is None or bot not in view.plan.spec.entrants:
            raise PlatformError(Reason.BOT_UNKNOWN, f"No bot named {bot!r} is entered in {name!r}.", bots=bot)
        await asyncio.to_thread(lambda: self._ledger.exclude(name, bot, annulled=annulled, reason=reason))
        _log.info("%s excluded from %s", bot, name, extra={"annulled": annulled})
        await self._heed(name)
        return await self.view(name)

    @carried_through
    async def set_in_flight(self, name: str, in_flight: int | None) -> TournamentView:
        """So many matches at once from now on; None: as the specification says.

        Raises PlatformError TOURNAMENT_UNKNOWN, MALFORMED, or STATE_CONFLICT if it is over.
        """
        if in_flight is not None and not 1 <= in_flight <= MOST_IN_FLIGHT:
            message = f"in_flight: must be from 1 to {MOST_IN_FLIGHT}, or 0; not {in_flight}."
            raise PlatformError(Reason.MALFORMED, message, field="in_flight")
        await self._verify_allowed(name, Verb.IN_FLIGHT)
        await asyncio.to_thread(self._ledger.set_in_flight, name, in_flight)
        await self._heed(name)
        return await self.view(name)

    @carried_through
    async def requeue(self, name: str, number: int, reason: str = "") -> TournamentView:
        """Have a match played again: what is played of it now does not count, its result is taken back.

        Raises PlatformError TOURNAMENT_UNKNOWN; MALFORMED without such a match; STATE_CONFLICT if the tournament is
        over, a bot in the match is excluded, or its deals are known by now.
        """
        verify_reason(reason)
        view = await self.view(name)
        verify_allowed(name, view.tournament.state, Verb.REQUEUE)
        assert view.plan is not None
        needed = _needed(view.plan, view.rulings.excluded, number)
        one = self._running.get(name)
        if one is not None:
            if await self._offer(one, lambda: one.director.requeue(number, reason)):
                return await self.view(name)
            await one.wait_for_end()
        async with self._between:
            if name in self._running:
                message = f"The tournament {name!r} is just being resumed: ask again."
                raise PlatformError(Reason.STATE_CONFLICT, message, tournament=name)
            await self._verify_allowed(name, Verb.REQUEUE)
            await asyncio.to_thread(self._ledger.retract, name, number, needed, reason)
        return await self.view(name)

    async def _heed(self, name: str) -> None:
        """Have the director, if there is one, go by what is in the ledger; one that begins reads it by itself."""
        if (one := self._running.get(name)) is not None:
            await self._offer(one, one.director.heed)

    async def _offer(self, one: RunningTournament, verb: Callable[[], Awaitable[bool]]) -> bool:
        """Say it to the director, again if it is being restarted; whether it listened, which one at its end does not.

        Raises PlatformError UNREACHABLE if it does not come back.
        """
        until = asyncio.get_running_loop().time() + VERB_PATIENCE
        while not one.has_ended:
            try:
                return await verb()
            except DirectorLost:
                if asyncio.get_running_loop().time() > until:
                    sentence = f"The director of {one.name!r} does not answer; it is being restarted: ask again."
                    raise PlatformError(Reason.UNREACHABLE, sentence, tournament=one.name) from None
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(VERB_PAUSE):
                    await one.wait_for_end()
        return False

    # ---- views

    async def view(self, name: str) -> TournamentView:
        """One tournament. Raises PlatformError TOURNAMENT_UNKNOWN."""
        return await asyncio.to_thread(self._views.look, name)

    async def page(self, after: str, limit: int, hidden: Collection[TournamentState] = ()) -> Page[TournamentView]:
        """Tournaments less those in `hidden` states, the newest first."""
        return await asyncio.to_thread(self._views.page, after, limit, hidden)

    async def standings(self, name: str, order: Order = Order.POINTS, stage: int = 0) -> list[Standing]:
        """The table of a stage, best first; 0 is the latest. Raises TOURNAMENT_UNKNOWN, or what `Tables.of` does."""

        def look() -> list[Standing]:
            plan = self._views.plan_of(self._ledger.tournament(name))
            return [] if plan is None else self._tables.of(plan, order, stage)

        return await asyncio.to_thread(look)

    async def record(self, name: str, number: int) -> bytes:
        """The compressed record of one match.

        Raises PlatformError TOURNAMENT_UNKNOWN; MALFORMED without such a match; STATE_CONFLICT while it has no record,
        or other matches with the same deals are still to be played.
        """

        def look() -> bytes:
            tournament = self._ledger.tournament(name)
            plan = self._views.plan_of(tournament)
            if plan is None:
                message = f"The tournament {name!r} was not started, so there are no matches."
                raise PlatformError(Reason.STATE_CONFLICT, message, tournament=name, state=tournament.state)
            return read_record(self._ledger, tournament, plan.schedule, number)

        return await asyncio.to_thread(look)

    async def results(self, name: str, after: int, limit: int) -> list[Result]:
        """At most `limit` results after a number. Raises PlatformError TOURNAMENT_UNKNOWN."""
        return await asyncio.to_thread(self._ledger.results_page, name, after=after, limit=limit)

    async def released(self, name: str, results: list[Result]) -> list[Result]:
        """Those of them that may be seen by now: of a round over the same deals none before all of it is played."""

        def look() -> list[Result]:
            tournament = self._ledger.tournament(name)
            plan = self._views.plan_of(tournament)
            if plan is None:
                return []
            return list(without_open_rounds(self._ledger, tournament, plan.schedule, results))

        return await asyncio.to_thread(look)

    async def watch(self, name: str) -> AsyncIterator[TournamentView]:
        """One tournament, again after every change, until nothing more will change by itself."""
        while True:
            one = self._running.get(name)
            news = asyncio.ensure_future(one.wait_for_news() if one else self._entrance.wait_for_news(name))
            try:
                view = await self.view(name)
                yield view
                if one is None and name in self._running:  # it was just started, or resumed
                    continue
                if one is None and view.state is not TournamentState.OPEN:
                    return
                await news
            finally:
                news.cancel()

    # ---- directors

    def _start(self, name: str) -> None:
        """Start the director of a tournament, unless it has one: two would take each other's matches away."""
        if name in self._running:
            return
        one = self._running[name] = RunningTournament(name, self._launch(name))
        task = asyncio.create_task(self._follow(one))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _follow(self, one: RunningTournament) -> None:
        try:
            await one.follow()
            if one.fault:
                _log.error("director of %s cannot begin: %s", one.name, one.fault)
                await self._set_state(one.name, TournamentState.PAUSED, one.fault)
        except Exception:
            _log.exception("following %s failed", one.name)
        finally:
            if self._running.get(one.name) is one:
                del self._running[one.name]
            one.end()

    async def _set_state(self, name: str, state: TournamentState, message: str) -> None:
        allowed = [old for old in TournamentState if old.has_begun and old not in FINAL]
        try:
            await asyncio.to_thread(self._ledger.transition, name, allowed, state, message)
        except PlatformError as error:
            _log.error("state of %s not written: %s", name, error.message)

    async def _verify_allowed(self, name: str, verb: Verb) -> None:
        """Said in the words of the verbs; the ledger, which knows only states, keeps watch as well."""
        verify_allowed(name, (await asyncio.to_thread(self._ledger.tournament, name)).state, verb)

    def _verify_not_stopping(self) -> None:
        if self._stopping:
            raise PlatformError(Reason.DRAINING, "The platform is stopping; no tournament is started any more.")


def verify_reason(reason: str) -> None:
    """Raises PlatformError MALFORMED if people could not read it as one sentence."""
    if len(reason) > MOST_REASON or not reason.isprintable():
        raise PlatformError(
            Reason.MALFORMED, f"reason: must have at most {MOST_REASON} characters, all printable.", field="reason"
        )


def _needed(plan: Plan, excluded: frozenset[str], number: int) -> list[int]:
    """The matches with the same deals as one that is to be played again, as far as they are played at all.

    Raises PlatformError MALFORMED without such a match, STATE_CONFLICT if a bot in it is excluded.
    """
    name, schedule, players = plan.spec.name, plan.schedule, plan.spec.players
    if not 0 <= number < len(schedule):
        message = f"number: {name!r} has no match {number}; it has 0 to {len(schedule) - 1}."
        raise PlatformError(Reason.MALFORMED, message, field="number")
    if number >= schedule.known:
        message = f"Match {number} of {name!r} is one of the final: who plays there is decided when the pools are over."
        raise PlatformError(Reason.STATE_CONFLICT, message, tournament=name, number=str(number))

    def out(one: int) -> frozenset[str]:
        return excluded.intersection(players[index] for index in schedule.match(one).entrants)

    if names := sorted(out(number)):
        message = f"Match {number} of {name!r} is not played again: {' and '.join(names)} cannot play, being excluded."
        raise PlatformError(Reason.STATE_CONFLICT, message, tournament=name, number=str(number))
    group, _ = schedule.place(number)
    return [one for one in schedule.numbers(group) if not out(one)]
