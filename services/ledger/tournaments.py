"""Reading and writing the table of tournaments, within a transaction of the caller."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from services.common.errors import PlatformError, Reason
from services.common.qualifiers import Qualifier
from services.ledger.schema import totals, tournaments
from services.ledger.values import Page, Tournament, TournamentState

_COUNTS = tuple(column.name for column in totals.columns if not column.primary_key)


def create(connection: Connection, tournament: Tournament) -> None:
    if connection.execute(select(tournaments.c.id).where(tournaments.c.name == tournament.name)).first():
        raise exists(tournament.name)
    made = connection.execute(
        insert(tournaments).values(
            name=tournament.name,
            spec_yaml=tournament.spec_yaml,
            secret=tournament.secret,
            state=tournament.state,
            message=tournament.message,
            created_at=tournament.created_at,
            updated_at=tournament.updated_at,
        )
    )
    assert made.inserted_primary_key is not None
    connection.execute(insert(totals).values(tournament_id=made.inserted_primary_key[0], **dict.fromkeys(_COUNTS, 0)))


def transition(
    connection: Connection,
    name: str,
    allowed: Collection[TournamentState],
    state: TournamentState,
    *,
    message: str,
    now: datetime,
) -> Tournament:
    changed = connection.execute(
        update(tournaments)
        .where(tournaments.c.name == name, tournaments.c.state.in_(allowed))
        .values(state=state, message=message, updated_at=now)
    )
    tournament = named(connection, name)
    if not changed.rowcount:
        needed = " or ".join(sorted(allowed))
        raise PlatformError(
            Reason.STATE_CONFLICT,
            f"The tournament {name!r} is {tournament.state}; to become {state} it must be {needed}.",
            tournament=name,
            state=tournament.state,
            wanted=state,
            allowed=", ".join(sorted(allowed)),
        )
    return tournament


def named(connection: Connection, name: str) -> Tournament:
    row = connection.execute(select(tournaments).where(tournaments.c.name == name)).first()
    if row is None:
        raise unknown(name)
    return _tournament(row)


def id_of(connection: Connection, name: str, *, hold: bool = False) -> int:
    """The number that rows of results name the tournament by; `hold` keeps other writers out of it till the end."""
    statement = select(tournaments.c.id).where(tournaments.c.name == name)
    found: int | None = connection.execute(statement.with_for_update() if hold else statement).scalar()
    if found is None:
        raise unknown(name)
    return found


def verify_in(connection: Connection, name: str, allowed: Collection[TournamentState], what: str) -> int:
    """The number of a tournament that is in one of the states, kept so till the end; PlatformError STATE_CONFLICT."""
    tournament_id = id_of(connection, name, hold=True)
    state: TournamentState = connection.execute(
        select(tournaments.c.state).where(tournaments.c.id == tournament_id)
    ).scalar_one()
    if state not in allowed:
        needed = " or ".join(sorted(allowed))
        raise PlatformError(
            Reason.STATE_CONFLICT,
            f"The tournament {name!r} is {state}; {what} it must be {needed}.",
            tournament=name,
            state=state,
            allowed=", ".join(sorted(allowed)),
        )
    return tournament_id


def page(connection: Connection, after: str, limit: int, hidden: Collection[TournamentState] = ()) -> Page[Tournament]:
    statement = select(tournaments).order_by(tournaments.c.id.desc()).limit(limit + 1)
    if hidden:
        statement = statement.where(tournaments.c.state.not_in(hidden))
    if after:
        if (last := named(connection, after)).state in hidden:  # whoever is not to know of it has guessed
            raise unknown(after)
        statement = statement.where(tournaments.c.id < id_of(connection, last.name))
    rows = [_tournament(row) for row in connection.execute(statement)]
    return Page(tuple(rows[:limit]), rows[limit - 1].name if len(rows) > limit else "")


def in_states(connection: Connection, states: Collection[TournamentState]) -> list[Tournament]:
    statement = select(tournaments).where(tournaments.c.state.in_(states)).order_by(tournaments.c.id)
    return [_tournament(row) for row in connection.execute(statement)]


def qualify(connection: Connection, name: str, qualified: Collection[Qualifier]) -> bool:
    """Writes who has gone on, if nobody has before: the first word stands."""
    written = connection.execute(
        update(tournaments)
        .where(tournaments.c.name == name, tournaments.c.qualified.is_(None))
        .values(qualified=tuple(qualified))
    )
    return written.rowcount > 0


def unknown(name: str) -> PlatformError:
    return PlatformError(Reason.TOURNAMENT_UNKNOWN, f"There is no tournament named {name!r}.", tournament=name)


def exists(name: str) -> PlatformError:
    return PlatformError(Reason.TOURNAMENT_EXISTS, f"There is a tournament named {name!r} already.", tournament=name)


def _tournament(row: Row[Any]) -> Tournament:
    return Tournament(
        row.name,
        row.spec_yaml,
        row.secret,
        row.state,
        row.message,
        row.created_at,
        row.updated_at,
        row.qualified,
    )
