"""The gateway as one plain object: lobby, desk, gRPC and HTTP put together. No Ray."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from baohuang.access.v1 import access_service_pb2_grpc
from baohuang.lobby.v1 import lobby_service_pb2_grpc
from baohuang.tournament.v1 import tournament_service_pb2_grpc
from services.access.administration import AccessTokens
from services.access.callers import bot_key, parse_http_credentials
from services.access.gate import Gate
from services.access.interceptor import AccessInterceptor
from services.access.needs import AccessRules, Need
from services.access.servicer import AccessServicer
from services.common.clock import Clock
from services.common.live_tls import live_tls
from services.common.metrics import LedgerMetrics, LobbyMetrics, TlsMetrics, make_registry
from services.common.peers import network_of
from services.common.settings import Settings
from services.common.targets import Role, Target, format_address
from services.common.tickets import TokenEnd
from services.gateway.grpc_server import GrpcServer
from services.gateway.watchable import PlatformView
from services.ledger.ledger import Ledger
from services.lobby.attendance import LobbyTerms, MatchServiceInfo
from services.lobby.lobby import Lobby
from services.lobby.presence import Presence
from services.lobby.servicer import LobbyServicer
from services.tournament.servicer import Desk, DirectorPort, TournamentServicer
from services.tournament.spec.values import HOUSE_BOTS
from services.web.app import make_app
from services.web.server import WebServer, serve_web

SEED_BYTES = 16

ACCESS_SERVICE = "baohuang.access.v1.AccessService"
LOBBY_SERVICE = "baohuang.lobby.v1.LobbyService"
TOURNAMENT_SERVICE = "baohuang.tournament.v1.TournamentService"


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where a gateway listens, as others reach it."""

    grpc: str
    http: str


@dataclass(frozen=True, slots=True)
class GatewayMetrics:
    """What a gateway counts."""

    lobby: LobbyMetrics
    ledger: LedgerMetrics
    tls: TlsMetrics = field(default_factory=TlsMetrics)


class Gateway:
    """One for a platform.

    `launch` starts the director of a tournament by its name; `dismiss` tells all match services that a bot's token has
    ended. Raises SetupError when the files of TLS cannot be used.
    """

    def __init__(  # noqa: PLR0913 - its whole surroundings, given once
        self,
        settings: Settings,
        ledger: Ledger,
        ticket_key: bytes,
        launch: Callable[[str], DirectorPort],
        *,
        metrics: GatewayMetrics,
        clock: Clock,
        dismiss: Callable[[TokenEnd], None] = lambda end: None,
    ) -> None:
        self._settings = settings
        self._match_services: list[Target] = []
        self._own: list[Target] = []
        self._tls = live_tls(settings.tls, settings.reachable_host, metrics.tls, clock)
        self._dismiss = dismiss
        rules = AccessRules(settings.read_requires_token, settings.registration_is_open)
        self.gate = Gate(ledger, rules, clock, metrics.lobby)
        terms = LobbyTerms(reserved_names=frozenset(HOUSE_BOTS))
        self.lobby = Lobby(
            ledger, ticket_key, clock=clock, terms=terms, metrics=metrics.lobby, token_ended=self._send_away
        )
        self.desk = Desk(ledger, launch, new_seed=lambda: secrets.token_hex(SEED_BYTES), clock=clock)
        lobby, tournaments = LobbyServicer(self.lobby), TournamentServicer(self.desk)
        access = AccessServicer(AccessTokens(ledger, self.gate))
        self._grpc = GrpcServer(
            {
                ACCESS_SERVICE: lambda server: access_service_pb2_grpc.add_AccessServiceServicer_to_server(
                    access, server
                ),
                LOBBY_SERVICE: lambda server: lobby_service_pb2_grpc.add_LobbyServiceServicer_to_server(lobby, server),
                TOURNAMENT_SERVICE: lambda server: tournament_service_pb2_grpc.add_TournamentServiceServicer_to_server(
                    tournaments, server
                ),
            },
            keepalive=settings.heartbeat.total_seconds(),
            refused=metrics.lobby.refused,
            access=AccessInterceptor(self.gate),
            tls=self._tls,
        )
        view = PlatformView(self.desk, ledger, self._is_attending, lambda: self.targets)
        registry = make_registry(Role.GATEWAY, metrics.lobby, metrics.ledger, metrics.tls)
        self._app = make_app(view, registry, clock, self._admit_reader)
        self._web: WebServer | None = None

    async def start(self) -> Addresses:
        """Begin to listen. Raises SetupError when an address is taken."""
        settings = self._settings
        self._web = await serve_web(self._app, settings.host, settings.http_port, tls=self._tls)
        port = await self._grpc.start(settings.host, settings.port)
        http = format_address(settings.reachable_host, int(self._web.address.rpartition(":")[2]))
        self._own = [Target(Role.GATEWAY, "gateway", http)]
        return Addresses(format_address(settings.reachable_host, port), http)

    def set_match_services(self, services: Iterable[tuple[MatchServiceInfo, Target]]) -> None:
        """These are the match services now; bots and Prometheus are told."""
        services = list(services)
        self._match_services = [target for _, target in services]
        self.lobby.set_match_services(info for info, _ in services)

    @property
    def targets(self) -> list[Target]:
        """Every process with metrics."""
        return [*self._own, *self._match_services, *self.desk.targets]

    async def suspend(self, grace: float) -> list[str]:
        """The end is near: finish what runs; names of the tournaments that go on next time."""
        await self._grpc.drain()
        return await self.desk.suspend(grace)

    async def stop(self) -> None:
        """Send everybody away and close."""
        self.lobby.drain()
        await self._grpc.stop()
        if self._web is not None:
            await self._web.close()

    def _send_away(self, end: TokenEnd) -> None:
        """A bot's token has ended: its calls here end, and so do its streams at the match services."""
        self.gate.end(bot_key(end.bot_id))
        self._dismiss(end)

    async def _admit_reader(self, authorization: str, host: str) -> None:
        """Whether a page may be shown; raises PlatformError if not."""
        rules = self.gate.rules
        if not rules.is_open(Need.READ):
            caller = await self.gate.identify(parse_http_credentials(authorization), network_of(host))
            rules.verify(caller, Need.READ, "This page")

    def _is_attending(self, bot_id: str) -> bool:
        sighting = self.lobby.sighting(bot_id)
        return sighting is not None and sighting.presence is Presence.HERE
