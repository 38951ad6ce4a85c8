"""The lock that keeps two platforms from having one database: an advisory lock of a connection that is kept for it.

The server gives it back when the connection ends, however it ends. So a connection that is lost is made again, and the
lock with it; if another platform was quicker, this one has lost the ledger and must stop. Whatever both wrote in the
meantime is none the worse: each result is written once, whoever comes first.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable
from typing import Any

import psycopg

from services.common.errors import PlatformError, Reason

_log = logging.getLogger(__name__)

Connect = Callable[[], psycopg.Connection[Any]]

PLATFORM_LOCK = (0x4248_4C47, 1)
"""The two numbers of the lock that a platform holds; those of the first are the letters BHLG."""

PAUSE = 1.0
"""Seconds between two looks whether the connection is still there."""

LONGEST_PAUSE = 5.0
"""Seconds between two attempts to get it back, at most."""

_TRY = "SELECT pg_try_advisory_lock(%s, %s)"

_HOLDER = """
SELECT activity.application_name, activity.backend_start
FROM pg_locks JOIN pg_stat_activity activity USING (pid)
WHERE locktype = 'advisory' AND classid = %s AND objid = %s AND granted
  AND pg_locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


class PostgresLock:
    """Held from `acquire` until `release`, with a thread that looks after it."""

    def __init__(self, connect: Connect, connection: psycopg.Connection[Any], place: str) -> None:
        self._connect = connect
        self._connection = connection
        self._place = place
        self._released = threading.Event()
        self._lost: PlatformError | None = None
        self._thread = threading.Thread(target=self._look_after, name="ledger-lock", daemon=True)
        self._thread.start()

    @classmethod
    def acquire(cls, connect: Connect, place: str, patience: float) -> PostgresLock:
        """Takes the lock, or raises PlatformError LEDGER_LOCKED that names who has it since when.

        It is tried for `patience` seconds: the server may not have seen yet that the platform before has died. Raises
        psycopg.Error when the server cannot be asked.
        """
        connection = connect()
        pause = threading.Event()
        try:
            while (locked := _try(connection, place)) is not None:
                if patience <= 0:
                    raise locked
                patience -= 0.1
                pause.wait(0.1)
        except BaseException:
            connection.close()
            raise
        return cls(connect, connection, place)

    def verify_held(self) -> None:
        """Raises PlatformError LEDGER_LOCKED if another platform has got it."""
        if self._lost is not None:
            raise PlatformError(Reason.LEDGER_LOCKED, self._lost.message, **self._lost.metadata)

    def release(self) -> None:
        """Gives the lock back."""
        self._released.set()
        self._thread.join()
        self._connection.close()

    def _look_after(self) -> None:
        pause = PAUSE
        while not self._released.wait(pause):
            try:
                if self._connection.closed:
                    self._connection = self._connect()
                    self._lost = _try(self._connection, self._place)
                    if self._lost is not None:
                        _log.error("%s", self._lost.message)
                        return
                    _log.warning("the ledger's lock is held again, after its connection was lost")
                self._connection.execute("SELECT 1")
                pause = PAUSE
            except psycopg.Error as error:
                if not self._connection.closed:
                    with contextlib.suppress(psycopg.Error):
                        self._connection.close()
                pause = min(2 * pause, LONGEST_PAUSE)
                _log.warning("the connection that holds the ledger's lock is lost: %s", type(error).__name__)


def _try(connection: psycopg.Connection[Any], place: str) -> PlatformError | None:
    """Takes the lock; who has it, if it is somebody else."""
    (got,) = connection.execute(_TRY, PLATFORM_LOCK).fetchone() or (False,)
    if got:
        return None
    who, since = connection.execute(_HOLDER, PLATFORM_LOCK).fetchone() or ("", None)
    known = f"{who} since {since.isoformat(timespec='seconds')}" if who and since else "another process"
    return PlatformError(
        Reason.LEDGER_LOCKED,
        f"The ledger {place} is in use by {known}: stop that platform, or use another ledger.",
        ledger=place,
        holder=str(who),
        since=since.isoformat(timespec="seconds") if since else "",
    )
