"""The processes of the platform: their roles, their addresses, and where each can be scraped."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from enum import StrEnum

_HOST_NAME = re.compile(r"(?=.{1,253}$)[A-Za-z0-9]([A-Za-z0-9-]{0,62})(\.[A-Za-z0-9]([A-Za-z0-9-]{0,62}))*\.?")


class Role(StrEnum):
    """What a process of the platform is for."""

    GATEWAY = "gateway"
    MATCH_SERVICE = "match-service"
    DIRECTOR = "director"


@dataclass(frozen=True, slots=True)
class Target:
    """A process that serves `/metrics` at `address` ("host:port"); `name` tells it from others of its role."""

    role: Role
    name: str
    address: str


def format_address(host: str, port: int) -> str:
    """The address as one text, `host:port`, with brackets around an IPv6 address."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def parse_host(text: str) -> str:
    """A host name, or an IP address without brackets. Raises ValueError, which says what it must be."""
    try:
        return str(ipaddress.ip_address(text.strip("[]")))
    except ValueError:
        if not _HOST_NAME.fullmatch(text):
            raise ValueError("a host name or an IP address, without a port") from None
        return text
