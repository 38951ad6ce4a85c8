"""What the ledger needs of a database: SQLite and PostgreSQL offer it, and nothing above them knows which it is."""

from __future__ import annotations

from enum import Enum
from typing import Protocol

from sqlalchemy import Connection, Engine

from services.common.clock import Clock
from services.common.errors import PlatformError

WRITES = "ledger_writes"
"""The execution option of a connection whose transactions write."""


class Access(Enum):
    """What a process is to the ledger."""

    PLATFORM = "platform"
    """The one that has it: takes the lock, makes and upgrades the tables, reads and writes."""
    MEMBER = "member"
    """Another process of the same platform, for example a director: reads and writes under the platform's lock."""
    READER = "reader"
    """Reads only; the platform may be running or not."""


class DatabaseRefused(PlatformError):
    """LEDGER_UNWRITABLE, but not for want of room: the server of the database does not let us in."""

    @property
    def next_step(self) -> str:
        """What to do next, one sentence."""
        return "Then try again; nothing finished is lost."


class Database(Protocol):
    """One database that is a ledger, or is to become one.

    `engine` gives connections whose transactions wait for one another if they have the option WRITES, so that at most
    one writes at a time, in whatever process. `place` names it to its operator, without a password, and `name` to
    whomever asks over the network.
    """

    engine: Engine
    place: str
    name: str

    def prepare(self, access: Access, clock: Clock) -> None:
        """Whatever comes before the tables are looked at: the platform takes the lock, others see that it is there.

        Raises PlatformError, and errors that `error_from` understands.
        """
        ...

    def verify_held(self) -> None:
        """Raises PlatformError LEDGER_LOCKED if another platform has got the lock that this one held."""
        ...

    def keep_copy(self, revision: str) -> str:
        """Called before a ledger of that revision is changed: where it is kept as it was, or what keeps it safe."""
        ...

    def before_steps(self, connection: Connection) -> None:
        """Called before the transaction of the steps begins."""
        ...

    def after_steps(self, connection: Connection) -> None:
        """Called at the end of the transaction of the steps; raises RuntimeError if they left something broken."""
        ...

    def error_from(self, error: BaseException, *, shown: str) -> Exception | None:
        """What an error means for whoever asked, or None if it is a mistake of ours; `shown` names the ledger."""
        ...

    def close(self) -> None:
        """Gives everything back; may be called twice."""
        ...
