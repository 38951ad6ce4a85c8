"""The first form of the ledger: bots, tournaments, attempts and results.

Types are spelled out here and not taken from `schema.py`: a step says what was done, and must not change with the code.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_NAME = sa.String(40).with_variant(sa.String(40, collation="C"), "postgresql")


def upgrade() -> None:
    _bots()
    _tournaments()
    _attempts()
    _results()


def _bots() -> None:
    op.create_table(
        "bots",
        sa.Column("bot_id", sa.String(40), nullable=False),
        sa.Column("name", _NAME, nullable=False),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("version", sa.Text, nullable=False),
        sa.Column("token_hash", sa.LargeBinary(32)),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("revoked_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("bot_id", name="pk_bots"),
        sa.UniqueConstraint("name", name="uq_bots_name"),
        sa.UniqueConstraint("token_hash", name="uq_bots_token_hash"),
    )


def _tournaments() -> None:
    op.create_table(
        "tournaments",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("spec_yaml", sa.Text, nullable=False),
        sa.Column("secret", sa.LargeBinary, nullable=False),
        sa.Column("state", sa.String(24), nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_tournaments"),
        sa.UniqueConstraint("name", name="uq_tournaments_name"),
    )
    counts = ("matches", "deals", "decisions", "timeouts", "illegal_answers", "disconnects", "takeovers", "attempts")
    op.create_table(
        "totals",
        sa.Column("tournament_id", sa.Integer, nullable=False, autoincrement=False),
        *(sa.Column(name, sa.BigInteger, nullable=False) for name in counts),
        sa.PrimaryKeyConstraint("tournament_id", name="pk_totals"),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournaments.id"], name="fk_totals_tournament_id"),
    )


def _attempts() -> None:
    op.create_table(
        "attempts",
        sa.Column("attempt", sa.String(64), nullable=False),
        sa.Column("tournament_id", sa.Integer, nullable=False),
        sa.Column("number", sa.BigInteger, nullable=False),
        sa.Column("match_service", sa.Text, nullable=False),
        sa.Column("started_at", sa.BigInteger, nullable=False),
        sa.Column("ended_at", sa.BigInteger, nullable=False),
        sa.Column("ending", sa.String(24), nullable=False),
        sa.Column("blamed", sa.String(5), nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("decisions", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("attempt", name="pk_attempts"),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournaments.id"], name="fk_attempts_tournament_id"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_attempts_tournament_id", "attempts", ["tournament_id", "number"])
    op.create_table(
        "faults",
        sa.Column("attempt", sa.String(64), nullable=False),
        sa.Column("seat", sa.SmallInteger, nullable=False, autoincrement=False),
        sa.Column("timeouts", sa.Integer, nullable=False),
        sa.Column("illegal_answers", sa.Integer, nullable=False),
        sa.Column("disconnects", sa.Integer, nullable=False),
        sa.Column("taken_over", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("attempt", "seat", name="pk_faults"),
        sa.ForeignKeyConstraint(["attempt"], ["attempts.attempt"], name="fk_faults_attempt"),
        sqlite_with_rowid=False,
    )


def _results() -> None:
    op.create_table(
        "results",
        sa.Column("tournament_id", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("number", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("attempt", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("tournament_id", "number", name="pk_results"),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournaments.id"], name="fk_results_tournament_id"),
        sa.ForeignKeyConstraint(["attempt"], ["attempts.attempt"], name="fk_results_attempt"),
        sa.UniqueConstraint("attempt", name="uq_results_attempt"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "deals",
        sa.Column("tournament_id", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("number", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("deal", sa.Integer, nullable=False, autoincrement=False),
        *(sa.Column(f"points_{seat}", sa.Integer, nullable=False) for seat in range(5)),
        sa.Column("places", sa.String(5), nullable=False),
        sa.Column("emperor", sa.SmallInteger, nullable=False),
        sa.Column("guard", sa.SmallInteger),
        sa.Column("solo", sa.String(8)),
        sa.Column("voided", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("tournament_id", "number", "deal", name="pk_deals"),
        sa.ForeignKeyConstraint(
            ["tournament_id", "number"], ["results.tournament_id", "results.number"], name="fk_deals_tournament_id"
        ),
        sqlite_with_rowid=False,
    )
