"""The gateway's HTTP side: the page for watchers, service discovery and metrics for Prometheus."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, TypeVar

import grpc
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from services.common.clock import Clock, SystemClock
from services.common.errors import PlatformError, Reason
from services.ledger.values import TournamentState
from services.web.page import CONTENT_SECURITY_POLICY, make_error_page, make_page
from services.web.watching import BotCard, StandingLine, TournamentCard, Watchable

FRESH_SECONDS = 1.0
"""What was read so long ago is shown again: the page costs the same for one watcher and for a thousand."""

_log = logging.getLogger(__name__)

_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_HTTP_STATUS = {
    grpc.StatusCode.INVALID_ARGUMENT: 400,
    grpc.StatusCode.UNAUTHENTICATED: 401,
    grpc.StatusCode.PERMISSION_DENIED: 403,
    grpc.StatusCode.RESOURCE_EXHAUSTED: 429,
    grpc.StatusCode.NOT_FOUND: 404,
    grpc.StatusCode.UNAVAILABLE: 503,
}

T = TypeVar("T")
_Endpoint = Callable[[Request], Awaitable[Response]]
Admit = Callable[[str, str], Awaitable[None]]
"""Takes the header `authorization` and the host that asks; raises PlatformError if it may not read."""


async def admit_all(authorization: str, host: str) -> None:
    """Everybody may read."""


def make_app(
    platform: Watchable, registry: CollectorRegistry, clock: Clock | None = None, admit: Admit = admit_all
) -> Starlette:
    """The application: `/` (`/?tournament=NAME` for the standings of another), `/sd`, `/metrics`, `/healthz`.

    `registry` holds the metrics of this process. `admit` is asked before what names bots, tournaments or addresses is
    shown: the page and `/sd`. Metrics are numbers without a name, and every process of the platform serves its own.
    """
    views = _Views(platform, registry, clock or SystemClock())
    return Starlette(
        routes=[
            Route("/", _guard(_admitting(views.page, admit))),
            Route("/sd", _guard(_admitting(views.discovery, admit))),
            Route("/metrics", _guard(views.metrics)),
            Route("/healthz", _guard(views.health)),
        ]
    )


class _Views:
    def __init__(self, platform: Watchable, registry: CollectorRegistry, clock: Clock) -> None:
        self._platform = platform
        self._registry = registry
        self._pages = _Fresh(clock)

    async def page(self, request: Request) -> Response:
        wanted = request.query_params.get("tournament")
        tournaments, bots = await self._pages.read("", self._read_lists)
        shown = _choose(tournaments, wanted)
        standings: Sequence[StandingLine] = ()
        if shown is not None:
            name = shown.name
            standings = await self._pages.read("of " + name, lambda: self._platform.standings(name))
        return HTMLResponse(make_page(tournaments, shown, standings, bots), headers=_HEADERS)

    async def _read_lists(self) -> tuple[Sequence[TournamentCard], Sequence[BotCard]]:
        return await self._platform.tournaments(), await self._platform.bots()

    async def discovery(self, request: Request) -> Response:
        """Prometheus' HTTP service discovery: one group for each process."""
        targets = await self._platform.targets()
        return JSONResponse(
            [{"targets": [one.address], "labels": {"role": one.role.value, "name": one.name}} for one in targets]
        )

    async def metrics(self, request: Request) -> Response:
        return Response(generate_latest(self._registry), media_type=CONTENT_TYPE_LATEST)

    async def health(self, request: Request) -> Response:
        return PlainTextResponse("ok\n")


def _choose(tournaments: Sequence[TournamentCard], wanted: str | None) -> TournamentCard | None:
    """The tournament whose standings are shown: the one asked for, else the newest that is running, else the newest."""
    if wanted is None:
        running = [card for card in tournaments if card.state is TournamentState.RUNNING]
        return next(iter([*running, *tournaments]), None)
    for card in tournaments:
        if card.name == wanted:
            return card
    raise PlatformError(Reason.TOURNAMENT_UNKNOWN, f"There is no tournament called {wanted}.", name=wanted)


class _Fresh:
    """Remembers what was read for a moment; whoever asks meanwhile waits for the same reading."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._readings: dict[str, tuple[float, asyncio.Future[Any]]] = {}

    async def read(self, key: str, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
        now = self._clock.monotonic()
        self._readings = {
            known: (begun, reading)
            for known, (begun, reading) in self._readings.items()
            if not reading.done() or now - begun < FRESH_SECONDS
        }
        if key not in self._readings:
            reading = asyncio.ensure_future(make())
            reading.add_done_callback(_look_at)
            self._readings[key] = (now, reading)
        # A watcher that goes away must not end the reading that others wait for.
        result: T = await asyncio.shield(self._readings[key][1])
        return result


def _look_at(reading: asyncio.Future[Any]) -> None:
    """Whoever waits gets the error; when nobody does any more, asyncio need not complain."""
    if not reading.cancelled():
        reading.exception()


def _admitting(endpoint: _Endpoint, admit: Admit) -> _Endpoint:
    async def admitted(request: Request) -> Response:
        await admit(request.headers.get("authorization", ""), request.client.host if request.client else "")
        return await endpoint(request)

    return admitted


def _guard(endpoint: _Endpoint) -> _Endpoint:
    """A refusal becomes a page that says what to do next; anything else an incident, and its text stays in the log."""

    async def guarded(request: Request) -> Response:
        try:
            return await endpoint(request)
        except PlatformError as error:
            refusal = error
        except Exception:
            incident = uuid.uuid4().hex[:12]
            _log.exception("incident %s", incident, extra={"path": request.url.path, "incident": incident})
            sentence = f"The platform failed to answer; its log tells more under the incident {incident}."
            refusal = PlatformError(Reason.INTERNAL, sentence, incident=incident)
        status = _HTTP_STATUS.get(refusal.code, 500)
        return HTMLResponse(make_error_page(refusal), status, headers=_HEADERS | _hints(refusal))

    return guarded


def _hints(refusal: PlatformError) -> dict[str, str]:
    """Headers that tell a browser to ask for a token, or a program when to come again."""
    if refusal.code is grpc.StatusCode.UNAUTHENTICATED:
        return {"WWW-Authenticate": 'Basic realm="Baohuang Arena: a token as the password", charset="UTF-8"'}
    milliseconds = refusal.metadata.get("retry_after_ms")
    return {"Retry-After": str(-(-int(milliseconds) // 1000))} if milliseconds else {}
