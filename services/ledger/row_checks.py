"""Checks the tables of a ledger against each other: what refers to what, and the sums that are kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any

from sqlalchemy import Connection, FromClause, and_, func, select

from services.common.matches import Ending
from services.ledger import reading
from services.ledger.ledger import Ledger
from services.ledger.schema import attempts, deals, faults, records, results, retractions, totals
from services.ledger.schema import tournaments as tournament_table
from services.ledger.values import Totals


def sum_differences(connection: Connection, tournament_id: int) -> Iterator[tuple[str, str]]:
    """Attempts of a tournament that count and have no result, and sums that are not what their rows come to."""
    lost = (
        select(attempts.c.attempt, attempts.c.number)
        .select_from(
            attempts.outerjoin(
                results,
                and_(results.c.tournament_id == attempts.c.tournament_id, results.c.number == attempts.c.number),
            )
        )
        .where(
            attempts.c.tournament_id == tournament_id,
            attempts.c.ending.in_([ending for ending in Ending if ending.counts]),
            results.c.number.is_(None),
            # What was taken back waits for another attempt, or for none where the match was left out since.
            attempts.c.attempt.not_in(
                select(retractions.c.attempt).where(retractions.c.tournament_id == tournament_id)
            ),
        )
        .limit(100)
    )
    for attempt, number in connection.execute(lost):
        yield f"match {number}", f"the attempt {attempt} counts, and the match has no result"
    kept = connection.execute(select(func.count()).where(totals.c.tournament_id == tournament_id)).scalar_one()
    if not kept:
        yield "totals", "there are none"
        return
    found, counted = reading.totals_of(connection, tournament_id), reading.recount(connection, tournament_id)
    for one in fields(Totals):
        if (a := getattr(found, one.name)) != (b := getattr(counted, one.name)):
            yield "totals", f"{one.name} is {a}, and the rows come to {b}"


def reference_differences(ledger: Ledger) -> Iterator[tuple[str, str]]:
    """Rows that refer to what is not there; the database itself should let none come to be."""
    for table, key, target, names in _REFERENCES:
        on = and_(*(left == right for left, right in key))
        statement = select(*names).select_from(table.outerjoin(target, on)).where(key[0][1].is_(None)).limit(100)
        with ledger.reading() as connection:
            for row in connection.execute(statement):
                where = ", ".join(f"{column.name} {value}" for column, value in zip(names, row, strict=True))
                yield f"{_name(table)}: {where}", f"there is no such row in {_name(target)}"


def _name(table: FromClause) -> str:
    return str(getattr(table, "name", table))


_Keys = list[tuple[Any, Any]]
_REFERENCES: Sequence[tuple[FromClause, _Keys, FromClause, Sequence[Any]]] = (
    (
        *(attempts, [(attempts.c.tournament_id, tournament_table.c.id)], tournament_table),
        (attempts.c.attempt, attempts.c.tournament_id),
    ),
    (
        *(results, [(results.c.tournament_id, tournament_table.c.id)], tournament_table),
        (results.c.tournament_id, results.c.number),
    ),
    (faults, [(faults.c.attempt, attempts.c.attempt)], attempts, (faults.c.attempt, faults.c.seat)),
    *(
        (
            table,
            [(table.c.tournament_id, results.c.tournament_id), (table.c.number, results.c.number)],
            results,
            (table.c.tournament_id, table.c.number),
        )
        for table in (deals, records)
    ),
)
