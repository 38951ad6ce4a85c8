"""The versions that clients are told."""

from __future__ import annotations

from importlib.metadata import version

SERVER_VERSION = version("baohuang-arena")
PROTOCOL_VERSION = 1
RULES_VERSION = "1"
