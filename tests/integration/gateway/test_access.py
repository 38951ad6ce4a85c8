"""Who may call what at a real gateway: every call, every kind of token, on platforms that are open and that are not."""

from __future__ import annotations

import asyncio
import base64
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from baohuang.access.v1 import access_service_pb2 as access_pb
from baohuang.access.v1.access_service_pb2_grpc import AccessServiceStub
from baohuang.lobby.v1 import lobby_service_pb2 as lobby_pb
from baohuang.lobby.v1.lobby_service_pb2_grpc import LobbyServiceStub
from baohuang.tournament.v1 import tournament_service_pb2 as pb
from baohuang.tournament.v1.tournament_service_pb2_grpc import TournamentServiceStub
from services.access.gate import Gate
from services.access.interceptor import AccessInterceptor
from services.access.needs import NEEDS, Need
from services.access.operator import OPERATOR_FILE, provide_operator_token
from services.common.buckets import Rate
from services.common.clock import SystemClock
from services.common.errors import ErrorInterceptor
from services.common.metrics import LedgerMetrics, LobbyMetrics
from services.common.settings import Registration, Settings
from services.common.tickets import TokenEnd
from services.gateway.gateway import Addresses, Gateway, GatewayMetrics
from services.ledger.ledger import Ledger
from tests.integration.gateway.test_gateway import SPEC, WaitingDirector

OPEN = Settings(port=0, http_port=0)
CLOSED = Settings(port=0, http_port=0, registration=Registration.OPERATORS, read_requires_token=True)

STREAMS = {"Attend", "WatchTournament"}
REFUSED = {"REASON_UNAUTHENTICATED", "REASON_FORBIDDEN", "REASON_TOKEN_UNKNOWN"}

REQUESTS: dict[str, Message] = {
    "Attend": lobby_pb.AttendRequest(sdk="test", protocol_version=1, tables=1),
    "RegisterBot": lobby_pb.RegisterBotRequest(name="new"),
}
"""What is asked for; in other calls nothing, so that they are refused for that, if they come through at all."""


@dataclass
class House:
    """A gateway, and what callers of every kind have to show."""

    gateway: Gateway
    addresses: Addresses
    channel: grpc.aio.Channel
    metrics: LobbyMetrics
    tokens: dict[str, str] = field(default_factory=dict)
    ended: list[TokenEnd] = field(default_factory=list)

    @property
    def access(self) -> Any:
        return AccessServiceStub(self.channel)

    @property
    def lobby(self) -> Any:
        return LobbyServiceStub(self.channel)

    @property
    def tournaments(self) -> Any:
        return TournamentServiceStub(self.channel)

    def shown(self, who: str) -> tuple[tuple[str, str], ...]:
        """The metadata of a caller; of nobody: none."""
        return (("authorization", f"Bearer {self.tokens[who]}"),) if who != "nobody" else ()

    async def call(self, service: str, method: str, who: str) -> str:
        """The reason for which a call is refused, or nothing; whatever else it says is no matter."""
        stub: Any = {"Access": self.access, "Lobby": self.lobby, "Tournament": self.tournaments}[
            service.rpartition(".")[2].removesuffix("Service")
        ]
        module = {"Access": access_pb, "Lobby": lobby_pb, "Tournament": pb}[
            service.rpartition(".")[2].removesuffix("Service")
        ]
        described = module.DESCRIPTOR.services_by_name[service.rpartition(".")[2]].methods_by_name[method]
        request = REQUESTS.get(method) or GetMessageClass(described.input_type)()
        try:
            made = getattr(stub, method)(request, metadata=self.shown(who))
            await (made.read() if method in STREAMS else made)
            made.cancel()
        except grpc.aio.AioRpcError as error:
            return reason_of(error)
        return ""


def reason_of(error: grpc.aio.AioRpcError) -> str:
    return info_of(error).reason


async def end_of(call: Any) -> grpc.aio.AioRpcError:
    """The error with which a stream ends, whatever comes before."""
    while True:
        try:
            assert await call.read() is not grpc.aio.EOF, "it ended in order"
        except grpc.aio.AioRpcError as error:
            return error


def info_of(error: grpc.aio.AioRpcError) -> error_details_pb2.ErrorInfo:
    status = rpc_status.from_call(error)  # type: ignore[arg-type]  # the typing knows synchronous calls only
    info = error_details_pb2.ErrorInfo()
    assert status is not None
    assert status.details[0].Unpack(info)
    return info


