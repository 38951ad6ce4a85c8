"""The composition root: one platform, started, watched and stopped, with Ray under it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import secrets
import socket
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TextIO

import ray
from ray.exceptions import ActorDiedError, RayActorError

from services.access.operator import OPERATOR_FILE, OperatorToken, provide_operator_token
from services.common.certificates import verify_server_tls
from services.common.clock import SystemClock
from services.common.errors import PlatformError, SetupError
from services.common.ledger_urls import format_place
from services.common.ports import LEFTOVERS, free_port
from services.common.ray_token import ADVICE
from services.common.reaper import Reaper, descendants_of
from services.common.settings import Settings, verify_exposure
from services.common.targets import Role
from services.common.tickets import KEY_BYTES
from services.common.version import SERVER_VERSION
from services.gateway.actor import GatewayDescription, start_gateway
from services.ledger.ledger import Ledger
from services.match.actor import start_match_services

_log = logging.getLogger(__name__)

GRACE = 20.0
"""Seconds that running matches have when the platform stops; what is not finished then is played again next time."""

CLUSTER_SECONDS = 5.0
"""How long a Ray cluster may take to answer at all."""

_RAY_TOKEN = secrets.token_hex(32)
"""Lets into the Ray of this process; one for all its life, since Ray remembers the first."""

RETRY = 0.5
"""Seconds until a gateway that was lost is asked again; Ray needs one or two to restart it."""

GONE = 10.0
"""Seconds after which a gateway that Ray calls dead is believed to be gone for good."""

LEDGER_PAUSE = 1.0
"""Seconds between two looks whether the ledger is still ours."""

CONTROL_PAUSE = 2.0
"""Seconds between two looks at Ray's control service."""

CONTROL_GONE = 30.0
"""Seconds for which the control service of a cluster may be away: somebody may restart it. Our own nobody restarts."""

RAY_TRIES = 3
"""Ray gives itself half a minute to come up, whatever it is told; a busy machine may need another one."""

_TOO_SLOW = "timed out during startup"
"""What Ray says then."""

OBJECT_STORE_BYTES = 128 * 1024 * 1024
"""Orders and outcomes are small and travel within calls; Ray would reserve a third of the memory."""


@dataclass(frozen=True, slots=True)
class Stopped:
    """How a platform stopped: `suspended` are the tournaments that go on when it is started again."""

    suspended: tuple[str, ...]


class RayGone(SetupError):
    """The platform cannot go on; whatever was finished is in the ledger."""

    @property
    def next_step(self) -> str:
        """What to do next, one sentence."""
        return "Start it again: nothing finished is lost, and tournaments go on by themselves."


