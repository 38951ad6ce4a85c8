"""Adds who enters a tournament before it is started. `open` now means that bots may enter: what was called so before,
a tournament whose bots are settled and waited for, is `running`."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_NAME = sa.String(40).with_variant(sa.String(40, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "entries",
        sa.Column("tournament_id", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("name", _NAME, nullable=False),
        sa.Column("entered_at", sa.BigInteger, nullable=False),
        sa.Column("entered_by", sa.String(24), nullable=False),
        sa.Column("left_at", sa.BigInteger),
        sa.Column("left_by", sa.String(24)),
        sa.PrimaryKeyConstraint("tournament_id", "name", name="pk_entries"),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournaments.id"], name="fk_entries_tournament_id"),
    )
    op.execute("UPDATE tournaments SET state = 'running' WHERE state = 'open'")
