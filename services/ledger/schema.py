"""The tables of the ledger as this version reads and writes them; `migrations` brings a ledger to this form.

    bots   access_tokens                   who may come in; of tokens, hashes alone
    tournaments ──< attempts ──< faults        what was played, whatever came of it
        │   └─ totals   └─ results ──< deals   what counts: one row per scheduled match, written once
        │                   └── records          the whole match, compressed
        ├─ entries                               who has entered before the start, and who has left again
        ├─ exclusions                            who plays no more, and whether what it played counts
        └─ retractions                           results that were taken back, with their records

Everything a standing shows follows from `results`, `deals` and `faults`. `totals` repeats their sums so that progress
costs nothing; it is written in the same transaction. Nothing here is of one database: SQLite and PostgreSQL take it
alike.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cache

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Dialect,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    String,
    Table,
    Text,
    TypeDecorator,
)

from bots_sdk.rules.events import SoloKind
from services.common.matches import Ending
from services.common.qualifiers import Qualifier, Way
from services.common.scopes import Scope
from services.ledger.values import Side, TournamentState

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


_SOLO_KINDS = {kind.name.lower(): kind for kind in SoloKind}


@cache  # a million deals have a few hundred different orders of going out
def _seats(digits: str) -> tuple[int, ...]:
    return tuple(map(int, digits))


_NAME = String(40).with_variant(String(40, collation="C"), "postgresql")
"""Lists go by name in the same order in every database, whatever language it was made for."""


class Moment(TypeDecorator[datetime]):
    """A point in time as microseconds since 1970 UTC: exact, in order, and the same in every database."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        return None if value is None else (value - _EPOCH) // _MICROSECOND

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        return None if value is None else _EPOCH + value * _MICROSECOND


class Seats(TypeDecorator[tuple[int, ...]]):
    """Some seats in their order as digits, for example "31" for the seats 3 and 1."""

    impl = String(5)
    cache_ok = True

    def process_bind_param(self, value: tuple[int, ...] | None, dialect: Dialect) -> str:
        return "".join(map(str, value or ()))

    def process_result_value(self, value: str | None, dialect: Dialect) -> tuple[int, ...]:
        return _seats(value or "")


class Scopes(TypeDecorator[frozenset[Scope]]):
    """Scopes as their labels in alphabetical order, separated by commas."""

    impl = String(40)
    cache_ok = True

    def process_bind_param(self, value: frozenset[Scope] | None, dialect: Dialect) -> str:
        return ",".join(sorted(value or ()))

    def process_result_value(self, value: str | None, dialect: Dialect) -> frozenset[Scope]:
        return frozenset(map(Scope, value.split(","))) if value else frozenset()


