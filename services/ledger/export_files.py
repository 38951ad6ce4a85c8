"""Tables as files: CSV, JSON lines, and Parquet with pyarrow; written row by row, and there only when complete."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Any

from services.common.errors import SetupError
from services.ledger.exporting import Kind, TableForm, Value

GROUP = 10_000
"""Rows of one group of a Parquet file, which are in memory at once."""


class Format(StrEnum):
    """How a table is written; the label is the ending of its file."""

    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"


def verify_format(form: Format) -> None:
    """Raises SetupError if what it needs is not installed."""
    if form is Format.PARQUET:
        try:
            import pyarrow.parquet
        except ImportError:
            raise SetupError(
                "Parquet needs pyarrow: pip install 'baohuang-arena[server,parquet]', or choose csv or jsonl.",
                key="format",
            ) from None
        assert pyarrow.parquet is not None


def write_table(path: Path, table: TableForm, rows: Iterable[Sequence[Value]], form: Format) -> int:
    """Writes a new file; how many rows it has. Raises OSError, FileExistsError if it is there already."""
    if path.exists():
        raise FileExistsError(17, "it is there already", str(path))
    partial = path.with_name(path.name + ".partial")
    try:
        count = _WRITERS[form](partial, table, rows)
        partial.rename(path)
    finally:
        partial.unlink(missing_ok=True)
    return count


def _write_csv(path: Path, table: TableForm, rows: Iterable[Sequence[Value]]) -> int:
    count = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(name for name, _ in table.columns)
        for row in rows:
            writer.writerow(map(_plain, row))
            count += 1
    return count


def _write_jsonl(path: Path, table: TableForm, rows: Iterable[Sequence[Value]]) -> int:
    names = [name for name, _ in table.columns]
    count = 0
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(dict(zip(names, map(_plain, row), strict=True)), ensure_ascii=False) + "\n")
            count += 1
    return count


def _write_parquet(path: Path, table: TableForm, rows: Iterable[Sequence[Value]]) -> int:
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    kinds: dict[Kind, Any] = {
        Kind.TEXT: arrow.string(),
        Kind.NUMBER: arrow.int64(),
        Kind.SWITCH: arrow.bool_(),
        Kind.MOMENT: arrow.timestamp("us", tz="UTC"),
    }
    schema = arrow.schema([(name, kinds[kind]) for name, kind in table.columns])
    count = 0
    with parquet.ParquetWriter(path, schema) as writer:
        for group in _groups(rows):
            columns = [
                arrow.array(column, type=field.type)
                for column, field in zip(zip(*group, strict=True), schema, strict=True)
            ]
            writer.write_table(arrow.Table.from_arrays(columns, schema=schema))
            count += len(group)
    return count


_WRITERS: dict[Format, Callable[[Path, TableForm, Iterable[Sequence[Value]]], int]] = {
    Format.CSV: _write_csv,
    Format.JSONL: _write_jsonl,
    Format.PARQUET: _write_parquet,
}


def _groups(rows: Iterable[Sequence[Value]]) -> Iterator[list[Sequence[Value]]]:
    rest = iter(rows)
    while group := list(islice(rest, GROUP)):
        yield group


def _plain(value: Value) -> Value:
    return value.isoformat() if isinstance(value, datetime) else value
