"""Targets that read what comes over the wire and from the environment: at the platform, and at a bot's client."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache
from random import Random
from typing import TypeVar

import grpc
import grpc.aio
from google.protobuf import any_pb2
from google.protobuf.message import DecodeError, Message
from google.rpc import error_details_pb2, status_pb2

from baohuang.cards.v1 import answer_pb2, options_pb2
from baohuang.lobby.v1 import lobby_service_pb2 as lobby_pb
from baohuang.match.v1 import match_service_pb2 as pb
from bots_sdk.client import BotPool, ClientStatistics, InlineThinker
from bots_sdk.client.channel import error_of
from bots_sdk.client.lobby import _listed, _ticket
from bots_sdk.client.session import PlaySession
from bots_sdk.convert import answer_from_proto, answer_to_proto, options_from_proto
from bots_sdk.errors import ERROR_DOMAIN, ArenaError, Malformed
from bots_sdk.house import make_house_bot
from bots_sdk.rules.profiles import PROFILES
from bots_sdk.testing.hosted_match import HostedMatch
from services.common.errors import PlatformError, Reason, SetupError, status_of
from services.common.settings import load_settings
from services.common.tickets import Ticket, issue_ticket, verify_ticket
from services.lobby.bots import verify_name, verify_text

from .inputs import fill, random_message, spoilt
from .registry import target, text_of

NOW = datetime(2026, 1, 1, tzinfo=UTC)
KEY = bytes(range(32))
M = TypeVar("M", bound=Message)


def _parsed(message: M, data: bytes) -> M:
    """What can be read of the bytes."""
    with contextlib.suppress(DecodeError):
        message.ParseFromString(data)
    return message


def refusal_of(verify: Callable[[], object]) -> PlatformError | None:
    """How the platform refuses something, if it does."""
    try:
        verify()
    except PlatformError as refused:
        return refused
    return None


# --------------------------------------------------------------------------------------------------- at the platform


@target(b"", more=lambda: [bytes(range(100))])
def answers_on_the_wire(data: bytes) -> None:
    rng = Random(data)
    for said in (_parsed(answer_pb2.Answer(), data), random_message(answer_pb2.Answer, rng)):
        with contextlib.suppress(Malformed):
            answer_from_proto(said)
    for options in (_parsed(options_pb2.Options(), data), random_message(options_pb2.Options, rng)):
        with contextlib.suppress(Malformed):
            options_from_proto(options)


def _ticket_of(name: str) -> Ticket:
    return Ticket("bot-1", name, "m1", 3, NOW + timedelta(hours=1))


def _tickets() -> list[bytes]:
    return [issue_ticket(KEY, _ticket_of(name)).encode() for name in ("ada", "保皇")]


@target(more=_tickets, is_text=True)
def tickets(data: bytes) -> None:
    refused = refusal_of(lambda: verify_ticket(KEY, text_of(data), "m1", NOW))
    assert refused is None or refused.reason in (Reason.UNAUTHENTICATED, Reason.TICKET_INVALID)
    if refused is None:
        assert verify_ticket(KEY, text_of(data), "m1", NOW) in map(_ticket_of, ("ada", "保皇")), "nobody else has one"


@target("ada", "Bot-1.2_x", "house:greedy", "greedy", "保皇", is_text=True)
def names(data: bytes) -> None:
    name = text_of(data)
    for verify in (lambda: verify_name(name, {"greedy"}), lambda: verify_text("owner", name, 100)):
        if (refused := refusal_of(verify)) is not None:
            assert refused.reason in (Reason.NAME_INVALID, Reason.MALFORMED)
            assert len(status_of(refused).SerializeToString()) < 8_000, "it has to fit into the headers of an answer"


@target(
    "port=7400\nhost=::1\nheartbeat=500ms\nmatch_services=3\nmatch_port=9000\nlog_level=debug",
    "data_dir=/nowhere\nadvertised_host=example.org\nray_address=auto\nhttp_port=0",
    is_text=True,
)
def settings(data: bytes) -> None:
    """Variables of the environment, one a line; none holds a NUL."""
    pairs = (line.partition("=") for line in text_of(data).replace("\0", "").split("\n"))
    with contextlib.suppress(SetupError):
        load_settings({}, {f"BAOHUANG_{name.upper()}": value for name, _, value in pairs})


# --------------------------------------------------------------------------------------------------- at a bot's client


@cache
def _server_messages() -> tuple[bytes, ...]:
    """All that a client is sent in one match, as single messages."""
    match = HostedMatch(options=PROFILES["bean-qingdao"], deals=2)
    bot = make_house_bot("greedy")
    told = [pb.ServerRecord(welcome=pb.Welcome(protocol_version=1)), pb.ServerRecord(seated=match.seated())]
    told += match.start()
    sent = [pb.PlayResponse(records=told)]
    while not match.match.over:
        sent.append(pb.PlayResponse(records=[pb.ServerRecord(resumed=match.resumed())]))
        answer = bot.answer(match.match.deal.view(match.seat))
        decision = pb.Decision(answer=answer_to_proto(answer))
        sent.append(pb.PlayResponse(records=match.decide(decision)))
    return tuple(message.SerializeToString() for message in sent)


@target(more=_server_messages)
def server_messages(data: bytes) -> None:
    """A match as a hostile server tells it: `data` comes somewhere, and what comes before and behind is spoilt too."""
    rng = Random(data)
    story = _server_messages()
    session = PlaySession(
        InlineThinker(BotPool(lambda seed: make_house_bot("greedy", seed)), trusted=False),
        ClientStatistics(),
        lambda line: None,
    )
    session.hello("ticket", 4)
    length = rng.randrange(1, 12)
    start = rng.choice((0, 0, 0, rng.randrange(len(story))))
    at = rng.randrange(length)
    for step in range(length):
        message = data if step == at else _told(story[(start + step) % len(story)], rng, story)
        try:
            session.receive(message)
        except ArenaError:
            session.hello("ticket", 4)
        session._thinker.think(lambda: False)
        while (said := session.take()) is not None:
            said.SerializeToString()


def _told(message: bytes, rng: Random, story: tuple[bytes, ...]) -> bytes:
    luck = rng.random()
    if luck < 0.6:
        return message
    if luck < 0.75:
        return spoilt(message, rng, story)
    told = pb.PlayResponse.FromString(message)
    if luck < 0.9 and told.records:
        record = rng.choice(told.records)
        kind = record.WhichOneof("record")
        if kind is not None:
            fill(getattr(record, kind), rng, 2)
        return told.SerializeToString()
    return random_message(pb.PlayResponse, rng).SerializeToString()


@target(b"", more=lambda: [bytes(range(50))])
def lobby_answers(data: bytes) -> None:
    """What a hostile lobby answers."""
    rng = Random(data)
    for service in (_parsed(lobby_pb.MatchServiceTicket(), data), random_message(lobby_pb.MatchServiceTicket, rng)):
        with contextlib.suppress(ArenaError):
            _ticket(service)
    for bot in (_parsed(lobby_pb.Bot(), data), random_message(lobby_pb.Bot, rng)):
        with contextlib.suppress(ArenaError):
            _listed(bot)


def _statuses() -> list[bytes]:
    info = error_details_pb2.ErrorInfo(reason="REASON_SILENT", domain=ERROR_DOMAIN, metadata={"retry_after_ms": "5"})
    detail = any_pb2.Any()
    detail.Pack(info)
    return [status_pb2.Status(code=14, message="gone", details=[detail]).SerializeToString()]


@target(more=_statuses)
def refusals(data: bytes) -> None:
    """How a hostile server may end a call."""
    rng = Random(data)
    metadata = grpc.aio.Metadata(("grpc-status-details-bin", data), ("x", "y"))
    error = grpc.aio.AioRpcError(
        rng.choice(list(grpc.StatusCode)), grpc.aio.Metadata(), metadata, rng.choice((None, "", text_of(data)))
    )
    assert isinstance(error_of(error, "127.0.0.1:1"), ArenaError)