@asynccontextmanager
async def house_of(data: Path, settings: Settings) -> AsyncIterator[House]:
    """With an operator, a reader, a bot, and tokens of each that hold no longer."""
    metrics = GatewayMetrics(LobbyMetrics(), LedgerMetrics())
    ended: list[TokenEnd] = []
    with Ledger.open(data / "ledger.db", metrics=metrics.ledger) as ledger:
        provide_operator_token(ledger, data)
        gateway = Gateway(
            settings,
            ledger,
            b"k" * 32,
            lambda name: WaitingDirector(),
            metrics=metrics,
            clock=SystemClock(),
            dismiss=ended.append,
        )
        addresses = await gateway.start()
        try:
            async with asyncio.timeout(110), grpc.aio.insecure_channel(addresses.grpc) as channel:
                house = House(gateway, addresses, channel, metrics.lobby, ended=ended)
                await fill(house, (data / OPERATOR_FILE).read_text().strip())
                yield house
        finally:
            await gateway.suspend(0)
            await gateway.stop()


async def fill(house: House, operator: str) -> None:
    house.tokens |= {"operator": operator, "stranger": "bh_nobody"}
    as_operator = house.shown("operator")

    async def create(name: str, scope: access_pb.Scope.ValueType) -> str:
        request = access_pb.CreateTokenRequest(name=name, scopes=[scope])
        return str((await house.access.CreateToken(request, metadata=as_operator)).token)

    async def register(name: str) -> str:
        request = lobby_pb.RegisterBotRequest(name=name)
        return str((await house.lobby.RegisterBot(request, metadata=as_operator)).token)

    house.tokens["reader"] = await create("reader", access_pb.SCOPE_READ)
    house.tokens["bot"] = await register("bot")
    for name, scope in (("revoked operator", access_pb.SCOPE_OPERATE), ("rotated operator", access_pb.SCOPE_OPERATE)):
        house.tokens[name] = await create(name.replace(" ", "-"), scope)
    for name in ("revoked bot", "rotated bot"):
        house.tokens[name] = await register(name.replace(" ", "-"))
    await house.access.RevokeToken(access_pb.RevokeTokenRequest(name="revoked-operator"), metadata=as_operator)
    await house.access.RotateToken(access_pb.RotateTokenRequest(name="rotated-operator"), metadata=as_operator)
    await house.lobby.RevokeBotToken(lobby_pb.RevokeBotTokenRequest(name="revoked-bot"), metadata=as_operator)
    await house.lobby.RotateBotToken(lobby_pb.RotateBotTokenRequest(name="rotated-bot"), metadata=as_operator)


MAY = {
    Need.TOKEN: {"operator", "reader", "bot"},
    Need.REGISTER: {"operator"},
    Need.PLAY: {"bot"},
    Need.READ: {"operator", "reader", "bot"},
    Need.OPERATE: {"operator"},
    Need.ENTER: {"operator", "bot"},
}
KNOWN = {"operator", "reader", "bot"}
CALLERS = (*sorted(KNOWN), "nobody", "stranger", "revoked operator", "rotated operator", "revoked bot", "rotated bot")


def expected(need: Need, who: str, settings: Settings) -> str:
    """The refusal that is due; nothing: the call is answered."""
    is_open = (need is Need.READ and not settings.read_requires_token) or (
        need is Need.REGISTER and settings.registration_is_open
    )
    if who in KNOWN:
        return "" if is_open or who in MAY[need] else "REASON_FORBIDDEN"
    if who == "nobody":
        return "" if is_open else "REASON_UNAUTHENTICATED"
    return "REASON_TOKEN_UNKNOWN"


@pytest.mark.parametrize("settings", [OPEN, CLOSED], ids=["open", "closed"])
async def test_every_call_answers_whom_it_should_and_nobody_else(tmp_path: Path, settings: Settings) -> None:
    async with house_of(tmp_path, settings) as house:
        wrong = []
        for who in CALLERS:
            for service, methods in NEEDS.items():
                if not service.startswith("baohuang."):
                    continue
                # The bot ends its own token by these: last, and checked below.
                for method in sorted(methods, key=lambda name: name in ("RotateToken", "RevokeToken")):
                    if who == "bot" and methods[method] is Need.PLAY and method != "Attend":
                        continue
                    house.gateway.gate._failures.forget("127.0.0.1")  # how often one may err is another test
                    got = await house.call(service, method, who)
                    refusal = got if got in REFUSED else ""
                    if refusal != expected(methods[method], who, settings):
                        wrong.append((who, method, got, expected(methods[method], who, settings)))
        assert wrong == []
        assert await house.call("baohuang.lobby.v1.LobbyService", "RotateToken", "bot") == ""
        assert await house.call("baohuang.lobby.v1.LobbyService", "RevokeToken", "bot") == "REASON_TOKEN_UNKNOWN"


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with house_of(tmp_path, OPEN) as made:
        yield made


