"""Calls of a command to the platform at an address, with the token and the TLS that were chosen for it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from bots_sdk.cli.tls import chosen_tls
from services.cli.credentials import chosen_credentials
from services.cli.errors import plain_errors, reason_of

if TYPE_CHECKING:
    from services.cli.client import Client

T = TypeVar("T")


def call_platform(server: str, work: Callable[[Client], Awaitable[T]]) -> T:
    """Does some work with a client of the platform at `server`; what goes wrong becomes a sentence."""
    import grpc

    tls = chosen_tls()
    credentials = chosen_credentials(server)
    with plain_errors(server, credentials):
        from services.cli.client import connect

        async def connected(token: str) -> T:
            async with connect(server, tls, token) as client:
                return await work(client)

        try:
            return asyncio.run(connected(credentials.token))
        except grpc.RpcError as error:
            if not credentials.is_guess or reason_of(error) != "REASON_TOKEN_UNKNOWN":
                raise
        # The file that lies here is of another platform. What needs no token can be done without.
        return asyncio.run(connected(""))
