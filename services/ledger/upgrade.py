"""Brings a ledger to the form this version reads, or says why it cannot.

A ledger that is older is changed in one transaction, a file after a copy was put beside it; a newer one is left alone.
"""

from __future__ import annotations

import logging
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine

from services.common.errors import PlatformError, Reason
from services.ledger.database import WRITES, Database

_log = logging.getLogger(__name__)

MIGRATIONS = Path(__file__).parent / "migrations"
"""The steps, inside this package, so that they are wherever it is installed."""


def upgrade(database: Database, migrations: Path = MIGRATIONS) -> None:
    """Brings the ledger to the newest revision; call it with the database prepared, and so its lock held.

    Raises PlatformError LEDGER_VERSION if the ledger is newer than this version, and errors of the database if it
    cannot be copied or written. Nothing has changed then.
    """
    script = ScriptDirectory(str(migrations))
    found, head = revision_of(database.engine), script.get_current_head()
    if found == head:
        return
    _verify_known(database.place, found, script)
    if found is not None:
        kept = database.keep_copy(found)
        _log.warning(
            "The ledger %s of revision %s is brought to revision %s; %s.", *(database.place, found, head, kept)
        )
    _run(database, migrations)


def verify_current(database: Database, migrations: Path = MIGRATIONS) -> None:
    """Raises PlatformError LEDGER_VERSION unless the ledger has exactly the form this version reads."""
    script = ScriptDirectory(str(migrations))
    found, head = revision_of(database.engine), script.get_current_head()
    if found == head:
        return
    _verify_known(database.place, found, script)
    raise PlatformError(
        Reason.LEDGER_VERSION,
        f"The ledger {database.place} has revision {found}, this version reads {head}: start the platform on it once, "
        "which upgrades it.",
        ledger=database.place,
        revision=str(found),
        reads=str(head),
    )


def revision_of(engine: Engine) -> str | None:
    """The revision of a ledger; None while it has no tables."""
    with engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def _verify_known(ledger: str, found: str | None, script: ScriptDirectory) -> None:
    if found is None or any(step.revision == found for step in script.walk_revisions()):
        return
    head = script.get_current_head()
    raise PlatformError(
        Reason.LEDGER_VERSION,
        f"The ledger {ledger} has revision {found}, which this version of the platform does not know: it reads up to "
        f"{head}. Use the newer version that wrote it.",
        ledger=ledger,
        revision=found,
        reads=str(head),
    )


def _run(database: Database, migrations: Path) -> None:
    config = Config()
    config.set_main_option("script_location", str(migrations).replace("%", "%%"))
    with database.engine.connect() as plain:
        connection = plain.execution_options(**{WRITES: True})
        config.attributes["connection"] = connection
        database.before_steps(connection)
        with connection.begin():
            command.upgrade(config, "head")
            database.after_steps(connection)
        connection.invalidate()  # its settings were changed
