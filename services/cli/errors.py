"""What a command says when it cannot do what it was told: one sentence, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from services.cli.credentials import Credentials


class CommandFailed(click.ClickException):
    """Shown as `Error: …`, with exit code 1. `reason` is a name of `baohuang.error.v1.Reason`, for programs."""

    def __init__(self, message: str, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason


class SettingWrong(CommandFailed):
    """A setting that cannot be, from the command line or a variable; exit code 2, as for whatever is typed wrong."""

    exit_code = 2


UNREACHABLE = "REASON_UNREACHABLE"
"""The reason when no platform answers."""
_ABOUT_TOKENS = ("REASON_UNAUTHENTICATED", "REASON_TOKEN_UNKNOWN", "REASON_FORBIDDEN")


@contextmanager
def plain_errors(server: str = "", credentials: Credentials | None = None) -> Iterator[None]:
    """Turns refusals of the platform, local or over gRPC, into a sentence; `credentials` are what was shown to it."""
    import grpc

    from services.cli.client import Unreachable
    from services.common.errors import PlatformError

    try:
        yield
    except Unreachable:
        raise _unreachable(server) from None
    except PlatformError as error:
        raise CommandFailed(sentence(error.message, error.next_step), error.reason.wire_name) from None
    except grpc.RpcError as error:
        raise _from_rpc(error, server, credentials) from None


def sentence(message: str, next_step: str) -> str:
    """Both, as one text; a message that says itself what to do is not repeated."""
    message = message.strip()
    if message and message[-1] not in ".!?":
        message += "."
    return f"{message} {next_step}"


def reason_of(error: Any) -> str:
    """The name of the reason for which a platform refused a call; empty if it gave none."""
    from google.rpc import error_details_pb2
    from grpc_status import rpc_status

    status = rpc_status.from_call(error)
    for detail in status.details if status is not None else ():
        info = error_details_pb2.ErrorInfo()
        if detail.Unpack(info):
            return info.reason
    return ""


def _from_rpc(error: Any, server: str, credentials: Credentials | None) -> CommandFailed:
    import grpc

    from services.cli.credentials import advice
    from services.common.errors import REMEDIES, Reason

    if name := reason_of(error):
        remedy = REMEDIES[Reason[name.removeprefix("REASON_")]].next_step
        if credentials is not None and name in _ABOUT_TOKENS:
            remedy = advice(credentials)
        return CommandFailed(sentence(error.details(), remedy), name)
    if error.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED):
        return _unreachable(server)
    if error.code() is grpc.StatusCode.UNIMPLEMENTED:
        return CommandFailed(
            f"What answers at {server} does not know this call: is it a match service, or a platform of another "
            "version? Name the address of the gateway, which `baohuang serve` prints, with --server HOST:PORT."
        )
    said = (error.details() or "nothing more").rstrip(".!")
    return CommandFailed(f"{server} answered with {error.code().name}: {said}. Is it a Baohuang platform?")


def _unreachable(server: str) -> CommandFailed:
    return CommandFailed(
        f"No platform answers at {server}: start one with `baohuang serve`, or name another with --server HOST:PORT.",
        UNREACHABLE,
    )
