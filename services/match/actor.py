"""A match service as a Ray actor: the plain class, its metrics, and a name for each of its lives."""

from __future__ import annotations

import asyncio
import logging
import os
import uuid
from dataclasses import dataclass, replace

import ray

from services.common.clock import SystemClock
from services.common.errors import SetupError
from services.common.live_tls import live_tls
from services.common.logging import configure_logging
from services.common.matches import MatchOrder, MatchOutcome
from services.common.metrics import MatchMetrics, TlsMetrics, make_registry
from services.common.places import Place, place_of
from services.common.scraping import serve_metrics
from services.common.settings import Settings
from services.common.targets import Role, Target, format_address
from services.common.tickets import TokenEnd
from services.match.collector import relieve_collector
from services.match.leases import Leases
from services.match.service import MatchService, MatchServiceSettings

_log = logging.getLogger(__name__)

CPU_SHARE = 0.01
"""Of a core, reserved for a match service: next to nothing, since a machine of two cores may well run three. But not
nothing: Ray spreads over the nodes only what wants something of them."""


@dataclass(frozen=True, slots=True)
class MatchServiceDescription:
    """Where a match service is reached in this life of its actor; another `incarnation` knows nothing of before.

    `address` is for bots, `target` for Prometheus.
    """

    name: str
    incarnation: str
    address: str
    target: Target
    pid: int


class MatchServiceActor:
    """One match service. What directors call carries the lease that `withdraw` gave them (see `leases.py`).

    `home` is the machine of the gateway; Ray may start this one on another, after a loss too.
    """

    def __init__(self, settings: Settings, match_settings: MatchServiceSettings, home: str) -> None:
        self._settings = settings
        self._misplaced: SetupError | None = None
        try:
            self._place = place_of(settings, ray.util.get_node_ip_address(), home)
        except SetupError as error:  # told when it is asked for: what a constructor raises, Ray wraps up
            self._place, self._misplaced = Place(settings.host, settings.reachable_host), error
        self._incarnation = uuid.uuid4().hex
        metrics = MatchMetrics()
        self._tls_metrics = TlsMetrics()
        self._registry = make_registry(Role.MATCH_SERVICE, metrics, self._tls_metrics)
        self._name = match_settings.name
        self._leases = Leases(self._name, self._incarnation)
        self._service = MatchService(replace(match_settings, host=self._place.host), metrics, SystemClock())
        self._starting = asyncio.get_running_loop().create_task(self._start())

    async def _start(self) -> MatchServiceDescription:
        configure_logging(self._name, self._settings)
        if self._misplaced is not None:
            raise self._misplaced
        reachable = self._place.reachable_host
        tls = live_tls(self._settings.tls, reachable, self._tls_metrics, SystemClock())
        address = await self._service.start(tls=tls)
        relieve_collector()
        metrics = serve_metrics(self._registry, self._place.host, reachable_host=reachable, tls=tls)
        _log.info("listening", extra={"address": address, "incarnation": self._incarnation})
        return MatchServiceDescription(
            name=self._name,
            incarnation=self._incarnation,
            address=format_address(reachable, int(address.rpartition(":")[2])),
            target=Target(Role.MATCH_SERVICE, self._name, metrics.address),
            pid=os.getpid(),
        )

    # ---- for the gateway

    async def describe(self) -> MatchServiceDescription:
        """Where it is, once it listens. Raises SetupError when it cannot."""
        return await asyncio.shield(self._starting)

    async def live(self) -> None:
        """Never returns: the call fails when the actor dies, and so tells whoever waits for it."""
        await asyncio.Event().wait()

    async def dismiss(self, ends: list[TokenEnd]) -> None:
        """As `MatchService.dismiss`."""
        await self._service.dismiss(ends)

    async def drain(self, grace: float) -> None:
        """No new matches; what runs has `grace` seconds."""
        await self._service.drain(grace)

    async def stop(self) -> None:
        """Closes its streams."""
        await self._service.stop()

    # ---- for directors

    async def withdraw(self, tournament: str) -> str:
        """Forgets a tournament; gives the lease with which its new director speaks."""
        await self.describe()
        lease = self._leases.grant(tournament)
        await self._service.withdraw(tournament)
        return lease

    async def submit(self, lease: str, orders: list[MatchOrder]) -> None:
        """As `MatchService.submit`."""
        self._leases.verify(lease, {order.tournament for order in orders})
        await self._service.submit(orders)

    async def collect(
        self, lease: str, tournament: str, confirmed: int, wait: float, enough: int
    ) -> list[tuple[int, MatchOutcome]]:
        """As `MatchService.collect`."""
        self._leases.verify(lease, [tournament])
        return await self._service.collect(tournament, confirmed, wait, enough)

    async def missing(self, lease: str, bot_ids: list[str], wait: float) -> list[str]:
        """As `MatchService.missing`."""
        self._leases.verify_life(lease)
        return await self._service.missing(bot_ids, wait)


def start_match_services(settings: Settings, ticket_key: bytes) -> dict[str, ray.actor.ActorHandle]:
    """Starts the match services of a platform, spread over the nodes of the cluster; by name."""
    home = ray.util.get_node_ip_address()
    actor = ray.remote(max_restarts=-1, num_cpus=CPU_SHARE, scheduling_strategy="SPREAD")(MatchServiceActor)
    handles = {}
    for index in range(settings.match_services):
        match_settings = MatchServiceSettings(
            name=f"match-{index + 1}",
            host=settings.host,
            port=settings.match_port + index if settings.match_port else 0,
            ticket_key=ticket_key,
            heartbeat_s=settings.heartbeat.total_seconds(),
        )
        handles[match_settings.name] = actor.options(name=match_settings.name).remote(settings, match_settings, home)
    return handles
