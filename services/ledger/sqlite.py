"""SQLite as the ledger's database: how it is opened, what its errors mean, and how a copy is made of it.

Beside `lock.py` the only file of the ledger that knows SQLite, as `postgres.py` is the one that knows PostgreSQL.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import ConnectionPoolEntry

from services.common.clock import Clock
from services.common.errors import PlatformError, Reason
from services.ledger.database import WRITES, Access
from services.ledger.lock import LedgerLock

APPLICATION_ID = 0x4248_4C47  # "BHLG": tells a ledger from any other SQLite file

_HEADER = b"SQLite format 3\x00"
_LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_UNWRITABLE = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}


class SqliteDatabase:
    """A ledger in a file; as `services.ledger.database.Database` says."""

    def __init__(self, path: Path, access: Access, wait: timedelta) -> None:
        path = path.absolute()
        _verify_place(path, access)
        self.place = str(path)
        self.name = path.name
        self.engine = make_engine(path, wait=wait, read_only=access is Access.READER)
        self._path = path
        self._wait = wait
        self._lock: LedgerLock | None = None

    def prepare(self, access: Access, clock: Clock) -> None:
        if access is Access.PLATFORM:
            self._lock = LedgerLock.acquire(self._path, clock.now())
            prepare_file(self._path, self._wait)
        else:
            verify_ledger(self._path, self._wait)

    def verify_held(self) -> None:
        """The lock of a file is held as long as the process lives."""

    def keep_copy(self, revision: str) -> str:
        copy = _copy_path(self._path, revision)
        copy_file(self._path, copy)
        return f"as it was, it is kept as {copy}"

    def before_steps(self, connection: Connection) -> None:
        """Lets rows refer to nothing for a while; outside a transaction, where alone it has an effect.

        A table that is changed is made anew and the old one dropped, which would take the rows that refer to it.
        """
        driver = connection.connection.driver_connection
        assert driver is not None
        driver.execute("PRAGMA foreign_keys = OFF")

    def after_steps(self, connection: Connection) -> None:
        if (broken := connection.exec_driver_sql("PRAGMA foreign_key_check").first()) is not None:
            raise RuntimeError(f"a row refers to nothing: {tuple(broken)}")

    def error_from(self, error: BaseException, *, shown: str) -> Exception | None:
        return error_from(error, shown) if isinstance(error, DBAPIError | sqlite3.Error | OSError) else None

    def close(self) -> None:
        self.engine.dispose()
        if self._lock is not None:
            self._lock.release()
            self._lock = None


def make_engine(path: Path, *, wait: timedelta, read_only: bool) -> Engine:
    """Connections to the file, made when needed; a writer waits at most `wait` for another one.

    Transactions raise PlatformError LEDGER_UNWRITABLE once the path names another file, or none: SQLite would go on
    with the file that nobody can find any more, or make an empty one.
    """
    file = _File(path)
    engine = create_engine(
        URL.create("sqlite", database=f"file:{quote(str(path))}", query={"mode": "rw", "uri": "true"}),
        connect_args={"timeout": wait.total_seconds()},
        hide_parameters=True,  # an error would show hashes of tokens and secrets of tournaments
        max_overflow=-1,  # as many as there are threads that ask; waiting for one another is SQLite's business
    )

    def prepare(connection: Any, _: ConnectionPoolEntry) -> None:
        file.verify()
        connection.isolation_level = None  # the driver begins no transactions by itself: `begin` does
        connection.execute("PRAGMA foreign_keys = ON")
        # An operator may pull the plug: what was reported as written must be there afterwards. Batches make it cheap.
        connection.execute("PRAGMA synchronous = FULL")
        if read_only:
            connection.execute("PRAGMA query_only = ON")

    def begin(connection: Connection) -> None:
        file.verify()
        # A transaction that reads first and writes later would fail when another writer came between.
        writes = connection.get_execution_options().get(WRITES, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    event.listen(engine, "connect", prepare)
    event.listen(engine, "begin", begin)
    return engine


class _File:
    """The file that a path named when it was opened first."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._opened: tuple[int, int] | None = None

    def verify(self) -> None:
        """Raises PlatformError LEDGER_UNWRITABLE unless the path still names it."""
        try:
            found = self._path.stat()
        except OSError:
            place = None
        else:
            place = (found.st_dev, found.st_ino)
        if self._opened is None:
            self._opened = place
        if place is None or place != self._opened:
            name = self._path.name
            detail = "it is gone" if place is None else "another one is in its place"
            message = f"The file of the ledger {name} is not where it was opened ({detail}): put it back there."
            raise PlatformError(Reason.LEDGER_UNWRITABLE, message, ledger=name, detail=detail)


