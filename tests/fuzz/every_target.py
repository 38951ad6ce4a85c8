"""All targets: importing them puts them into the registry."""

from __future__ import annotations

from . import messages, play_streams, records, written_texts
from .registry import TARGETS

__all__ = ["TARGETS", "messages", "play_streams", "records", "written_texts"]
