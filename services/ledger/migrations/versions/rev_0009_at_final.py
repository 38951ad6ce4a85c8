"""Adds what exclusions there were when it was decided who plays a final, so that the decision can be computed again."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("exclusions", sa.Column("at_final", sa.Boolean))
    # Whether those there are had been made by then is not known; most had, to keep somebody out of the final.
    op.execute(
        "UPDATE exclusions SET at_final = annulled"
        " WHERE tournament_id IN (SELECT id FROM tournaments WHERE qualified IS NOT NULL)"
    )
