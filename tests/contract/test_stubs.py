"""The committed stubs: importable by their protocol path, and fit to cross a process border."""

from __future__ import annotations

import importlib
import pickle
from pathlib import Path

import pytest
from google.protobuf.message import Message

STUBS = Path(__file__).resolve().parents[2] / "proto" / "stubs"
MODULES = sorted(".".join(path.relative_to(STUBS).with_suffix("").parts) for path in STUBS.rglob("*_pb2*.py"))


@pytest.mark.parametrize("module", MODULES)
def test_stub_imports(module: str) -> None:
    importlib.import_module(module)


@pytest.mark.parametrize("module", [name for name in MODULES if name.endswith("_pb2")])
def test_messages_pickle(module: str) -> None:
    """Ray pickles what it sends to an actor; a class that claims a wrong module would fail only in the cluster."""
    loaded = importlib.import_module(module)
    for name in loaded.DESCRIPTOR.message_types_by_name:
        message: Message = getattr(loaded, name)()
        assert pickle.loads(pickle.dumps(message)) == message
