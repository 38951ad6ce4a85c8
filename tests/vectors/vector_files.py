"""Finds and reads the vector files: the repository's own, and a second folder named by BAOHUANG_VECTORS."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

OWN = Path(__file__).parent / "data"


def folders() -> list[Path]:
    second = os.environ.get("BAOHUANG_VECTORS")
    return [OWN, Path(second)] if second else [OWN]


def read(folder: Path, name: str) -> list[dict[str, Any]]:
    """The lines of a file. A missing or damaged file is an error, never a reason to skip."""
    with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    if not found:
        raise ValueError(f"{folder / name} holds no vectors")
    return found


def groups(name: str, *keys: str) -> list[tuple[str, list[dict[str, Any]]]]:
    """The lines of all folders by the values of some keys, as pairs of an id for the test and the lines."""
    found: dict[str, list[dict[str, Any]]] = {}
    for folder in folders():
        for line in read(folder, name):
            label = " ".join(_label(line.get(key)) for key in keys)
            found.setdefault(f"{folder.name}: {label}", []).append(line)
    return list(found.items())


def _label(value: object) -> str:
    if isinstance(value, dict):
        return ",".join(f"{key}={item}" for key, item in value.items()) or "plain"
    return str(value)
