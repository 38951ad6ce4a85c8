"""Adds the records of matches: one for each result, from now on."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # A table of its own, and with row ids: results stay short, and large rows do not belong into an index.
    op.create_table(
        "records",
        sa.Column("tournament_id", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("number", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("record", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("tournament_id", "number", name="pk_records"),
        sa.ForeignKeyConstraint(
            ["tournament_id", "number"], ["results.tournament_id", "results.number"], name="fk_records_tournament_id"
        ),
    )
