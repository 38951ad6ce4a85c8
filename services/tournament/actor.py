"""A director as a Ray actor, and both ways of calling over Ray: desk to director, director to match service."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

import ray
from ray.exceptions import RayActorError, RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from services.common.clock import SystemClock
from services.common.errors import PlatformError
from services.common.live_tls import live_tls
from services.common.logging import configure_logging
from services.common.matches import MatchOrder, MatchOutcome
from services.common.metrics import LedgerMetrics, TlsMetrics, TournamentMetrics, make_registry
from services.common.scraping import serve_metrics
from services.common.settings import Settings
from services.common.targets import Role, Target
from services.ledger.ledger import Access, Ledger
from services.ledger.tournament_ledger import TournamentLedger
from services.ledger.values import Tournament, TournamentState
from services.tournament.director import FINAL, BreakerRule, Director, DirectorStatus, Limits, MatchServiceLost
from services.tournament.director.scheduled import ScheduledFixtures
from services.tournament.schedule import tournament_secret
from services.tournament.servicer import DirectorLost
from services.tournament.servicer.plans import spec_of, timetable_of
from services.tournament.servicer.promotion import Promotion
from services.tournament.servicer.stopping import Stopping
from services.tournament.spec import BenchedResults, TournamentSpec
from services.tournament.spec.busiest import busiest_share

T = TypeVar("T")

ATTEMPT_BYTES = 12
"""Random bytes in the id of an attempt: nobody can tell from it anything about the match."""


class DirectorActor:
    """The director of one tournament. After a restart by Ray it goes on by itself, from what the ledger says."""

    def __init__(self, tournament: str, settings: Settings, ledger_path: str, match_services: Sequence[str]) -> None:
        self._tournament = tournament
        self._settings = settings
        self._ledger_path = ledger_path
        self._services = [RayMatchService(name, ray.get_actor(name)) for name in match_services]
        self._metrics = TournamentMetrics()
        self._over: DirectorStatus | None = None
        self._starting = asyncio.get_running_loop().create_task(self._start())

    async def _start(self) -> tuple[Director | None, Target]:
        configure_logging(f"director-{self._tournament}", self._settings)
        writes, tls_metrics = LedgerMetrics(), TlsMetrics()
        registry = make_registry(Role.DIRECTOR, self._metrics, writes, tls_metrics)
        settings = self._settings
        reachable = settings.reachable_host
        tls = live_tls(settings.tls, reachable, tls_metrics, SystemClock())
        metrics = serve_metrics(registry, settings.host, reachable_host=reachable, tls=tls)
        target = Target(Role.DIRECTOR, self._tournament, metrics.address)
        director, stored = await asyncio.to_thread(self._prepare, writes)
        if director is not None:
            if stored.state is TournamentState.DRAINING:  # killed during a pause: there is nothing left to finish
                director.pause(stored.message)
            self._run = asyncio.create_task(director.run())
        return director, target

    def _prepare(self, writes: LedgerMetrics) -> tuple[Director | None, Tournament]:
        """The director, ready to run, or None for a tournament that is over."""
        ledger = Ledger.open(self._ledger_path, access=Access.MEMBER, metrics=writes)
        stored = ledger.tournament(self._tournament)
        spec = spec_of(stored)
        schedule = timetable_of(stored)
        if stored.state in FINAL:
            self._over = DirectorStatus(1, stored.state, stored.message, len(schedule))
            return None, stored
        assert spec.seed is not None
        ids = {name: bot.bot_id for name, bot in ledger.bots_named(spec.bots).items()}
        fixtures = ScheduledFixtures(spec, schedule, tournament_secret(spec.seed), ids)
        director = Director(
            self._tournament,
            fixtures,
            self._services,
            TournamentLedger(ledger, self._tournament),
            limits=limits_of(spec),
            clock=SystemClock(),
            new_attempt=lambda: secrets.token_hex(ATTEMPT_BYTES),
            metrics=self._metrics,
            stopping=None if spec.stop is None else Stopping(ledger, spec, schedule, stored.message),
            stages=None if spec.schedule.stages is None else Promotion(ledger, spec, schedule, fixtures),
        )
        return director, stored

    async def target(self) -> Target:
        """Where its metrics are."""
        _, target = await asyncio.shield(self._starting)
        return target

    async def status(self, known: int, wait: float) -> DirectorStatus:
        """As `Director.status`. Raises PlatformError when the tournament cannot even be read."""
        director, _ = await asyncio.shield(self._starting)
        if director is not None:
            return await director.status(known, wait)
        assert self._over is not None
        return self._over

    async def pause(self, reason: str) -> bool:
        """As `Director.pause`."""
        return await self._tell(lambda director: director.pause(reason))

    async def resume(self) -> bool:
        """As `Director.resume`."""
        return await self._tell(Director.resume)

    async def cancel(self) -> bool:
        """As `Director.cancel`."""
        return await self._tell(Director.cancel)

    async def heed(self) -> bool:
        """As `Director.heed`."""
        director, _ = await asyncio.shield(self._starting)
        return director is not None and await director.heed()

    async def requeue(self, number: int, reason: str) -> bool:
        """As `Director.requeue`."""
        director, _ = await asyncio.shield(self._starting)
        return director is not None and await director.requeue(number, reason)

    async def suspend(self, grace: float) -> bool:
        """As `Director.suspend`."""
        return await self._tell(lambda director: director.suspend(grace))

    async def _tell(self, verb: Callable[[Director], bool]) -> bool:
        director, _ = await asyncio.shield(self._starting)
        return director is not None and verb(director)


def limits_of(spec: TournamentSpec) -> Limits:
    """The bounds that a specification asks for; what it leaves open is the platform's."""
    rule = BreakerRule(spec.breaker.after, spec.breaker.results is BenchedResults.ANNULLED)
    limits = Limits(
        no_show_limit=spec.no_show_limit,
        bot_bound=spec.per_bot,
        busiest=busiest_share(spec.schedule, len(spec.entrants)),
        breaker=rule if spec.breaker.after else None,
    )
    return limits.with_in_flight(spec.in_flight)


