"""Who may call what at a real gateway: every call, every kind of token, on platforms that are open and that are not."""

from __future__ import annotations

from pathlib import Path

import grpc
import grpc.aio
import pytest
from google.protobuf.message import Message

from baohuang.access.v1 import access_service_pb2 as access_pb
from baohuang.lobby.v1 import lobby_service_pb2 as lobby_pb
from baohuang.tournament.v1 import tournament_service_pb2 as pb
from services.access.needs import NEEDS, Need
from services.common.settings import Settings
from tests.integration.gateway.house import (
    CALLERS,
    CLOSED,
    GUESSES,
    KNOWN,
    OPEN,
    REFUSED,
    REQUESTS,
    House,
    end_of,
    house_of,
    info_of,
    reason_of,
)
from tests.integration.gateway.test_gateway import SPEC

MAY = {
    Need.TOKEN: {"operator", "reader", "bot"},
    Need.REGISTER: {"operator"},
    Need.PLAY: {"bot"},
    Need.READ: {"operator", "reader", "bot"},
    Need.OPERATE: {"operator"},
    Need.ENTER: {"operator", "bot"},
}


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
