"""Where a process listens that may be on another machine than the gateway."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from services.common.errors import SetupError
from services.common.settings import Settings

EVERY_INTERFACE = ("0.0.0.0", "::")


@dataclass(frozen=True, slots=True)
class Place:
    """The host to listen on, and the one by which others reach it."""

    host: str
    reachable_host: str


def place_of(settings: Settings, machine: str, home: str) -> Place:
    """Where to listen on `machine`, when the gateway is on `home`; both are addresses of machines of a cluster.

    Raises SetupError when nobody could reach it there.
    """
    if machine == home:
        return Place(settings.host, settings.reachable_host)
    if _is_loopback(settings.host):
        raise SetupError(
            f"--host is {settings.host}, and {machine} is another machine of the Ray cluster, where bots would not "
            "find what listens there: say --host 0.0.0.0, and name this machine with --advertised-host.",
            key="host",
        )
    return Place(settings.host if settings.host in EVERY_INTERFACE else machine, machine)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
