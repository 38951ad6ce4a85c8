"""Tables as files: the same rows in every form and from every database, nothing secret, and memory that stays flat."""

from __future__ import annotations

import csv
import json
import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from services.common.matches import Ending, SeatFaults
from services.common.qualifiers import Qualifier, Way
from services.common.scopes import Scope
from services.ledger.export_files import Format, write_table
from services.ledger.exporting import (
    ATTEMPTS,
    DEALS,
    ENTRIES,
    EXCLUSIONS,
    FAULTS,
    FORMS,
    QUALIFIERS,
    RESULTS,
    RETRACTIONS,
    TOURNAMENTS,
    LineUp,
    TableForm,
    rows_of,
)
from services.ledger.ledger import Ledger
from services.ledger.values import Side, Tournament, TournamentState
from tests.unit.ledger.outcomes import make_outcome

SECRET = b"a secret of 32 bytes, all to hide"


def line_ups(_: Tournament) -> Callable[[int], LineUp]:
    return lambda number: LineUp(number // 5, ("a", "b", "c", "d", f"e{number}"))


@pytest.fixture
def played(ledger: Ledger) -> Ledger:
    ledger.create_tournament("保皇杯", "name: 保皇杯", SECRET)
    ledger.create_bot("id", "alpha", owner="", version="", token_hash=b"H" * 32)
    ledger.create_access_token("ann", frozenset({Scope.READ}), b"T" * 32)
    ledger.record(
        [
            make_outcome(1, record=b"a record", faults={3: SeatFaults(2, 0, 1, taken_over=True)}),
            make_outcome(2, attempt="void", ending=Ending.VOID, message='a comma, "quotes"\nand a line'),
            make_outcome(2),
            make_outcome(7, tournament="保皇杯", attempt="other", deals=1),
            make_outcome(9, attempt="the wrong build", record=b"a record taken back"),
        ]
    )
    ledger.retract("cup", 9, [9, 10], "the wrong build")
    ledger.exclude("cup", "bob", annulled=True, reason="two of a kind")
    ledger.create_tournament("hall", "name: hall", SECRET, state=TournamentState.OPEN, entrants=["house:greedy"])
    ledger.enter("hall", "ada", Side.BOT, 9)
    ledger.withdraw("hall", "ada", Side.OPERATOR)
    places = (Qualifier("ann", 2, 1, Way.PLACED), Qualifier("bob", 1, 4, Way.VACANT))
    ledger.qualify("cup", places, ledger.rulings("cup").exclusions)
    return ledger


def read_back(path: Path, form: Format) -> list[dict[str, Any]]:
    """What is in a file, as text and numbers."""
    if form is Format.CSV:
        with path.open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))
    if form is Format.JSONL:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    import pyarrow.parquet as parquet

    rows: list[dict[str, Any]] = parquet.read_table(path).to_pylist()
    return rows


def as_text(value: Any) -> str:
    if isinstance(value, datetime):
        value = value.astimezone(UTC).isoformat()
    return "" if value is None else str(value)


def write(ledger: Ledger, folder: Path, table: TableForm, form: Format) -> list[dict[str, str]]:
    path = folder / f"{table.name}.{form}"
    count = write_table(path, table, rows_of(ledger, table, line_ups), form)
    rows = read_back(path, form)
    assert count == len(rows)
    return [{name: as_text(value) for name, value in row.items()} for row in rows]


@pytest.mark.parametrize("table", FORMS, ids=lambda table: table.name)
def test_every_form_holds_the_same_rows(played: Ledger, tmp_path: Path, table: TableForm) -> None:
    rows = [write(played, tmp_path, table, form) for form in Format]
    assert rows[0] == rows[1] == rows[2]
    assert list(rows[0][0]) == [name for name, _ in table.columns]


def test_results_and_deals_say_what_was_recorded(played: Ledger, tmp_path: Path) -> None:
    results = write(played, tmp_path, RESULTS, Format.CSV)
    assert [(row["tournament"], row["number"], row["bot_4"], row["block"]) for row in results] == [
        ("保皇杯", "7", "e7", "1"),
        ("cup", "1", "e1", "0"),
        ("cup", "2", "e2", "0"),
    ]
    assert results[1]["faults_3"] == "3"
    deals = write(played, tmp_path, DEALS, Format.CSV)
    assert len(deals) == 5
    outcome = make_outcome(1)
    for row, deal in zip(deals[1:3], outcome.deals, strict=True):
        assert [row[f"points_{seat}"] for seat in range(5)] == [str(points) for points in deal.points]
        assert [row[f"beans_{seat}"] for seat in range(5)] == [str(beans) for beans in deal.beans or ()]
        assert (row["places"], row["emperor"]) == ("42013", str(deal.emperor))


