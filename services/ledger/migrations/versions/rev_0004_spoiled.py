"""Adds to every deal who spoiled it and what each seat did wrong in it; deals from before it count as unspoiled."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("deals", sa.Column("spoiled", sa.String(5)))
    for seat in range(5):
        op.add_column("deals", sa.Column(f"faults_{seat}", sa.Integer))
