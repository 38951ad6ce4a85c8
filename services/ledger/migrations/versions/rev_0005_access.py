"""Adds the tokens of people and programs, and since when each bot has its token; of bots of before it is not known."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_NAME = sa.String(40).with_variant(sa.String(40, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "access_tokens",
        sa.Column("name", _NAME, nullable=False),
        sa.Column("scopes", sa.String(40), nullable=False),
        sa.Column("token_hash", sa.LargeBinary(32)),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("rotated_at", sa.BigInteger),
        sa.Column("revoked_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("name", name="pk_access_tokens"),
        sa.UniqueConstraint("token_hash", name="uq_access_tokens_token_hash"),
    )
    op.add_column("bots", sa.Column("token_since", sa.BigInteger))