@pytest.fixture
async def closed(tmp_path: Path) -> AsyncIterator[House]:
    async with house_of(tmp_path, CLOSED) as made:
        yield made


async def test_a_bot_cannot_pause_a_tournament(house: House) -> None:
    created = pb.CreateTournamentRequest(spec_yaml=SPEC)
    await house.tournaments.CreateTournament(created, metadata=house.shown("operator"))
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await house.tournaments.PauseTournament(pb.PauseTournamentRequest(name="cup"), metadata=house.shown("bot"))
    assert caught.value.code() is grpc.StatusCode.PERMISSION_DENIED
    info = info_of(caught.value)
    assert (info.reason, dict(info.metadata)) == ("REASON_FORBIDDEN", {"needs": "operate", "has": "play"})
    assert caught.value.details() == "PauseTournament needs the scope operate; the token of 'bot' has play."


@pytest.mark.parametrize("verb", ["RevokeToken", "RotateToken"])
async def test_a_watcher_whose_token_ends_is_told_at_once(house: House, verb: str) -> None:
    created = pb.CreateTournamentRequest(spec_yaml=SPEC)
    await house.tournaments.CreateTournament(created, metadata=house.shown("operator"))
    watch = {
        who: house.tournaments.WatchTournament(pb.WatchTournamentRequest(name="cup"), metadata=house.shown(who))
        for who in ("reader", "operator", "nobody")
    }
    for call in watch.values():
        await call.read()
    request = {"RevokeToken": access_pb.RevokeTokenRequest, "RotateToken": access_pb.RotateTokenRequest}[verb]
    await getattr(house.access, verb)(request(name="reader"), metadata=house.shown("operator"))
    ended = await end_of(watch["reader"])
    assert (reason_of(ended), ended.code()) == ("REASON_TOKEN_UNKNOWN", grpc.StatusCode.UNAUTHENTICATED)
    await house.tournaments.PauseTournament(pb.PauseTournamentRequest(name="cup"), metadata=house.shown("operator"))
    assert not watch["operator"].done()
    assert not watch["nobody"].done()


async def test_an_operator_throws_a_bot_out_wherever_it_is(house: House) -> None:
    call = house.lobby.Attend(REQUESTS["Attend"], metadata=house.shown("bot"))
    await call.read()
    before = len(house.ended)
    await house.lobby.RevokeBotToken(lobby_pb.RevokeBotTokenRequest(name="bot"), metadata=house.shown("operator"))
    assert reason_of(await end_of(call)) == "REASON_TOKEN_UNKNOWN"
    assert len(house.ended) == before + 1  # the match services are told
    assert await house.call("baohuang.lobby.v1.LobbyService", "Attend", "bot") == "REASON_TOKEN_UNKNOWN"


async def test_a_caller_learns_who_it_is(house: House) -> None:
    for who, name, is_bot, scopes in (
        ("operator", "operator", False, [access_pb.SCOPE_OPERATE]),
        ("reader", "reader", False, [access_pb.SCOPE_READ]),
        ("bot", "bot", True, [access_pb.SCOPE_PLAY]),
    ):
        answer = await house.access.GetCaller(access_pb.GetCallerRequest(), metadata=house.shown(who))
        assert (answer.name, answer.is_bot, list(answer.scopes)) == (name, is_bot, scopes)


async def test_tokens_are_listed_without_anything_that_lets_in(house: House) -> None:
    listed = await house.access.ListTokens(access_pb.ListTokensRequest(), metadata=house.shown("operator"))
    assert [token.name for token in listed.tokens] == ["operator", "reader", "revoked-operator", "rotated-operator"]
    revoked, rotated = listed.tokens[2:]
    assert revoked.HasField("revoked_at")
    assert rotated.HasField("rotated_at")
    assert not rotated.HasField("revoked_at")
    data = listed.SerializeToString()
    assert not any(token.encode() in data for token in house.tokens.values())
    first = await house.access.ListTokens(access_pb.ListTokensRequest(page_size=1), metadata=house.shown("operator"))
    assert (len(first.tokens), first.next_page_token) == (1, "operator")


