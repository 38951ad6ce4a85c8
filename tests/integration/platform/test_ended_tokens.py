"""A bot is thrown out of a whole platform, every part of which is killed afterwards; and no secret is left anywhere."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from baohuang.lobby.v1 import lobby_service_pb2 as lobby_pb
from baohuang.match.v1 import match_service_pb2 as match_pb
from services.common.reaper import descendants_of

from .serving import Serve, bot_processes, eventually, is_alive, register_bots, run_baohuang

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(400)]

ATTEND = "/baohuang.lobby.v1.LobbyService/Attend"
PLAY = "/baohuang.match.v1.MatchService/Play"


def reason_of(error: Any) -> str:
    """Why a call was refused; the name of the gRPC code where no reason was given."""
    status = rpc_status.from_call(error)
    info = error_details_pb2.ErrorInfo()
    return info.reason if status and status.details[0].Unpack(info) else str(error.code().name)


class Attending:
    """A bot that is in, by hand: the tickets it was given, and how it ended."""

    def __init__(self, server: str, token: str) -> None:
        self._channel = grpc.insecure_channel(server, options=[("grpc.use_local_subchannel_pool", 1)])
        attend = self._channel.unary_stream(
            ATTEND,
            request_serializer=lobby_pb.AttendRequest.SerializeToString,
            response_deserializer=lobby_pb.AttendResponse.FromString,
        )
        request = lobby_pb.AttendRequest(sdk="test", protocol_version=1, tables=4)
        self._call: Any = attend(request, metadata=(("authorization", f"Bearer {token}"),), timeout=200)

    def tickets(self) -> list[lobby_pb.MatchServiceTicket]:
        """Those for two match services, as soon as there are two."""
        while len(found := list(next(self._call).match_services)) < 2:
            pass
        return found

    def end(self) -> str:
        """The reason for which it is sent away."""
        try:
            while True:
                next(self._call)
        except grpc.RpcError as error:
            return reason_of(error)

    def close(self) -> None:
        self._channel.close()


@contextlib.contextmanager
def attending(server: str, token: str) -> Iterator[Attending]:
    bot = Attending(server, token)
    try:
        yield bot
    finally:
        bot.close()


class Playing:
    """A stream to a match service, opened with a ticket."""

    def __init__(self, given: lobby_pb.MatchServiceTicket) -> None:
        self._channel = grpc.insecure_channel(given.address, options=[("grpc.use_local_subchannel_pool", 1)])
        play = self._channel.stream_stream(
            PLAY,
            request_serializer=match_pb.PlayRequest.SerializeToString,
            response_deserializer=match_pb.PlayResponse.FromString,
        )
        hello = match_pb.Hello(ticket=given.ticket, protocol_version=1, tables=given.tables)
        first = match_pb.PlayRequest(records=[match_pb.ClientRecord(hello=hello)])

        def said() -> Iterator[match_pb.PlayRequest]:
            yield first
            yield from iter(self._silence, None)

        self._call: Any = play(said(), timeout=100)

    @staticmethod
    def _silence() -> match_pb.PlayRequest:
        time.sleep(0.5)
        return match_pb.PlayRequest(records=[match_pb.ClientRecord(heartbeat=match_pb.Heartbeat())])

    def welcome(self) -> str:
        """Nothing, once it is let in; otherwise why not."""
        try:
            next(self._call)
        except grpc.RpcError as error:
            return reason_of(error)
        return ""

    def end(self) -> str:
        """The reason for which it is closed."""
        try:
            while True:
                next(self._call)
        except grpc.RpcError as error:
            return reason_of(error)

    def close(self) -> None:
        self._call.cancel()
        self._channel.close()


def outcome(given: lobby_pb.MatchServiceTicket) -> str:
    """What becomes of a ticket at an address."""
    stream = Playing(given)
    try:
        return stream.welcome()
    finally:
        stream.close()


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    running = Serve(tmp_path / "data")
    try:
        yield running
        assert "Traceback" not in running.said()
        running.interrupt()
    finally:
        for pid in running.kill():
            eventually(lambda pid=pid: not is_alive(pid))  # type: ignore[misc]


def test_who_is_thrown_out_stays_out_whatever_is_restarted(serve: Serve, tmp_path: Path) -> None:
    # given two bots that are in, one of them with a stream, and beside them one as authors start it
    tokens = register_bots(serve.server, ["vic", "ann", "greedy-1"])
    with (
        attending(serve.server, tokens["vic"]) as vic,
        bot_processes(serve.server, {"greedy-1": tokens["greedy-1"]}, tmp_path / "bots"),
    ):
        tickets = vic.tickets()
        stream = Playing(tickets[0])
        assert stream.welcome() == ""

        # when an operator throws one out
        run_baohuang("token", "revoke-bot", "vic", *serve.operator)

        # then all it had is closed, and the tickets in its hand open nothing
        assert vic.end() == "REASON_TOKEN_UNKNOWN"
        assert stream.end() == "REASON_TOKEN_UNKNOWN"
        stream.close()
        for given in tickets:
            assert outcome(given) == "REASON_TICKET_INVALID"

    # and not after a match service has been restarted, nor the gateway, nor both
    for victims in (["MatchServiceActor"], ["GatewayActor"], ["GatewayActor", "MatchServiceActor"]):
        for victim in victims:
            pid = serve.kill_one(f"ray::{victim}")
            eventually(lambda victim=victim, pid=pid: pid not in serve.pids(f"ray::{victim}"))  # type: ignore[misc]
        for name, address in addresses(serve, tokens["ann"]).items():
            given = next(ticket for ticket in tickets if ticket.name == name)
            given.address = address
            # Where it listens bots learn from the gateway, which has told it before what has ended.
            assert outcome(given) == "REASON_TICKET_INVALID", victims

    secrets = [*tokens.values(), *(ticket.ticket for ticket in tickets)]
    secrets.append((serve.data / "operator.token").read_text().strip())
    verify_no_secrets(serve, tmp_path, secrets)


def addresses(serve: Serve, token: str) -> dict[str, str]:
    """Where the match services are, as a bot is told that comes in now; they can be reached."""

    def ask() -> dict[str, str]:
        with attending(serve.server, token) as bot:
            try:
                found = bot.tickets()
                reached = [outcome(given) == "" for given in found]
            except grpc.RpcError:  # the gateway is being restarted
                return {}
        return {given.name: given.address for given in found} if all(reached) else {}

    found: dict[str, str] = eventually(ask, 150, "two match services, and a gateway that names them")
    return found


def verify_no_secrets(serve: Serve, folder: Path, secrets: Iterable[str]) -> None:
    """In no log of ours or of Ray's, no output, and no list of processes."""
    pids = descendants_of(serve.process.pid)
    told = {f"process {pid}": command_line(pid) for pid in pids}
    sessions = {found for text in told.values() for found in re.findall(r"(/[^\s\0=]*session_[^/\s\0]+)", text)}
    assert sessions, "Ray's own logs are somewhere"
    files = [path for top in (folder, *map(Path, sessions)) for path in top.rglob("*") if path.is_file()]
    told |= {str(path): path.read_bytes().decode(errors="replace") for path in files if path.name != "operator.token"}
    assert any("gateway.jsonl" in name for name in told)
    assert [(name, secret[:6]) for name, text in told.items() for secret in secrets if secret in text] == []


def command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:  # it has ended meanwhile
        return ""
