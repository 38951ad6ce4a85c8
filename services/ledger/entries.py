"""Reading and writing who enters a tournament before it is started, within a transaction of the caller."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import Connection, delete, func, insert, select, update

from services.common.errors import PlatformError, Reason
from services.ledger import tournaments
from services.ledger.schema import entries
from services.ledger.schema import tournaments as tournament_table
from services.ledger.values import Entry, Side, Tournament, TournamentState

_NOT_BEGUN = tuple(state for state in TournamentState if not state.has_begun)


def read(connection: Connection, tournament: str) -> tuple[Entry, ...]:
    tournament_id = tournaments.id_of(connection, tournament)
    rows = connection.execute(select(entries).where(entries.c.tournament_id == tournament_id).order_by(entries.c.name))
    return tuple(Entry(row.name, row.entered_at, row.entered_by, row.left_at, row.left_by) for row in rows)


def fill(connection: Connection, tournament: str, names: Collection[str], now: datetime) -> None:
    """Those whom an operator enters with the specification."""
    tournament_id = tournaments.id_of(connection, tournament)
    about = {"tournament_id": tournament_id, "entered_at": now, "entered_by": Side.OPERATOR}
    if names:
        connection.execute(insert(entries), [{**about, "name": name} for name in names])


def enter(connection: Connection, tournament: str, name: str, by: Side, now: datetime, most: int) -> None:
    """The same again changes nothing, so that who asks twice has not acted twice."""
    tournament_id = tournaments.verify_in(connection, tournament, [TournamentState.OPEN], "to be entered")
    mine = (entries.c.tournament_id == tournament_id, entries.c.name == name)
    found = connection.execute(select(entries.c.left_at, entries.c.left_by).where(*mine)).first()
    if found is not None and found.left_at is None:
        return
    if found is not None and (by, found.left_by) == (Side.BOT, Side.OPERATOR):
        raise _refused(tournament, f"An operator has withdrawn {name!r} from {tournament!r}, and can enter it again.")
    still_in = (entries.c.tournament_id == tournament_id, entries.c.left_at.is_(None))
    if connection.execute(select(func.count()).select_from(entries).where(*still_in)).scalar_one() >= most:
        raise _refused(tournament, f"The tournament {tournament!r} is full: it takes {most} entrants.")
    values = {"entered_at": now, "entered_by": by, "left_at": None, "left_by": None}
    if found is None:
        connection.execute(insert(entries).values(tournament_id=tournament_id, name=name, **values))
    else:
        connection.execute(update(entries).where(*mine).values(**values))


def withdraw(connection: Connection, tournament: str, name: str, by: Side, now: datetime) -> None:
    """An operator's word outweighs the bot's own: one that has left by itself is then kept out."""
    tournament_id = tournaments.verify_in(connection, tournament, [TournamentState.OPEN], "to be left")
    mine = (entries.c.tournament_id == tournament_id, entries.c.name == name)
    found = connection.execute(select(entries.c.left_by).where(*mine)).first()
    if found is None:
        message = f"No bot named {name!r} is entered in {tournament!r}."
        raise PlatformError(Reason.BOT_UNKNOWN, message, bots=name, tournament=tournament)
    if found.left_by is None or (by, found.left_by) == (Side.OPERATOR, Side.BOT):
        connection.execute(update(entries).where(*mine).values(left_at=now, left_by=by))


def replace_draft(
    connection: Connection, tournament: str, spec_yaml: str, secret: bytes, names: Collection[str], now: datetime
) -> None:
    tournament_id = tournaments.verify_in(connection, tournament, [TournamentState.DRAFT], "to be changed")
    connection.execute(delete(entries).where(entries.c.tournament_id == tournament_id))
    fill(connection, tournament, names, now)
    values = {"spec_yaml": spec_yaml, "secret": secret, "updated_at": now}
    connection.execute(update(tournament_table).where(tournament_table.c.id == tournament_id).values(**values))


def start(
    connection: Connection, tournament: str, seen: Tournament, entered: Collection[str], spec_yaml: str, now: datetime
) -> None:
    """Only as long as everything is as it was seen: a schedule takes seconds to make, and somebody may have come."""
    tournament_id = tournaments.verify_in(connection, tournament, _NOT_BEGUN, "to be started")
    current = tournaments.named(connection, tournament)
    are_in = {entry.name for entry in read(connection, tournament) if entry.is_in}
    if (current.spec_yaml, current.secret, are_in) != (seen.spec_yaml, seen.secret, set(entered)):
        raise _refused(tournament, f"Who plays in {tournament!r} was changed while it was being started: ask again.")
    values = {"spec_yaml": spec_yaml, "state": TournamentState.RUNNING, "message": "", "updated_at": now}
    connection.execute(update(tournament_table).where(tournament_table.c.id == tournament_id).values(**values))


def _refused(tournament: str, message: str) -> PlatformError:
    return PlatformError(Reason.STATE_CONFLICT, message, tournament=tournament)
