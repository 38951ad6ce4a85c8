"""The gateway as a Ray actor: it looks after the match services, and starts a director for each running tournament."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import ray
from ray.exceptions import RayActorError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from services.common.clock import SystemClock
from services.common.errors import PlatformError
from services.common.logging import configure_logging
from services.common.metrics import LedgerMetrics, LobbyMetrics
from services.common.settings import Settings
from services.common.targets import Target
from services.common.tickets import TokenEnd
from services.gateway.gateway import Addresses, Gateway, GatewayMetrics
from services.ledger.ledger import Access, Ledger
from services.lobby.attendance import MatchServiceInfo
from services.tournament.actor import director_launcher

_log = logging.getLogger(__name__)

REACH = 0.3
"""Seconds until a match service that was lost is asked again; Ray needs one or two to restart it."""

DRAIN = 2.0
"""Seconds for match services to say goodbye, after their matches have been withdrawn."""


@dataclass(frozen=True, slots=True)
class GatewayDescription:
    """Where a gateway listens, and in which process."""

    addresses: Addresses
    pid: int


class GatewayActor:
    """One gateway. After a restart by Ray it listens at the same addresses and goes on with what the ledger says."""

    def __init__(self, settings: Settings, ledger_path: str, ticket_key: bytes, match_services: Sequence[str]) -> None:
        self._settings = settings
        self._ledger_path = ledger_path
        self._ticket_key = ticket_key
        self._handles = {name: ray.get_actor(name) for name in match_services}
        self._known: dict[str, tuple[MatchServiceInfo, Target]] = {}
        self._gateway: Gateway | None = None
        self._watchers: list[asyncio.Task[None]] = []
        self._starting = asyncio.get_running_loop().create_task(self._start())

    async def _start(self) -> GatewayDescription:
        configure_logging("gateway", self._settings)
        metrics = GatewayMetrics(LobbyMetrics(), LedgerMetrics())
        ledger = Ledger.open(self._ledger_path, access=Access.MEMBER, metrics=metrics.ledger)
        launch = director_launcher(self._settings, self._ledger_path, list(self._handles))
        gateway = self._gateway = Gateway(
            self._settings,
            ledger,
            self._ticket_key,
            launch,
            metrics=metrics,
            clock=SystemClock(),
            dismiss=self._dismiss,
        )
        await asyncio.gather(*(self._meet(name) for name in self._handles))
        addresses = await gateway.start()
        self._watchers = [asyncio.create_task(self._look_after(name)) for name in self._handles]
        await gateway.desk.recover()
        return GatewayDescription(addresses, os.getpid())

    async def describe(self) -> GatewayDescription:
        """Where it listens, once it does. Raises PlatformError when it cannot."""
        return await asyncio.shield(self._starting)

    async def live(self) -> None:
        """Never returns: the call fails when the actor dies, and so tells whoever waits for it."""
        await asyncio.Event().wait()

    async def processes(self) -> dict[str, int]:
        """Process ids by name: of the gateway and of the match services."""
        pids = {"gateway": os.getpid()}
        for name, handle in self._handles.items():
            pids[name] = (await handle.describe.remote()).pid
        return pids

    async def stop(self, grace: float) -> list[str]:
        """Finish what runs, for at most `grace` seconds, and close; names of the tournaments that go on next time."""
        await self.describe()
        assert self._gateway is not None
        suspended = await self._gateway.suspend(grace)
        for watcher in self._watchers:
            watcher.cancel()
        await asyncio.gather(*(self._close(name) for name in self._handles))
        await self._gateway.stop()
        return suspended

    async def _close(self, name: str) -> None:
        handle = self._handles[name]
        try:
            async with asyncio.timeout(DRAIN * 2):
                await handle.drain.remote(DRAIN)
                await handle.stop.remote()
        except (RayActorError, TimeoutError) as error:
            _log.warning("match service %s did not stop in order: %r", name, error)

    def _dismiss(self, end: TokenEnd) -> None:
        for handle in self._handles.values():
            handle.dismiss.remote([end])

    async def _meet(self, name: str) -> None:
        """Ask where a match service is, and pass it on."""
        assert self._gateway is not None
        description = await self._handles[name].describe.remote()
        # It may have been restarted, and so may we, since it was last told whose tokens have ended.
        await self._handles[name].dismiss.remote(await self._gateway.lobby.ended_tokens())
        _log.info("match service %s is at %s", name, description.address)
        self._known[name] = (MatchServiceInfo(name, description.address), description.target)
        self._gateway.set_match_services(self._known[known] for known in sorted(self._known))

    async def _look_after(self, name: str) -> None:
        """Wait until a match service dies, then find out where it is now."""
        while True:
            try:
                await self._handles[name].live.remote()
            except RayActorError as error:
                _log.warning("match service %s lost: %s", name, type(error).__name__)
            while True:
                await asyncio.sleep(REACH)
                try:
                    await self._meet(name)
                except RayActorError:
                    continue
                except PlatformError as error:
                    # Ray does not know that this one cannot work, for example because its port is not free yet.
                    _log.error("match service %s cannot begin: %s", name, error.message)
                    ray.kill(self._handles[name], no_restart=False)
                    continue
                break


def start_gateway(settings: Settings, ledger_path: str, ticket_key: bytes, match_services: Iterable[str]) -> Any:
    """Starts the gateway of a platform; its actor handle.

    Match services go by name: Ray would keep handles in its object store, and a restart must not depend on that.
    """
    # Where the ledger is: on the machine of whoever starts it.
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    actor = ray.remote(max_restarts=-1, num_cpus=0, scheduling_strategy=here)(GatewayActor)
    return actor.options(name="gateway").remote(settings, ledger_path, ticket_key, list(match_services))
