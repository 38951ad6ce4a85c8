"""Alembic's entry point: runs the steps on the connection that `services/ledger/upgrade.py` hands over."""

from __future__ import annotations

from alembic import context

from services.ledger.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,  # SQLite changes a table by making it anew
    transactional_ddl=True,  # all steps or none, in SQLite too: the transaction is the caller's
)
context.run_migrations()
