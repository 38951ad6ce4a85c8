"""Reading and writing what operators decided in the course of a tournament, within a transaction of the caller."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, delete, func, insert, select, update

from services.common.errors import PlatformError, Reason
from services.ledger import reading, tournaments
from services.ledger.schema import deals, exclusions, records, results, retractions, totals
from services.ledger.schema import tournaments as tournament_table
from services.ledger.values import Exclusion, Rulings


def read(connection: Connection, tournament: str) -> Rulings:
    tournament_id = tournaments.id_of(connection, tournament)
    rows = connection.execute(
        select(exclusions).where(exclusions.c.tournament_id == tournament_id).order_by(exclusions.c.name)
    )
    in_flight = connection.execute(
        select(tournament_table.c.in_flight).where(tournament_table.c.id == tournament_id)
    ).scalar_one()
    return Rulings(
        tuple(Exclusion(row.name, row.annulled, row.reason, row.excluded_at, row.at_final) for row in rows),
        in_flight=in_flight,
    )


def exclude(connection: Connection, tournament: str, exclusion: Exclusion, *, unless_excluded: bool = False) -> None:
    """The last word counts; the same again changes nothing, so that who asks twice has not acted twice."""
    tournament_id = tournaments.id_of(connection, tournament, hold=True)
    mine = (exclusions.c.tournament_id == tournament_id, exclusions.c.name == exclusion.name)
    found = connection.execute(select(exclusions.c.annulled, exclusions.c.reason).where(*mine)).first()
    values = {"annulled": exclusion.annulled, "reason": exclusion.reason, "excluded_at": exclusion.at}
    if found is None:
        connection.execute(insert(exclusions).values(tournament_id=tournament_id, name=exclusion.name, **values))
    elif not unless_excluded and (found.annulled, found.reason) != (exclusion.annulled, exclusion.reason):
        connection.execute(update(exclusions).where(*mine).values(**values))


def keep_at_final(connection: Connection, tournament: str) -> None:
    """It is decided now who plays the final: what rests on the exclusions as they are is to be computed again later."""
    mine = exclusions.c.tournament_id == tournaments.id_of(connection, tournament)
    connection.execute(update(exclusions).where(mine).values(at_final=exclusions.c.annulled))


def set_in_flight(connection: Connection, tournament: str, in_flight: int | None) -> None:
    tournament_id = tournaments.id_of(connection, tournament, hold=True)
    connection.execute(
        update(tournament_table).where(tournament_table.c.id == tournament_id).values(in_flight=in_flight)
    )


def retract(
    connection: Connection, tournament: str, number: int, sharing: Collection[int], row: dict[str, object]
) -> bool:
    """Takes a result back, so that the match is to be played again; whether there was one.

    Only while its deals are secret: once all matches `sharing` them have results, everybody may have seen them.
    """
    tournament_id = tournaments.id_of(connection, tournament, hold=True)
    mine = (results.c.tournament_id == tournament_id, results.c.number == number)
    attempt = connection.execute(select(results.c.attempt).where(*mine)).scalar()
    if attempt is None:
        return False
    if reading.done_among(connection, tournament_id, sharing) >= set(sharing):
        raise PlatformError(
            Reason.STATE_CONFLICT,
            f"Match {number} of {tournament!r} cannot be played again: all matches with its deals have results, so the "
            "deals are known. Exclude the bot whose fault it is instead.",
            tournament=tournament,
            number=str(number),
        )
    before = reading.recount_match(connection, tournament_id, number)
    record = reading.record_of(connection, tournament_id, number)
    connection.execute(
        insert(retractions).values(attempt=attempt, tournament_id=tournament_id, number=number, record=record, **row)
    )
    for table in (records, deals, results):
        connection.execute(delete(table).where(table.c.tournament_id == tournament_id, table.c.number == number))
    changes = {name: totals.c[name] - count for name, count in before.items() if count}
    connection.execute(update(totals).where(totals.c.tournament_id == tournament_id).values(changes))
    return True


def retracted_count(connection: Connection, tournament_id: int) -> int:
    counted = select(func.count()).select_from(retractions).where(retractions.c.tournament_id == tournament_id)
    return int(connection.execute(counted).scalar_one())
