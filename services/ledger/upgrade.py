"""Brings a ledger to the form this version reads, or says why it cannot.

A ledger that is older is copied beside itself, then changed, all in one transaction; a newer one is left alone.
"""

from __future__ import annotations

import logging
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine

from services.common.errors import PlatformError, Reason
from services.ledger import sqlite

_log = logging.getLogger(__name__)

MIGRATIONS = Path(__file__).parent / "migrations"
"""The steps, inside this package, so that they are wherever it is installed."""


def upgrade(engine: Engine, ledger: Path, migrations: Path = MIGRATIONS) -> None:
    """Brings the ledger to the newest revision; call it with the ledger's lock held and the file prepared.

    Raises PlatformError LEDGER_VERSION if the ledger is newer than this version; sqlite3.Error, DBAPIError or OSError
    if it cannot be copied or written. Nothing has changed then.
    """
    script = ScriptDirectory(str(migrations))
    found, head = revision_of(engine), script.get_current_head()
    if found == head:
        return
    _verify_known(ledger, found, script)
    if found is not None:
        copy = _copy_path(ledger, found)
        sqlite.copy_file(ledger, copy)
        _log.warning(
            "The ledger %s of revision %s is brought to revision %s; as it was, it is kept as %s.",
            *(ledger, found, head, copy),
        )
    with engine.connect() as connection:
        _run(connection.execution_options(**{sqlite.WRITES: True}), migrations)
        connection.invalidate()  # its settings were changed


def verify_current(engine: Engine, ledger: Path, migrations: Path = MIGRATIONS) -> None:
    """Raises PlatformError LEDGER_VERSION unless the ledger has exactly the form this version reads."""
    script = ScriptDirectory(str(migrations))
    found, head = revision_of(engine), script.get_current_head()
    if found == head:
        return
    _verify_known(ledger, found, script)
    raise PlatformError(
        Reason.LEDGER_VERSION,
        f"The ledger {ledger} has revision {found}, this version reads {head}: start the platform on it once, "
        "which upgrades it.",
        ledger=str(ledger),
        revision=str(found),
        reads=str(head),
    )


def revision_of(engine: Engine) -> str | None:
    """The revision of a ledger; None while it has no tables."""
    with engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def _verify_known(ledger: Path, found: str | None, script: ScriptDirectory) -> None:
    if found is None or any(step.revision == found for step in script.walk_revisions()):
        return
    head = script.get_current_head()
    raise PlatformError(
        Reason.LEDGER_VERSION,
        f"The ledger {ledger} has revision {found}, which this version of the platform does not know: it reads up to "
        f"{head}. Use the newer version that wrote it.",
        ledger=str(ledger),
        revision=found,
        reads=str(head),
    )


def _run(connection: Connection, migrations: Path) -> None:
    config = Config()
    config.set_main_option("script_location", str(migrations).replace("%", "%%"))
    config.attributes["connection"] = connection
    sqlite.suspend_references(connection)
    with connection.begin():
        command.upgrade(config, "head")
        sqlite.verify_references(connection)


def _copy_path(ledger: Path, revision: str) -> Path:
    """Where the copy goes: never over another one."""
    stem = f"{ledger.name}.revision-{revision}"
    count = 0
    while (path := ledger.with_name(f"{stem}.{count}" if count else stem)).exists():
        count += 1
    return path