@pytest.mark.parametrize(
    ("request_", "reason", "sentence"),
    [
        (access_pb.CreateTokenRequest(name="x"), "MALFORMED", "scopes is empty: a token has one or more of operate"),
        (access_pb.CreateTokenRequest(name="x", scopes=[access_pb.SCOPE_PLAY]), "MALFORMED", "register a bot for it"),
        (
            access_pb.CreateTokenRequest(name="x", scopes=[access_pb.SCOPE_UNSPECIFIED]),
            "MALFORMED",
            "scopes has 0, which is no scope",
        ),
        (
            access_pb.CreateTokenRequest(name="x", scopes=[access_pb.Scope.ValueType(99)]),
            "MALFORMED",
            "there are operate, read",
        ),
        (access_pb.CreateTokenRequest(name="a b", scopes=[access_pb.SCOPE_OPERATE]), "NAME_INVALID", "1 to 40 letters"),
        (
            access_pb.CreateTokenRequest(name="reader", scopes=[access_pb.SCOPE_OPERATE]),
            "NAME_TAKEN",
            "'reader' already",
        ),
        (access_pb.RotateTokenRequest(name="nobody"), "ACCESS_TOKEN_UNKNOWN", "no access token named 'nobody'"),
        (access_pb.RevokeTokenRequest(name="bot"), "ACCESS_TOKEN_UNKNOWN", "no access token named 'bot'"),
        (lobby_pb.RevokeBotTokenRequest(name="reader"), "BOT_UNKNOWN", "no bot named 'reader'"),
        (lobby_pb.RotateBotTokenRequest(name="nobody"), "BOT_UNKNOWN", "no bot named 'nobody'"),
    ],
    ids=lambda value: "" if isinstance(value, Message) else str(value),
)
async def test_what_cannot_be_done_with_tokens_is_said(
    house: House, request_: Message, reason: str, sentence: str
) -> None:
    method = type(request_).__name__.removesuffix("Request")
    stub = house.lobby if "Bot" in method else house.access
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await getattr(stub, method)(request_, metadata=house.shown("operator"))
    assert reason_of(caught.value) == f"REASON_{reason}"
    assert sentence in (caught.value.details() or "")


GUESSES = Rate(per_second=0.001, burst=5)
"""So few in the long run that no machine is slow enough to be let in again meanwhile."""


@pytest.fixture
def few_guesses(monkeypatch: pytest.MonkeyPatch) -> None:
    """To be asked for before the platform."""
    monkeypatch.setattr("services.access.gate.FAILURES", GUESSES)


async def test_a_guesser_is_told_to_wait_and_bots_at_its_address_are_not(few_guesses: None, house: House) -> None:
    await house.call("baohuang.access.v1.AccessService", "GetCaller", "bot")
    failed = house.metrics.failed_authentications
    reasons = [
        await house.call("baohuang.access.v1.AccessService", "GetCaller", "stranger")
        for _ in range(int(GUESSES.burst) + 5)
    ]
    assert reasons[-1] == "REASON_RATE_LIMITED"
    assert house.metrics.failed_authentications - failed == reasons.count("REASON_TOKEN_UNKNOWN")
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await house.access.GetCaller(access_pb.GetCallerRequest(), metadata=house.shown("stranger"))
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert 0 < int(info_of(caught.value).metadata["retry_after_ms"]) <= 2000 / GUESSES.per_second
    assert await house.call("baohuang.access.v1.AccessService", "GetCaller", "bot") == ""
    assert await house.call("baohuang.tournament.v1.TournamentService", "ListTournaments", "nobody") == ""


# ---------------------------------------------------------------------------------------------------------------- pages


@dataclass(frozen=True)
class Reply:
    status: int
    headers: dict[str, str]
    text: str


async def fetch(url: str, authorization: str = "") -> Reply:
    def get() -> Reply:
        request = urllib.request.Request(url, headers={"Authorization": authorization} if authorization else {})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return Reply(answer.status, dict(answer.headers), answer.read().decode())
        except urllib.error.HTTPError as error:
            return Reply(error.code, dict(error.headers), error.read().decode())

    return await asyncio.to_thread(get)


def basic(token: str) -> str:
    return "Basic " + base64.b64encode(f"anybody:{token}".encode()).decode()


