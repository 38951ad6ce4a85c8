"""Writes that fail change nothing, say why, and may be tried again; what was reported as written is there for ever."""

from __future__ import annotations

import random
import resource
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from services.common.errors import PlatformError, Reason
from services.common.metrics import LedgerMetrics
from services.ledger.ledger import Ledger
from tests.unit.ledger.outcomes import make_outcome

WRITER = """
import sys
from services.ledger.ledger import Ledger
from tests.unit.ledger.outcomes import make_outcome
ledger = Ledger.open(sys.argv[1])
for start in range(0, 400, 20):
    ledger.record([make_outcome(number, attempt=f"{sys.argv[2]}-{number}") for number in range(start, start + 20)])
    print(start + 20, flush=True)
"""


def test_a_writer_that_waits_in_vain_may_try_again(path: Path) -> None:
    metrics = LedgerMetrics()
    with Ledger.open(path, wait=timedelta(milliseconds=50), metrics=metrics) as ledger:
        ledger.create_tournament("cup", "", b"s")
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(PlatformError, match="being written by another process") as caught:
                ledger.record([make_outcome(1)])
            assert caught.value.reason is Reason.LEDGER_LOCKED
            assert list(ledger.done_numbers("cup")) == []  # reading waits for nobody
            other.execute("ROLLBACK")
        assert len(ledger.record([make_outcome(1)]).new) == 1
    assert metrics.failures == 1


def test_errors_while_running_name_the_file_and_no_path(path: Path) -> None:
    with Ledger.open(path, wait=timedelta(0)) as ledger, closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(PlatformError) as caught:
            ledger.create_tournament("cup", "", b"s")
        assert "arena.db" in caught.value.message
        assert str(path.parent) not in f"{caught.value.message}{caught.value.metadata}"


@pytest.mark.parametrize("instead", [None, b"", b"something else"])
def test_a_file_that_is_taken_away_is_missed_at_once(path: Path, instead: bytes | None) -> None:
    with Ledger.open(path) as ledger:
        ledger.create_tournament("cup", "", b"s")
        path.rename(path.with_name("elsewhere"))
        if instead is not None:
            path.write_bytes(instead)
        for use in (lambda: ledger.record([make_outcome(1)]), lambda: ledger.tournament("cup")):
            with pytest.raises(PlatformError, match=r"arena.db is not where it was opened") as caught:
                use()
            assert caught.value.reason is Reason.LEDGER_UNWRITABLE
        assert path.exists() == (instead is not None), "no empty ledger takes its place"
        path.with_name("elsewhere").rename(path)
        assert len(ledger.record([make_outcome(1)]).new) == 1


@contextmanager
def file_limit(size: int) -> Iterator[None]:
    """Lets no file of this process grow beyond so many bytes: the system refuses the write, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def page_limit(ledger: Ledger) -> Iterator[None]:
    """Lets the database have no more pages than it has: SQLite says that the disk is full."""

    def limit(connection: Any, *_: object) -> None:
        connection.execute("PRAGMA max_page_count = 1")

    def lift(connection: Any, *_: object) -> None:
        connection.execute("PRAGMA max_page_count = 1073741823")

    event.listen(ledger._database.engine, "checkout", limit)
    yield
    event.remove(ledger._database.engine, "checkout", limit)
    event.listen(ledger._database.engine, "checkout", lift)


@pytest.mark.parametrize("backend", ["sqlite"])
@pytest.mark.parametrize("kind", ["the system refuses", "the disk is full"])
def test_without_room_nothing_is_half_written_and_with_room_all_is_well(
    path: Path, ledger: Ledger, metrics: LedgerMetrics, kind: str
) -> None:
    ledger.record([make_outcome(0)])
    batch = [make_outcome(number, attempt=f"{number}-{'x' * 50}") for number in range(1, 400)]
    log = path.with_name("arena.db-wal")
    with page_limit(ledger) if kind == "the disk is full" else file_limit(log.stat().st_size + 50_000):
        for _ in range(2):
            with pytest.raises(PlatformError, match=r"arena\.db cannot be written") as caught:
                ledger.record(batch)
            assert caught.value.reason is Reason.LEDGER_UNWRITABLE
        assert list(ledger.done_numbers("cup")) == [0]
        assert ledger.attempts("cup", 1) == []
    assert len(ledger.record(batch).new) == 399
    assert ledger.totals("cup") == ledger.recount("cup")
    assert metrics.failures == 2


def test_no_room_for_a_new_ledger_is_said_in_one_sentence(path: Path) -> None:
    with file_limit(8192), pytest.raises(PlatformError) as caught:
        Ledger.open(path)
    assert caught.value.reason is Reason.LEDGER_UNWRITABLE
    Ledger.open(path).close()


def test_no_room_for_the_copy_leaves_the_older_ledger_as_it_is(path: Path) -> None:
    from services.ledger import sqlite

    with Ledger.open(path) as ledger:
        ledger.create_tournament("cup", "", b"s")
        ledger.record([make_outcome(number) for number in range(200)])
    copy = path.with_name("copy")
    with file_limit(8192), pytest.raises(sqlite3.Error) as caught:
        sqlite.copy_file(path, copy)
    error = sqlite.error_from(caught.value, "arena.db")
    assert error is not None
    assert error.reason is Reason.LEDGER_UNWRITABLE
    assert [file.name for file in path.parent.iterdir() if file.name.startswith("copy")] == []


def test_a_writer_killed_at_any_moment_loses_and_doubles_nothing(place: str) -> None:
    with Ledger.open(place) as ledger:
        ledger.create_tournament("cup", "", b"s")
    dice = random.Random(5)
    first_attempts: dict[int, str] = {}
    for life in range(3):
        reported = _run_writer(place, f"life{life}", stop_after=dice.randrange(1, 12) if life < 2 else None)
        with Ledger.open(place) as ledger:  # the lock went with the process
            assert set(range(reported)) <= set(ledger.done_numbers("cup"))
            attempts = {result.number: result.attempt for result in ledger.results("cup")}
            assert first_attempts.items() <= attempts.items()  # a result stays, whoever plays the match again
            first_attempts = attempts
            assert ledger.totals("cup") == ledger.recount("cup")
    assert sorted(first_attempts) == list(range(400))


def _run_writer(place: str, life: str, stop_after: int | None) -> int:
    """Runs a process that writes 400 results in batches and is killed after some; how many it reported as written."""
    command = [sys.executable, "-c", WRITER, place, life]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        reported = 0
        for count, line in enumerate(process.stdout, start=1):
            reported = int(line)
            if count == stop_after:
                process.send_signal(signal.SIGKILL)
                reported = max(reported, *map(int, process.stdout), 0)
                break
        assert process.wait() == (0 if stop_after is None else -signal.SIGKILL)
    return reported
