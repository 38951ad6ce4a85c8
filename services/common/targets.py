"""The processes of the platform: their roles, their addresses, and where each can be scraped."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


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
