"""Adds what operators decide in the course of a tournament: who is excluded, which results were taken back, how many
matches may be on the way."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("tournaments", sa.Column("in_flight", sa.Integer))
    op.create_table(
        "exclusions",
        sa.Column("tournament_id", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("annulled", sa.Boolean, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("excluded_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("tournament_id", "name", name="pk_exclusions"),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournaments.id"], name="fk_exclusions_tournament_id"),
    )
    op.create_table(
        "retractions",
        sa.Column("attempt", sa.String(64), nullable=False),
        sa.Column("tournament_id", sa.Integer, nullable=False),
        sa.Column("number", sa.BigInteger, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("record", sa.LargeBinary),
        sa.Column("retracted_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("attempt", name="pk_retractions"),
        sa.ForeignKeyConstraint(["attempt"], ["attempts.attempt"], name="fk_retractions_attempt"),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournaments.id"], name="fk_retractions_tournament_id"),
    )
