"""PostgreSQL as the ledger's database: how it is reached, how one transaction writes at a time, what keeps it ours.

With its errors and its lock beside it the only part of the ledger that knows PostgreSQL.
"""

from __future__ import annotations

import os
import socket
import threading
from datetime import timedelta
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.pool import ConnectionPoolEntry

from services.common.clock import Clock
from services.common.errors import PlatformError, Reason
from services.common.ledger_urls import format_place
from services.ledger import postgres_errors
from services.ledger.database import WRITES, Access
from services.ledger.postgres_lock import PostgresLock

MARK = "Baohuang Arena ledger"
"""The comment on the table of revisions: tells a ledger from the database of any other program."""

WRITER_LOCK = (0x4248_4C47, 2)
"""The two numbers of the lock that a transaction holds while it writes."""

PATIENCE = timedelta(seconds=2)
"""How long a platform waits for the lock of one before it, whose death the server may not have seen."""

MEMBER_PATIENCE = timedelta(minutes=10)
"""How long a member that begins waits for the server: its platform has the ledger, so the server has been there."""

FIRST_PAUSE, LONGEST_PAUSE = 0.05, 5.0
"""Seconds between two attempts to connect; each is twice as long as the one before, up to the second."""

# A line that is cut without a word is noticed in half a minute; otherwise it would be a quarter of an hour or more.
_USUAL = {
    "connect_timeout": "5",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "25000",
}

_PREPARE = """
SET client_encoding = 'UTF8';
SET timezone = 'UTC';
SET synchronous_commit = on;
SET tcp_keepalives_idle = 10;
SET tcp_keepalives_interval = 5;
SET tcp_keepalives_count = 3;
"""
# What was reported as written must be there after a power cut, whatever the server's usual is. The server, too, must
# notice a machine that is gone, since it holds our lock.

_TABLES = "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()"
_MARK_OF = "SELECT obj_description(to_regclass('alembic_version'), 'pg_class')"


class PostgresDatabase:
    """A ledger in a database; as `services.ledger.database.Database` says."""

    def __init__(self, url: str, access: Access, wait: timedelta) -> None:
        self.place = format_place(url)
        try:
            parts = conninfo_to_dict(url)
        except psycopg.ProgrammingError:  # its text may have the password in it
            message = (
                f"{self.place} is not understood as the URL of a database: it must be like "
                "postgresql://USER@HOST:PORT/DATABASE, with % before the code of each special character."
            )
            raise PlatformError(Reason.LEDGER_UNWRITABLE, message, ledger=self.place, detail="URL") from None
        self.name = str(parts.get("dbname") or parts.get("user") or "postgresql")
        self._wait = wait
        self._url = url
        self._access = access
        self._options = {**_USUAL, **parts, "application_name": _application_name(access)}
        self._preparation = f"{_PREPARE} SET lock_timeout = {max(1, wait // timedelta(milliseconds=1))}".encode()
        self._lock: PostgresLock | None = None
        self.engine = self._make_engine()

    def prepare(self, access: Access, clock: Clock) -> None:
        """Takes the platform's lock and sees what is there. Raises PlatformError LEDGER_VERSION if it is no ledger."""
        if access is Access.PLATFORM:
            before = min(self._wait, PATIENCE).total_seconds()
            self._lock = PostgresLock.acquire(self._connect, self.place, before)
        patience = max(self._wait, MEMBER_PATIENCE) if access is Access.MEMBER else self._wait
        with self._connect(patience) as connection:
            (tables,) = connection.execute(_TABLES).fetchone() or (0,)
            (mark,) = connection.execute(_MARK_OF).fetchone() or (None,)
        if mark == MARK or (not tables and access is Access.PLATFORM):
            return
        detail = "it has tables of another program" if tables else "there is no table in it"
        advice = (
            "Name a ledger, or an empty database." if tables else "Start the platform on it once, which makes them."
        )
        message = f"The database {self.place} is not a ledger: {detail}. {advice}"
        raise PlatformError(Reason.LEDGER_VERSION, message, ledger=self.place, detail=detail)

    def verify_held(self) -> None:
        if self._lock is not None:
            self._lock.verify_held()

    def keep_copy(self, revision: str) -> str:
        """No copy: the steps are one transaction, and a database has its own ways of being kept."""
        return "all steps are made or none, and a copy is what `pg_dump` makes"

    def before_steps(self, connection: Connection) -> None:
        """Nothing: a table is changed as it is."""

    def after_steps(self, connection: Connection) -> None:
        connection.exec_driver_sql(f"COMMENT ON TABLE alembic_version IS '{MARK}'")

    def error_from(self, error: BaseException, *, shown: str) -> Exception | None:
        return postgres_errors.error_from(error, shown)

    def close(self) -> None:
        self.engine.dispose()
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _connect(self, patience: timedelta | None = None) -> psycopg.Connection[Any]:
        """A connection, waited for as long as it may come; it commits by itself what is not in a transaction."""
        waited, pause = 0.0, FIRST_PAUSE
        longest = (patience or self._wait).total_seconds()
        while True:
            try:
                connection = psycopg.connect(**self._options, autocommit=True)  # type: ignore[arg-type]  # libpq's words
                connection.execute(self._preparation)
                return connection
            except psycopg.Error as error:
                if waited >= longest or not postgres_errors.is_passing(error):
                    raise
                threading.Event().wait(pause)
                waited, pause = waited + pause, min(2 * pause, LONGEST_PAUSE)

    def _make_engine(self) -> Engine:
        """Connections made when needed; a writer waits a limited time for another one.

        Transactions that only read see the database at one moment. Those that write wait for one another before they
        look at anything, as in SQLite, so what they have read stays true until they write.
        """
        engine = create_engine(
            "postgresql+psycopg://",
            creator=lambda: self._connect(),
            hide_parameters=True,  # an error would show hashes of tokens and secrets of tournaments
            max_overflow=-1,  # as many as there are threads that ask
            pool_pre_ping=True,  # one that the server has closed meanwhile is made again
        )
        read_only = self._access is Access.READER

        def prepare(connection: Any, _: ConnectionPoolEntry) -> None:
            connection.autocommit = False

        def begin(connection: Connection) -> None:
            writes = connection.get_execution_options().get(WRITES, False)
            driver: Any = connection.connection.driver_connection
            level = psycopg.IsolationLevel
            driver.isolation_level = level.READ_COMMITTED if writes else level.REPEATABLE_READ
            driver.read_only = read_only or not writes
            if writes:
                connection.exec_driver_sql("SELECT pg_advisory_xact_lock(%s, %s)", WRITER_LOCK)

        event.listen(engine, "connect", prepare)
        event.listen(engine, "begin", begin)
        return engine


def _application_name(access: Access) -> str:
    """How the server lists our connections, and whom a second platform is told of; 63 bytes are kept."""
    return f"baohuang {access.value}, process {os.getpid()} on {socket.gethostname()}"[:63]
