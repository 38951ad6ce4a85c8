"""Adds the settlement in beans to every deal; deals from before it have none."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for seat in range(5):
        op.add_column("deals", sa.Column(f"beans_{seat}", sa.BigInteger))