class Label(TypeDecorator[StrEnum]):
    """A value of a closed set as its label."""

    impl = String(24)
    cache_ok = True

    def __init__(self, labels: type[StrEnum]) -> None:
        super().__init__()
        self.labels = labels

    def process_bind_param(self, value: StrEnum | None, dialect: Dialect) -> str | None:
        return None if value is None else str(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> StrEnum | None:
        return None if value is None else self.labels(value)


class Qualifiers(TypeDecorator[tuple[Qualifier, ...]]):
    """The holders of the places of a final, each as a list of JSON; nothing before they are decided."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: tuple[Qualifier, ...] | None, dialect: Dialect) -> str | None:
        return json.dumps([[one.name, one.pool, one.rank, one.way] for one in value]) if value else None

    def process_result_value(self, value: str | None, dialect: Dialect) -> tuple[Qualifier, ...]:
        return tuple(Qualifier(name, pool, rank, Way(way)) for name, pool, rank, way in json.loads(value or "[]"))


class Emperor(TypeDecorator[int]):
    """The emperor's seat; -1 for none, since the first form of the ledger wants a number in every deal."""

    impl = SmallInteger
    cache_ok = True

    def process_bind_param(self, value: int | None, dialect: Dialect) -> int:
        return -1 if value is None else value

    def process_result_value(self, value: int | None, dialect: Dialect) -> int | None:
        return None if value == -1 else value


class Solo(TypeDecorator[SoloKind]):
    """How an emperor came to play alone, as a label; none when it did not."""

    impl = String(8)
    cache_ok = True

    def process_bind_param(self, value: SoloKind | None, dialect: Dialect) -> str | None:
        return None if value is None else value.name.lower()

    def process_result_value(self, value: str | None, dialect: Dialect) -> SoloKind | None:
        return None if value is None else _SOLO_KINDS[value]


metadata = MetaData(
    naming_convention={  # migrations change constraints by name, so each must have one
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(table_name)s_%(column_0_name)s",
    }
)

bots = Table(
    "bots",
    metadata,
    Column("bot_id", String(40), primary_key=True),
    Column("name", _NAME, nullable=False, unique=True),
    Column("owner", Text, nullable=False),
    Column("version", Text, nullable=False),
    Column("token_hash", LargeBinary(32), unique=True),  # none: no token, every attempt to come in is refused
    Column("created_at", Moment, nullable=False),
    Column("revoked_at", Moment),
    Column("token_since", Moment),  # each token of a bot is from later than the one before; none: as old as the bot
)

access_tokens = Table(
    "access_tokens",
    metadata,
    Column("name", _NAME, primary_key=True),
    Column("scopes", Scopes, nullable=False),
    Column("token_hash", LargeBinary(32), unique=True),
    Column("created_at", Moment, nullable=False),
    Column("rotated_at", Moment),
    Column("revoked_at", Moment),
)

tournaments = Table(
    "tournaments",
    metadata,
    Column("id", Integer, primary_key=True),  # never shown: rows of results name the tournament by it, being short
    Column("name", Text, nullable=False, unique=True),
    Column("spec_yaml", Text, nullable=False),
    Column("secret", LargeBinary, nullable=False),
    Column("state", Label(TournamentState), nullable=False),
    Column("message", Text, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    Column("in_flight", Integer),  # none: as the specification says
    Column("qualified", Qualifiers),  # written once, when the pools are over
)

entries = Table(
    "entries",
    metadata,
    Column("tournament_id", ForeignKey("tournaments.id"), primary_key=True, autoincrement=False),
    Column("name", _NAME, primary_key=True),
    Column("entered_at", Moment, nullable=False),
    Column("entered_by", Label(Side), nullable=False),
    Column("left_at", Moment),
    Column("left_by", Label(Side)),
)
"""Tournaments of before this table have none: who plays is in their specifications, as it is in every one once it was
started."""

exclusions = Table(
    "exclusions",
    metadata,
    Column("tournament_id", ForeignKey("tournaments.id"), primary_key=True, autoincrement=False),
    Column("name", Text, primary_key=True),
    Column("annulled", Boolean, nullable=False),
    Column("reason", Text, nullable=False),
    Column("excluded_at", Moment, nullable=False),
    Column("at_final", Boolean),  # `annulled` when the pools were decided; none if the bot was not excluded by then
)

totals = Table(
    "totals",
    metadata,
    Column("tournament_id", ForeignKey("tournaments.id"), primary_key=True, autoincrement=False),
    Column("matches", BigInteger, nullable=False),
    Column("deals", BigInteger, nullable=False),
    Column("decisions", BigInteger, nullable=False),
    Column("timeouts", BigInteger, nullable=False),
    Column("illegal_answers", BigInteger, nullable=False),
    Column("disconnects", BigInteger, nullable=False),
    Column("takeovers", BigInteger, nullable=False),
    Column("attempts", BigInteger, nullable=False),
)

attempts = Table(
    "attempts",
    metadata,
    Column("attempt", String(64), primary_key=True),
    Column("tournament_id", ForeignKey("tournaments.id"), nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("match_service", Text, nullable=False),
    Column("started_at", Moment, nullable=False),
    Column("ended_at", Moment, nullable=False),
    Column("ending", Label(Ending), nullable=False),
    Column("blamed", Seats, nullable=False),
    Column("message", Text, nullable=False),
    Column("decisions", Integer, nullable=False),
    Index("ix_attempts_tournament_id", "tournament_id", "number"),
    sqlite_with_rowid=False,
)

faults = Table(
    "faults",
    metadata,
    Column("attempt", ForeignKey("attempts.attempt"), primary_key=True),
    Column("seat", SmallInteger, primary_key=True, autoincrement=False),
    Column("timeouts", Integer, nullable=False),
    Column("illegal_answers", Integer, nullable=False),
    Column("disconnects", Integer, nullable=False),
    Column("taken_over", Boolean, nullable=False),
    sqlite_with_rowid=False,
)
"""A seat without faults has no row."""

results = Table(
    "results",
    metadata,
    Column("tournament_id", ForeignKey("tournaments.id"), primary_key=True, autoincrement=False),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("attempt", ForeignKey("attempts.attempt"), nullable=False, unique=True),
    sqlite_with_rowid=False,
)

deals = Table(
    "deals",
    metadata,
    Column("tournament_id", Integer, primary_key=True, autoincrement=False),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("deal", Integer, primary_key=True, autoincrement=False),
    *(Column(f"points_{seat}", Integer, nullable=False) for seat in range(5)),
    Column("places", Seats, nullable=False),
    Column("emperor", Emperor, nullable=False),
    Column("guard", SmallInteger),
    Column("solo", Solo),
    Column("voided", Integer, nullable=False),
    *(Column(f"beans_{seat}", BigInteger) for seat in range(5)),
    Column("spoiled", Seats),
    *(Column(f"faults_{seat}", Integer) for seat in range(5)),
    ForeignKeyConstraint(["tournament_id", "number"], ["results.tournament_id", "results.number"]),
    sqlite_with_rowid=False,
)

records = Table(
    "records",
    metadata,
    Column("tournament_id", Integer, primary_key=True, autoincrement=False),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("record", LargeBinary, nullable=False),
    ForeignKeyConstraint(["tournament_id", "number"], ["results.tournament_id", "results.number"]),
)
"""Compressed `MatchRecord`s. The attempt is that of the result; results of before this table have none."""

retractions = Table(
    "retractions",
    metadata,
    Column("attempt", ForeignKey("attempts.attempt"), primary_key=True),
    Column("tournament_id", ForeignKey("tournaments.id"), nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("reason", Text, nullable=False),
    Column("record", LargeBinary),
    Column("retracted_at", Moment, nullable=False),
)
"""Attempts that were results until an operator had their matches played again; the record stays as evidence."""
