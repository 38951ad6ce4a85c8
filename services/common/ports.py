"""Whether a server will be able to listen where an operator wants it, known before anything heavy is started."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket

from services.common.errors import SetupError
from services.common.targets import format_address

_log = logging.getLogger(__name__)

LEFTOVERS = 10.0
"""Seconds that the processes of a platform take at most to end when its `serve` was killed."""

_PAUSE = 0.25

_ADVICE = {
    errno.EADDRINUSE: "stop what uses it, or choose another address with {option} or --host",
    errno.EADDRNOTAVAIL: "no interface of this machine has this address. Name one that has it with --host, or 0.0.0.0 "
    "for all of them, and what bots are told with --advertised-host",
    errno.EACCES: "ports this low are for root alone. Choose another with {option}",
}


async def free_port(host: str, port: int, option: str, patience: float = 0.0) -> int:
    """The port, or any free one for 0; one that is taken may become free for `patience` seconds.

    Raises SetupError when it cannot be listened on.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + patience
    has_told = False
    while True:
        try:
            return _probe(host, port)
        except OSError as error:
            if error.errno != errno.EADDRINUSE or loop.time() >= end:
                raise SetupError(_refusal(host, port, option, error), address=format_address(host, port)) from None
        if not has_told:
            address = format_address(host, port)
            _log.warning(
                "%s is in use; waiting a little, as what was left of a killed platform ends by itself", address
            )
            has_told = True
        await asyncio.sleep(_PAUSE)


def _probe(host: str, port: int) -> int:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((host, port))
        probe.listen(1)
        bound: int = probe.getsockname()[1]
        return bound


def _refusal(host: str, port: int, option: str, error: OSError) -> str:
    advice = _ADVICE.get(error.errno or 0, "choose another address with {option} or --host").format(option=option)
    return f"{format_address(host, port)} cannot be listened on ({error.strerror}): {advice}."
