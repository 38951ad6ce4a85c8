"""No token, and no hash of one, is in a log, a status, a page or a metric, whatever goes wrong with it."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest
from grpc_status import rpc_status

from baohuang.access.v1 import access_service_pb2 as access_pb
from baohuang.lobby.v1 import lobby_service_pb2 as lobby_pb
from services.access.gate import FAILURES
from services.access.needs import NEEDS
from services.access.tokens import hash_token
from services.common.logging import configure_logging
from services.common.settings import LogLevel, Settings
from tests.integration.gateway.house import CALLERS, CLOSED, House, basic, fetch, house_of

MARK = "mArKeD"
WRONG = {
    "short": f"bh_{MARK}",
    "of the form": f"bh_{MARK}".ljust(46, "x"),
    "without a digit or a capital": f"bh_{MARK.lower()}".ljust(46, "a"),
    "long": f"bh_{MARK}" * 150,
    "of another kind": f"{MARK}.eyJhbGciOiJIUzI1NiJ9.{MARK}",
    "with a space": f"bh {MARK} x",
}


@pytest.fixture
def logs(tmp_path: Path) -> Iterator[Path]:
    """Everything is logged, as the platform does it; the folder of the log."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield configure_logging("gateway", Settings(data_dir=tmp_path, log_level=LogLevel.DEBUG), io.StringIO()).parent
    for handler in root.handlers[:]:
        if handler not in handlers:
            root.removeHandler(handler)
            handler.close()
    root.setLevel(level)


def read(logs: Path) -> str:
    return "".join(file.read_text(encoding="utf-8") for file in logs.iterdir())


async def say(made: Any) -> str:
    """Everything that a call lets its caller know."""
    try:
        answer = await (made.read() if hasattr(made, "read") else made)
        made.cancel()
    except grpc.aio.AioRpcError as error:
        status = rpc_status.from_call(error)  # type: ignore[arg-type]  # the typing knows synchronous calls only
        trailing = [str(pair) for pair in error.trailing_metadata() or ()]
        return f"{error!r} {error.details()} {status} {trailing} {await made.initial_metadata()}"
    return str(answer)


async def provoke(house: House, tmp_path: Path) -> str:
    """Every call with every token, right and wrong, in every form; what came back."""
    heard = []
    for who in CALLERS:
        for service, methods in NEEDS.items():
            if service.startswith("baohuang."):
                for method in methods:
                    house.gateway.gate._failures.forget("127.0.0.1")
                    heard.append(await house.call(service, method, who))
    http = f"http://{house.addresses.http}"
    for token in WRONG.values():
        for form in (f"Bearer {token}", f"bearer  {token}", token, f"Basic {token}", f"Token {token}"):
            house.gateway.gate._failures.forget("127.0.0.1")
            shown = (("authorization", form),)
            heard += [
                await say(house.access.GetCaller(access_pb.GetCallerRequest(), metadata=shown)),
                await say(house.lobby.Attend(lobby_pb.AttendRequest(), metadata=shown)),
                (await fetch(f"{http}/", form)).text,
                (await fetch(f"{http}/sd", basic(token))).text,
            ]
    # more often than one may
    heard += [
        await say(house.access.GetCaller(access_pb.GetCallerRequest(), metadata=house.shown("stranger")))
        for _ in range(2 * int(FAILURES.burst))
    ]
    heard.append((await fetch(f"{http}/metrics")).text)
    return "\n".join(heard)


def secrets_of(house: House) -> set[str]:
    tokens = [token for who, token in house.tokens.items() if who != "stranger"]
    hashes = [hash_token(token) for token in [*tokens, *WRONG.values()]]
    return {MARK, MARK.lower(), *tokens, *(value.hex() for value in hashes), *(repr(value) for value in hashes)}


async def test_nothing_that_goes_wrong_tells_a_token(tmp_path: Path, logs: Path) -> None:
    async with house_of(tmp_path, CLOSED) as house:
        heard = await provoke(house, tmp_path)
        assert "REASON_RATE_LIMITED" in heard
        assert "REASON_TOKEN_UNKNOWN" in heard
        written = read(logs)
        assert '"reason": "REASON_TOKEN_UNKNOWN"' in written
        found = [secret for secret in secrets_of(house) if secret in heard or secret in written]
        # A token is in the one answer that gives it out, and that is not among these.
        assert found == []


async def test_a_fault_of_the_platform_tells_no_token_either(
    tmp_path: Path, logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Were a token in the text of an exception, it would still be in no log and no status."""
    async with house_of(tmp_path, CLOSED) as house:
        token = house.tokens["operator"]

        def fail(shown: bytes) -> None:
            raise RuntimeError(f"cannot look up {shown!r} of {token}: token={token}")

        monkeypatch.setattr(house.gateway.gate._ledger, "bot_with_token", fail)
        made = house.access.GetCaller(access_pb.GetCallerRequest(), metadata=house.shown("operator"))
        heard = await say(made) + (await fetch(f"http://{house.addresses.http}/", f"Bearer {token}")).text
        written = read(logs)
        assert "REASON_INTERNAL" in heard
        assert written.count("cannot look up ***") >= 2
        assert [secret for secret in secrets_of(house) if secret in heard or secret in written] == []


def test_the_traceback_that_goes_to_the_log_shows_no_values(logs: Path) -> None:
    """Python shows the lines of the source, not what their names stood for."""
    try:
        _deep(WRONG["of the form"])
    except RuntimeError:
        logging.getLogger("services.test").exception("it failed")
    assert MARK not in read(logs)


def _deep(token: str) -> None:
    raise RuntimeError(f"with {len(token)} letters")