def test_attempts_that_did_not_count_are_there_with_their_reason(played: Ledger, tmp_path: Path) -> None:
    attempts = write(played, tmp_path, ATTEMPTS, Format.CSV)
    assert [row["attempt"] for row in attempts] == ["other", "first-1", "first-2", "void", "the wrong build"]
    assert attempts[3]["message"] == 'a comma, "quotes"\nand a line'
    (fault,) = write(played, tmp_path, FAULTS, Format.CSV)
    assert (fault["attempt"], fault["seat"], fault["timeouts"], fault["taken_over"]) == ("first-1", "3", "2", "True")
    cup = write(played, tmp_path, TOURNAMENTS, Format.CSV)[-1]
    assert (cup["tournament"], cup["matches"], cup["attempts"]) == ("cup", "2", "4")


@pytest.mark.parametrize("form", [Format.CSV, Format.JSONL])
def test_nothing_secret_is_given_out(played: Ledger, tmp_path: Path, form: Format) -> None:
    for table in FORMS:
        write(played, tmp_path, table, form)
    everything = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.suffix == f".{form}")
    assert "保皇杯".encode() in everything or b"\\u4fdd" in everything
    for secret in (SECRET, b"s" * 32, b"H" * 32, b"T" * 32, b"a record"):
        assert secret not in everything
        assert secret.hex().encode() not in everything


def test_one_tournament_alone_can_be_written(played: Ledger) -> None:
    assert {row[0] for row in rows_of(played, DEALS, line_ups, "cup")} == {"cup"}


@pytest.mark.parametrize("backend", ["sqlite"])
def test_no_file_is_replaced_and_none_is_there_half(played: Ledger, tmp_path: Path) -> None:
    def broken() -> Any:
        yield from rows_of(played, DEALS, line_ups)
        raise RuntimeError("in the middle")

    folder = tmp_path / "out"
    folder.mkdir()
    with pytest.raises(RuntimeError):
        write_table(folder / "deals.csv", DEALS, broken(), Format.CSV)
    assert list(folder.iterdir()) == []
    write(played, folder, DEALS, Format.CSV)
    with pytest.raises(FileExistsError):
        write(played, folder, DEALS, Format.CSV)


@pytest.mark.parametrize("backend", ["sqlite"])
def test_many_attempts_are_read_in_parts_without_loss(ledger: Ledger) -> None:
    ledger.record(
        [
            make_outcome(n, attempt=f"{n}-{k}", ending=Ending.VOID, faults={0: SeatFaults(1), 4: SeatFaults(2)})
            for n in range(400)
            for k in range(3)
        ]
    )
    assert [row[2] for row in rows_of(ledger, ATTEMPTS, line_ups)] == [f"{n}-{k}" for n in range(400) for k in range(3)]
    assert len(list(rows_of(ledger, FAULTS, line_ups))) == 2400


@pytest.mark.parametrize("backend", ["sqlite"])
def test_memory_does_not_grow_with_the_ledger(ledger: Ledger, tmp_path: Path) -> None:
    def peak(name: str) -> int:
        tracemalloc.start()
        write_table(tmp_path / name, DEALS, rows_of(ledger, DEALS, line_ups), Format.CSV)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    ledger.record([make_outcome(number, deals=1) for number in range(600)])
    few = peak("few")
    ledger.record([make_outcome(number, deals=1) for number in range(600, 3000)])
    assert peak("many") < 1.5 * few


def test_who_entered_who_was_excluded_and_what_was_taken_back_is_there(played: Ledger, tmp_path: Path) -> None:
    one, two = write(played, tmp_path, ENTRIES, Format.CSV)
    assert (one["bot"], one["entered_by"], one["left_by"], bool(one["left_at"])) == ("ada", "bot", "operator", True)
    assert (two["bot"], two["entered_by"], two["left_by"], two["left_at"]) == ("house:greedy", "operator", "", "")
    (out,) = write(played, tmp_path, EXCLUSIONS, Format.JSONL)
    assert (out["tournament"], out["bot"], out["annulled"], out["reason"]) == ("cup", "bob", "True", "two of a kind")
    (back,) = write(played, tmp_path, RETRACTIONS, Format.PARQUET)
    assert (back["number"], back["attempt"], back["reason"]) == ("9", "the wrong build", "the wrong build")


def test_who_went_on_is_given_out_in_the_order_of_places(played: Ledger, tmp_path: Path) -> None:
    places = write(played, tmp_path, QUALIFIERS, Format.JSONL)
    told = [(one["place"], one["bot"], one["pool"], one["rank"], one["way"]) for one in places]
    assert told == [("1", "ann", "2", "1", "placed"), ("2", "bob", "1", "4", "vacant")]