class Platform:
    """Gateway, match services and directors, on a Ray of our own or in a cluster. One at a time in a process."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.operator_token: OperatorToken | None = None
        """What there is of the first operator's token, once it has started."""
        self._ledger: Ledger | None = None
        self._reaper: Reaper | None = None
        self._ray: _Ray | None = None
        self._ray_starts = False
        self._gateway: Any = None
        self._services: dict[str, Any] = {}

    async def start(self) -> GatewayDescription:
        """Start everything; where it listens.

        Raises PlatformError, in one sentence, and before anything heavy is started where that is possible: files of TLS
        that are not in order, a port that is taken, a ledger that is locked, of another version or not writable; later:
        no Ray cluster at the address.
        """
        settings = self._settings = _with_folder(_with_tls(self._settings))
        # A gateway has written here before: what a killed platform has left may still be ending.
        patience = LEFTOVERS if (settings.logs_dir / f"{Role.GATEWAY}.jsonl").exists() else 0.0
        self._ledger = Ledger.open(settings.ledger_place)  # first, as it knows a platform that runs from one that ends
        settings = self._settings = await _with_ports(settings, patience)
        self.operator_token = provide_operator_token(self._ledger, settings.data_dir)
        if settings.ray_address:
            _verify_cluster(settings.ray_address)
        self._ray_starts = not settings.ray_address
        try:
            self._ray = _start_ray(settings)
        except (KeyboardInterrupt, SystemExit):  # Ray makes the latter of SIGTERM, and leaves what it has started
            self.abandon()
            raise
        finally:
            self._ray_starts = False
        if not settings.ray_address:
            # Its processes have the folder of the session in their command lines until they work.
            self._reaper = Reaper(descendants_of(os.getpid()), self._ray.session)
        ticket_key = secrets.token_bytes(KEY_BYTES)
        self._services = start_match_services(settings, ticket_key)
        self._gateway = start_gateway(settings, settings.ledger_place, ticket_key, self._services)
        description: GatewayDescription = await self._gateway.describe.remote()
        _log.info("started", extra={"version": SERVER_VERSION, "listens": description.addresses})
        return description

    @property
    def ledger_place(self) -> str:
        """Where the ledger is, as it may be shown."""
        return format_place(self._settings.ledger_place)

    @property
    def operator_file(self) -> Path:
        """The file with the first operator's token."""
        return self._settings.data_dir / OPERATOR_FILE

    async def watch(self) -> None:
        """Never returns: Ray restarts the gateway as often as needed, and this sees to it.

        Raises RayGone when Ray cannot any more, because something of Ray itself has died, and PlatformError when the
        ledger was lost to another platform.
        """
        jobs = (self._watch_gateway(), self._watch_ray(), self._watch_ledger())
        watching = [asyncio.create_task(job) for job in jobs]
        try:
            done, _ = await asyncio.wait(watching, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in watching:
                task.cancel()

    async def _watch_ledger(self) -> None:
        """The lock of a database is lost with its connection, and somebody else may be quicker to take it."""
        assert self._ledger is not None
        while True:
            await asyncio.sleep(LEDGER_PAUSE)
            self._ledger.verify_held()

    async def _watch_ray(self) -> None:
        """Ray ends a process whose control service is gone, after a minute and without a word: notice it before."""
        assert self._ray is not None
        host, _, port = self._ray.control.rpartition(":")
        patience = CONTROL_GONE if self._settings.ray_address else 0.0
        loop = asyncio.get_running_loop()
        heard = loop.time()
        while True:
            await asyncio.sleep(CONTROL_PAUSE)
            try:
                async with asyncio.timeout(CLUSTER_SECONDS):
                    _, writer = await asyncio.open_connection(host.strip("[]"), int(port))
                writer.close()
                heard = loop.time()
            except (OSError, TimeoutError):
                if loop.time() - heard > patience + 2 * CONTROL_PAUSE:
                    raise RayGone("The control service of Ray (gcs_server) does not answer any more.") from None

    async def _watch_gateway(self) -> None:
        loop = asyncio.get_running_loop()
        dead_since: float | None = None
        while True:
            try:
                await self._gateway.live.remote()
            except RayActorError as error:
                _log.warning("gateway lost (%s); it is being restarted", type(error).__name__)
            await asyncio.sleep(RETRY)
            try:
                await self._gateway.describe.remote()
            except RayActorError as error:
                # While it is being restarted it is merely unavailable.
                dead = isinstance(error, ActorDiedError)
                dead_since = (dead_since or loop.time()) if dead else None
                if dead_since is not None and loop.time() - dead_since > GONE:
                    raise RayGone("The platform's Ray has died, and the gateway with it.") from None
            except PlatformError as error:
                # Ray does not know that this one cannot work, for example because its port is not free yet.
                _log.error("the gateway cannot begin again: %s", error.message)
                ray.kill(self._gateway, no_restart=False)
            else:
                dead_since = None

    async def stop(self, grace: float = GRACE) -> Stopped:
        """Finish what runs, for at most `grace` seconds, write it down, and end every process."""
        suspended: list[str] = []
        try:
            if self._gateway is not None:
                async with asyncio.timeout(grace + 15):
                    suspended = await self._gateway.stop.remote(grace)
        except (RayActorError, TimeoutError) as error:
            _log.warning("the gateway did not stop in order: %r", error)
        finally:
            self.close()
        _log.info("stopped", extra={"go_on": ", ".join(suspended)})
        return Stopped(tuple(suspended))

    def close(self) -> None:
        """End every process at once; may be called twice. Nothing that is in the ledger is lost by it."""
        ray.shutdown()
        self.abandon()
        if self._ledger is not None:
            self._ledger.close()

    def abandon(self) -> None:
        """Kill every process of ours, without a word; also while Ray is only just being started."""
        if self._ray_starts:
            self._reaper = Reaper(descendants_of(os.getpid()))
        if self._reaper is not None:
            self._reaper.close()
            self._reaper = None


@dataclass(frozen=True, slots=True)
class _Ray:
    """The folder of Ray's session, and the address of its control service (GCS)."""

    session: str
    control: str


def _start_ray(settings: Settings) -> _Ray:
    """Starts Ray, or joins it."""
    # Ray takes these from the environment alone. No reports to its makers.
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # noqa: TID251
    if not settings.ray_address:  # what a cluster that is there wants, `ray_token.py` has seen to
        # Ray listens on every interface, whatever it is told, and who gets in sees all hands and runs what he likes.
        # So it asks for a token, its default where nothing is set, and makes none of its own in the home directory.
        os.environ.pop("RAY_AUTH_MODE", None)  # noqa: TID251
        os.environ["RAY_AUTH_TOKEN"] = _RAY_TOKEN  # noqa: TID251
    # gRPC writes a line for every handshake that fails; strangers must not fill the disk with them.
    os.environ.setdefault("GRPC_VERBOSITY", "ERROR")  # noqa: TID251 - gRPC reads nothing else
    # Ray makes its workers nice; ours serve clocks and must not stand behind the bots on the same machine.
    os.environ["RAY_worker_niceness"] = "0"  # noqa: TID251, SIM112
    options: dict[str, Any] = {"address": settings.ray_address}
    if not settings.ray_address:
        options = {
            "address": "local",  # never a cluster that happens to be there
            "include_dashboard": False,
            "num_cpus": settings.match_services + 2,  # so many processes are started ahead of the actors
            "object_store_memory": OBJECT_STORE_BYTES,
        }
    try:
        context = _init_ray(
            **options,
            namespace=f"baohuang-{secrets.token_hex(4)}",
            log_to_driver=False,
            logging_level=logging.ERROR,
            configure_logging=False,
        )
    except Exception as error:  # Ray raises whatever it likes, a plain Exception where the machine is too slow for it
        first = str(error).strip().partition("\n")[0].rstrip(".")
        if settings.ray_address:
            what = f"The Ray cluster at {settings.ray_address} cannot be joined: {first}. {ADVICE}"
        else:
            what = f"Ray cannot be started on this machine: {first}."
        raise SetupError(what, ray_address=settings.ray_address) from error
    finally:
        if not settings.ray_address:
            # Ray has it by now, and what else this process starts, bots for example, must not.
            os.environ.pop("RAY_AUTH_TOKEN", None)  # noqa: TID251
    return _Ray(str(context.address_info["session_dir"]), str(context.address_info["gcs_address"]))


def _init_ray(**options: Any) -> Any:
    """As `ray.init`, and again where the machine was too slow for it; what it had started by then is ended before."""
    for number in range(1, RAY_TRIES):
        before = descendants_of(os.getpid())
        try:
            return ray.init(**options)
        except Exception as error:
            if _TOO_SLOW not in str(error):
                raise
            _log.warning("Ray has not come up in time (%d of %d tries)", number, RAY_TRIES)
            Reaper(descendants_of(os.getpid()) - before).close()
    return ray.init(**options)


def _verify_cluster(address: str) -> None:
    """Raises SetupError when nothing listens there: Ray itself would try for more than a minute."""
    host, _, port = address.rpartition(":")
    if not port.isascii() or not port.isdigit() or "/" in address:
        return  # another form of address, which Ray knows better
    try:
        socket.create_connection((host.strip("[]"), int(port)), CLUSTER_SECONDS).close()
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or "no answer"
        raise SetupError(
            f"No Ray cluster answers at {address} ({reason}): start one with `ray start --head`, or leave out "
            "--ray-address for a Ray of its own.",
            ray_address=address,
        ) from None


def _with_tls(settings: Settings) -> Settings:
    """The settings with paths that hold in every process, after a look at the files. Raises SetupError."""
    verify_exposure(settings)
    if settings.tls is None:
        return settings
    for remark in verify_server_tls(settings.tls, settings.reachable_host, SystemClock().now()):
        _log.warning("%s", remark)
    client_ca, client_crl = settings.tls_client_ca, settings.tls_client_crl
    return replace(
        settings,
        tls_server_cert=settings.tls.certificate.absolute(),
        tls_server_key=settings.tls.key.absolute(),
        tls_client_ca=None if client_ca is None else client_ca.absolute(),
        tls_client_crl=None if client_crl is None else client_crl.absolute(),
    )


def _with_folder(settings: Settings) -> Settings:
    """The settings with a data directory that is there, by a path that holds in every process."""
    _make_folder(settings.data_dir)
    return replace(settings, data_dir=settings.data_dir.absolute())


def _make_folder(folder: Path, mode: int = 0o777) -> None:
    """Raises SetupError."""
    try:
        folder.mkdir(mode=mode, parents=True, exist_ok=True)
    except OSError as error:
        sentence = f"The folder {folder} cannot be made ({error.strerror}): choose another data directory with --data."
        raise SetupError(sentence, key="data_dir") from None


async def _with_ports(settings: Settings, patience: float) -> Settings:
    """The settings with every port known and found free, at the latest after `patience` seconds."""
    match_ports = (
        range(settings.match_port, settings.match_port + settings.match_services) if settings.match_port else ()
    )
    for port in match_ports:
        await free_port(settings.host, port, "--match-port", patience)
    return replace(
        settings,
        port=await free_port(settings.host, settings.port, "--port", patience),
        http_port=await free_port(settings.host, settings.http_port, "--http-port", patience),
    )


@contextlib.contextmanager
def streams_to(path: Path) -> Iterator[TextIO]:
    """What anything in this process prints goes to a file meanwhile; gives a stream that still reaches the terminal.

    Ray and the libraries below it print when processes die, whatever the log settings are, and from C++ too; so the
    descriptors are turned away, not only Python's names for them. Raises SetupError when there can be no such file.
    """
    _make_folder(path.parent, 0o700)
    sys.stdout.flush()
    sys.stderr.flush()
    saved = [os.dup(1), os.dup(2)]
    terminal = os.fdopen(os.dup(1), "w", buffering=1)
    try:
        with path.open("ab") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        yield terminal
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, descriptor in enumerate(saved, 1):
            os.dup2(descriptor, number)
            os.close(descriptor)
        terminal.close()