class RayMatchService:
    """A `MatchServicePort` over Ray."""

    def __init__(self, name: str, handle: Any) -> None:
        self.name = name
        self._handle = handle
        self._lease = ""

    async def withdraw(self, tournament: str) -> None:
        """Begin anew, with whatever incarnation there is now."""
        self._lease = await self._call(self._handle.withdraw.remote(tournament))

    async def submit(self, orders: Sequence[MatchOrder]) -> None:
        """As `MatchServicePort.submit`."""
        await self._call(self._handle.submit.remote(self._lease, list(orders)))

    async def collect(
        self, tournament: str, confirmed: int, wait: float, enough: int
    ) -> list[tuple[int, MatchOutcome]]:
        """As `MatchServicePort.collect`."""
        call: Awaitable[list[tuple[int, MatchOutcome]]]
        call = self._handle.collect.remote(self._lease, tournament, confirmed, wait, enough)
        return await self._call(call)

    async def missing(self, bot_ids: Sequence[str], wait: float) -> list[str]:
        """As `MatchServicePort.missing`."""
        call: Awaitable[list[str]] = self._handle.missing.remote(self._lease, list(bot_ids), wait)
        return await self._call(call)

    async def _call(self, call: Awaitable[T]) -> T:
        try:
            return await call
        except PlatformError as error:  # restarted since, or it cannot listen
            raise MatchServiceLost(error.message) from None
        except RayTaskError:  # a fault of ours, which would come again
            raise
        except RayError as error:  # the actor, or only an answer too large for a call, which was lost with its node
            raise MatchServiceLost(type(error).__name__) from None


class RayDirector:
    """A `DirectorPort` over Ray."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    async def target(self) -> Target:
        """As `DirectorPort.target`."""
        return await self._call(self._handle.target.remote())

    async def status(self, known: int, wait: float) -> DirectorStatus:
        """As `DirectorPort.status`."""
        return await self._call(self._handle.status.remote(known, wait))

    async def pause(self, reason: str) -> bool:
        """As `DirectorPort.pause`."""
        return bool(await self._call(self._handle.pause.remote(reason)))

    async def resume(self) -> bool:
        """As `DirectorPort.resume`."""
        return bool(await self._call(self._handle.resume.remote()))

    async def cancel(self) -> bool:
        """As `DirectorPort.cancel`."""
        return bool(await self._call(self._handle.cancel.remote()))

    async def heed(self) -> bool:
        """As `DirectorPort.heed`."""
        return bool(await self._call(self._handle.heed.remote()))

    async def requeue(self, number: int, reason: str) -> bool:
        """As `DirectorPort.requeue`."""
        return bool(await self._call(self._handle.requeue.remote(number, reason)))

    async def suspend(self, grace: float) -> bool:
        """As `DirectorPort.suspend`."""
        return bool(await self._call(self._handle.suspend.remote(grace)))

    def close(self) -> None:
        """End the actor's process."""
        ray.kill(self._handle)

    async def _call(self, call: Awaitable[T]) -> T:
        try:
            return await call
        except RayActorError as error:
            raise DirectorLost(type(error).__name__) from None


def director_launcher(
    settings: Settings, ledger_path: str, match_services: Sequence[str]
) -> Callable[[str], RayDirector]:
    """What starts the director of a tournament by its name."""
    # Where the ledger is: on the machine of the gateway.
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    actor = ray.remote(max_restarts=-1, num_cpus=0, scheduling_strategy=here)(DirectorActor)

    def launch(tournament: str) -> RayDirector:
        name, copy = f"director:{tournament}", 1
        while True:
            try:
                handle = actor.options(name=name).remote(tournament, settings, ledger_path, list(match_services))
            except ValueError:  # the one before is still being taken down and has the name
                copy += 1
                name = f"director:{tournament}:{copy}"
            else:
                return RayDirector(handle)

    return launch