async def test_pages_of_a_closed_platform_ask_for_a_token(closed: House) -> None:
    http = f"http://{closed.addresses.http}"
    for path in ("/", "/sd", "/?tournament=x"):
        reply = await fetch(f"{http}{path}")
        assert reply.status == 401
        assert reply.headers["www-authenticate"].startswith("Basic realm=")
        assert "This page needs a token with the scope read" in reply.text
        wrong = await fetch(f"{http}{path}", "Bearer bh_marked")
        assert wrong.status == 401
        assert "bh_marked" not in wrong.text
    for who in ("reader", "operator", "bot"):
        for authorization in (f"Bearer {closed.tokens[who]}", basic(closed.tokens[who])):
            assert (await fetch(f"{http}/sd", authorization)).status == 200
            assert (await fetch(f"{http}/", authorization)).status == 200
    for path in ("/metrics", "/healthz"):
        assert (await fetch(f"{http}{path}")).status == 200


async def test_a_revoked_token_opens_no_page(closed: House) -> None:
    http = f"http://{closed.addresses.http}"
    assert (await fetch(f"{http}/", f"Bearer {closed.tokens['reader']}")).status == 200
    await closed.access.RevokeToken(access_pb.RevokeTokenRequest(name="reader"), metadata=closed.shown("operator"))
    assert (await fetch(f"{http}/", f"Bearer {closed.tokens['reader']}")).status == 401


async def test_who_guesses_over_http_has_to_wait_too(few_guesses: None, closed: House) -> None:
    http = f"http://{closed.addresses.http}"
    statuses = [(await fetch(f"{http}/", "Bearer bh_no")).status for _ in range(int(GUESSES.burst) + 5)]
    assert statuses[0] == 401
    reply = await fetch(f"{http}/", "Bearer bh_no")
    assert (reply.status, statuses[-1]) == (429, 429)
    assert int(reply.headers["retry-after"]) >= 1


async def test_pages_of_an_open_platform_ask_for_nothing(house: House) -> None:
    http = f"http://{house.addresses.http}"
    for path in ("/", "/sd", "/metrics", "/healthz"):
        assert (await fetch(f"{http}{path}")).status == 200
        # whatever a browser has kept of another platform at this address
        assert (await fetch(f"{http}{path}", "Bearer bh_nobody")).status == 200


# ------------------------------------------------------------------------------------- what nobody has decided upon yet


async def _answer(request: bytes, context: object) -> bytes:
    return b"answered"


async def _answers(request: bytes, context: object) -> AsyncIterator[bytes]:
    yield b"answered"


async def _write(request: bytes, context: object) -> None:
    """Answers in another way than by being a generator."""


@asynccontextmanager
async def _serving(gate: Gate, handlers: dict[str, Any]) -> AsyncIterator[grpc.aio.Channel]:
    server = grpc.aio.server(interceptors=[ErrorInterceptor(), AccessInterceptor(gate)])
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("new.Service", handlers),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield channel
    finally:
        await server.stop(0)


async def test_a_call_that_is_not_in_the_table_is_for_nobody(house: House) -> None:
    handlers: dict[str, Any] = {
        "New": grpc.unary_unary_rpc_method_handler(_answer),
        "NewStream": grpc.unary_stream_rpc_method_handler(_answers),
    }
    async with _serving(house.gateway.gate, handlers) as channel:
        for who in ("nobody", "operator"):
            call: Any = channel.unary_unary("/new.Service/New")
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await call(b"", metadata=house.shown(who))
            assert reason_of(caught.value) == "REASON_FORBIDDEN"
            stream: Any = channel.unary_stream("/new.Service/NewStream")
            assert reason_of(await end_of(stream(b"", metadata=house.shown(who)))) == "REASON_FORBIDDEN"


async def test_a_stream_that_could_not_be_ended_with_its_token_is_not_served(house: House) -> None:
    handlers: dict[str, Any] = {
        "Both": grpc.stream_stream_rpc_method_handler(_answers),
        "Written": grpc.unary_stream_rpc_method_handler(_write),
    }
    async with _serving(house.gateway.gate, handlers) as channel:
        both: Any = channel.stream_stream("/new.Service/Both")
        written: Any = channel.unary_stream("/new.Service/Written")
        for call in (both(), written(b"")):
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await call.read()
            assert caught.value.code() is not grpc.StatusCode.OK
