"""The versions that clients are told."""

from __future__ import annotations

from importlib.metadata import version

from bots_sdk.rules.version import RULES_VERSION

__all__ = ["PROTOCOL_VERSION", "RULES_VERSION", "SERVER_VERSION"]

SERVER_VERSION = version("baohuang-arena")
PROTOCOL_VERSION = 1
