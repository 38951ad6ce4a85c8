"""The lock that keeps two platforms from writing to one ledger: a file beside it, held by the process that has it open.

The operating system gives the lock back when the process ends, however it ends; the file stays, and means nothing by
itself.
"""

from __future__ import annotations

import fcntl
import os
from datetime import datetime
from pathlib import Path

from services.common.errors import PlatformError, Reason


class LedgerLock:
    """Held from `acquire` until `release` or the end of the process."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    def acquire(cls, ledger: Path, now: datetime) -> LedgerLock:
        """Takes the lock of a ledger, or raises PlatformError LEDGER_LOCKED that names who has it since when.

        Raises OSError when the file cannot be written.
        """
        path = lock_path(ledger)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pid, _, since = os.pread(descriptor, 200, 0).decode(errors="replace").strip().partition(" ")
            os.close(descriptor)
            raise _locked(ledger, pid, since) from None
        except OSError:
            os.close(descriptor)
            raise
        try:
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()} {now.isoformat(timespec='seconds')}\n".encode(), 0)
        except OSError:  # a full disk: the lock itself is held, only nobody can read by whom
            os.ftruncate(descriptor, 0)
        return cls(descriptor)

    def release(self) -> None:
        """Gives the lock back."""
        os.close(self._descriptor)


def lock_path(ledger: Path) -> Path:
    """Where the lock of a ledger lies."""
    return ledger.with_name(ledger.name + ".lock")


def _locked(ledger: Path, pid: str, since: str) -> PlatformError:
    who = f"process {pid} since {since}" if pid and since else "another process"
    return PlatformError(
        Reason.LEDGER_LOCKED,
        f"The ledger {ledger} is in use by {who}: stop that platform, or use another ledger.",
        ledger=str(ledger),
        pid=pid,
        since=since,
    )