def prepare_file(path: Path, wait: timedelta) -> None:
    """Makes the file an empty ledger if there is none, and puts it into WAL mode, in which readers wait for nobody.

    Raises PlatformError LEDGER_VERSION if there is a file that is no ledger, and sqlite3.Error and OSError.
    """
    verify_ledger(path, wait)
    path.touch(mode=0o600)  # before SQLite makes it for all to read: the secrets of tournaments are in it
    with closing(sqlite3.connect(path, timeout=wait.total_seconds(), isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def verify_ledger(path: Path, wait: timedelta) -> None:
    """Raises PlatformError LEDGER_VERSION if what is at the path is no ledger; nothing at all is fine."""
    if not path.exists() or (path.is_file() and path.stat().st_size == 0):
        return
    if not path.is_file():
        raise _no_ledger(path, "it is no file")
    with path.open("rb") as file:
        if file.read(len(_HEADER)) != _HEADER:
            raise _no_ledger(path, "it is no SQLite file")
    with closing(sqlite3.connect(path, timeout=wait.total_seconds(), isolation_level=None)) as connection:
        (mark,) = connection.execute("PRAGMA application_id").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if mark != APPLICATION_ID and tables:
        raise _no_ledger(path, "it is a SQLite file of another program")


def copy_file(path: Path, copy: Path) -> None:
    """Copies the whole database, what is still in its WAL file included; the copy appears when it is complete.

    Raises sqlite3.Error and OSError.
    """
    partial = copy.with_name(copy.name + ".partial")
    partial.unlink(missing_ok=True)
    try:
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(partial)) as target:
            source.backup(target)
        partial.rename(copy)
    finally:
        partial.unlink(missing_ok=True)


def error_from(error: BaseException, ledger: str) -> PlatformError | None:
    """What an error means for whoever asked, or None if it is a mistake of ours; `ledger` names the ledger to them."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(cause, OSError):
        return _unwritable(ledger, cause.strerror or str(cause))
    code = getattr(cause, "sqlite_errorcode", 0) & 0xFF  # the extended code says more, but nothing to act upon
    if code in _LOCKED:
        message = f"The ledger {ledger} is being written by another process and did not get free in time."
        return PlatformError(Reason.LEDGER_LOCKED, message, ledger=ledger, detail=str(cause))
    if code in _DAMAGED:
        message = f"The ledger {ledger} is damaged ({cause}): put a copy in its place."
        return PlatformError(Reason.LEDGER_UNWRITABLE, message, ledger=ledger, detail=str(cause))
    if code in _UNWRITABLE:
        return _unwritable(ledger, str(cause))
    return None


def _unwritable(ledger: str, detail: str) -> PlatformError:
    message = f"The ledger {ledger} cannot be written: {detail}."
    return PlatformError(Reason.LEDGER_UNWRITABLE, message, ledger=ledger, detail=detail)


def _no_ledger(path: Path, detail: str) -> PlatformError:
    message = f"{path} is not a ledger: {detail}. Name a ledger, or a path where there is nothing yet."
    return PlatformError(Reason.LEDGER_VERSION, message, ledger=str(path), detail=detail)


def _copy_path(ledger: Path, revision: str) -> Path:
    """Where the copy goes: never over another one."""
    stem = f"{ledger.name}.revision-{revision}"
    count = 0
    while (path := ledger.with_name(f"{stem}.{count}" if count else stem)).exists():
        count += 1
    return path


def _verify_place(path: Path, access: Access) -> None:
    """Whether something can be opened there at all; what SQLite would say is "unable to open database file"."""
    if not path.parent.is_dir():
        what, advice = f"there is no directory {path.parent}", "make it, or name another place"
    elif access is not Access.PLATFORM and not path.exists():
        what, advice = "there is no such file", "name a ledger"
    else:
        return
    raise PlatformError(
        Reason.LEDGER_UNWRITABLE,
        f"The ledger {path} cannot be opened: {what}; {advice}.",
        ledger=str(path),
        detail=what,
    )
