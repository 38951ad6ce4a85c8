"""Reading what was played: results in the order of the schedule, attempts, and sums."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import groupby
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, Row, Select, and_, func, select

from services.common.matches import NO_FAULTS, DealScore, SeatFaults
from services.ledger.schema import attempts, deals, faults, records, results, totals
from services.ledger.values import Attempt, PastAttempt, Result, Totals

_NONE = SeatFaults()
_Among = Callable[[Column[int]], ColumnElement[bool]]
"""Of a column with numbers of matches: which are meant."""
_TOTALS = [column for column in totals.columns if not column.primary_key]


def results_after(connection: Connection, tournament_id: int, after: int, limit: int) -> list[Result]:
    """The next results by number, at most `limit`."""
    rows = connection.execute(_played(tournament_id).where(results.c.number > after).limit(limit)).all()
    if not rows:
        return []
    first, last = rows[0].number, rows[-1].number
    return _complete(connection, tournament_id, rows, lambda number: number.between(first, last))


def results_of(connection: Connection, tournament_id: int, numbers: Collection[int]) -> list[Result]:
    """The results of those of the numbers that have one, by number."""
    rows = connection.execute(_played(tournament_id).where(results.c.number.in_(numbers))).all()
    return _complete(connection, tournament_id, rows, lambda number: number.in_(numbers))


def record_of(connection: Connection, tournament_id: int, number: int) -> bytes | None:
    """The record of one match as it was handed in; None if there is none."""
    found: bytes | None = connection.execute(
        select(records.c.record).where(records.c.tournament_id == tournament_id, records.c.number == number)
    ).scalar()
    return found


def done_numbers(connection: Connection, tournament_id: int, span: range | None = None) -> Iterator[int]:
    """The numbers of the matches that have results, ascending; with a span those in it."""
    statement = select(results.c.number).where(results.c.tournament_id == tournament_id).order_by(results.c.number)
    if span is not None:
        statement = statement.where(results.c.number >= span.start, results.c.number < span.stop)
    return iter(connection.execute(statement).scalars())


def done_counts(connection: Connection, tournament_id: int, span: range, size: int) -> dict[int, int]:
    """How many matches of the span have results, for every `size` numbers: by number // size, where there are any.

    The database counts along its key; what is handed over is one row for so many matches.
    """
    part = (results.c.number // size).label("part")
    rows = connection.execute(
        select(part, func.count())
        .where(results.c.tournament_id == tournament_id, results.c.number >= span.start, results.c.number < span.stop)
        .group_by(part)
    )
    return dict(rows.all())


def done_among(connection: Connection, tournament_id: int, numbers: Collection[int]) -> set[int]:
    """Those of the numbers that have results."""
    statement = select(results.c.number).where(results.c.tournament_id == tournament_id, results.c.number.in_(numbers))
    return set(connection.execute(statement).scalars())


def attempts_at(connection: Connection, tournament_id: int, number: int) -> list[Attempt]:
    """What was tried for one match, in the order of starting."""
    rows = connection.execute(
        select(attempts)
        .where(attempts.c.tournament_id == tournament_id, attempts.c.number == number)
        .order_by(attempts.c.started_at, attempts.c.attempt)
    )
    return [
        Attempt(
            number=row.number,
            attempt=row.attempt,
            ending=row.ending,
            blamed=row.blamed,
            message=row.message,
            started_at=row.started_at,
            ended_at=row.ended_at,
            match_service=row.match_service,
        )
        for row in rows
    ]


def past_attempts(connection: Connection, tournament_id: int, most: int) -> list[PastAttempt]:
    """What ended last, in the order of ending."""
    columns = ("attempt", "number", "ending", "blamed", "started_at", "ended_at")
    last = (
        select(*(attempts.c[name] for name in columns))
        .where(attempts.c.tournament_id == tournament_id)
        .order_by(attempts.c.ended_at.desc(), attempts.c.attempt.desc())
        .limit(most)
        .subquery()
    )
    taken_over = and_(faults.c.attempt == last.c.attempt, faults.c.taken_over)
    rows = connection.execute(
        select(last, faults.c.seat)
        .select_from(last.outerjoin(faults, taken_over))
        .order_by(last.c.ended_at, last.c.attempt, faults.c.seat)
    )
    return [
        PastAttempt(
            first.number,
            first.ending,
            first.blamed,
            tuple(row.seat for row in (first, *rest) if row.seat is not None),
            first.started_at,
            first.ended_at,
        )
        for first, *rest in (list(same) for _, same in groupby(rows, lambda row: row.attempt))
    ]


def totals_of(connection: Connection, tournament_id: int) -> Totals:
    """The sums that are kept."""
    row = connection.execute(select(*_TOTALS).where(totals.c.tournament_id == tournament_id)).one()
    return Totals(**row._mapping)


def recount(connection: Connection, tournament_id: int) -> Totals:
    """The same sums from the rows themselves."""
    played = results.join(attempts, results.c.attempt == attempts.c.attempt)
    mine = results.c.tournament_id == tournament_id
    matches, decisions = connection.execute(
        select(func.count(), func.coalesce(func.sum(attempts.c.decisions), 0)).select_from(played).where(mine)
    ).one()
    blamed = ("timeouts", "illegal_answers", "disconnects")
    sums = connection.execute(
        select(
            *(func.coalesce(func.sum(faults.c[name]), 0) for name in blamed),
            func.count().filter(faults.c.taken_over),
        )
        .select_from(results.join(faults, results.c.attempt == faults.c.attempt))
        .where(mine)
    ).one()
    return Totals(
        matches=matches,
        deals=connection.execute(select(func.count()).where(deals.c.tournament_id == tournament_id)).scalar_one(),
        decisions=decisions,
        timeouts=sums[0],
        illegal_answers=sums[1],
        disconnects=sums[2],
        takeovers=sums[3],
        attempts=connection.execute(select(func.count()).where(attempts.c.tournament_id == tournament_id)).scalar_one(),
    )


def recount_match(connection: Connection, tournament_id: int, number: int) -> dict[str, int]:
    """What the result of one match adds to the sums, by the names of `Totals`."""
    (result,) = results_after(connection, tournament_id, number - 1, 1)
    assert result.number == number
    return {
        "matches": 1,
        "deals": len(result.deals),
        "decisions": result.decisions,
        "timeouts": sum(what.timeouts for what in result.faults),
        "illegal_answers": sum(what.illegal_answers for what in result.faults),
        "disconnects": sum(what.disconnects for what in result.faults),
        "takeovers": sum(what.taken_over for what in result.faults),
    }


def _played(tournament_id: int) -> Select[Any]:
    """Results with their attempts, by number."""
    return (
        select(results.c.number, attempts)
        .join_from(results, attempts, results.c.attempt == attempts.c.attempt)
        .where(results.c.tournament_id == tournament_id)
        .order_by(results.c.number)
    )


def _complete(connection: Connection, tournament_id: int, rows: Sequence[Row[Any]], among: _Among) -> list[Result]:
    """The results of some rows, with their deals and faults."""
    scores = _scores(connection, tournament_id, among)
    blunders = _faults(connection, tournament_id, among)
    return [_result(row, scores[row.number], blunders[row.number]) for row in rows]


def _scores(connection: Connection, tournament_id: int, among: _Among) -> defaultdict[int, list[DealScore]]:
    found: defaultdict[int, list[DealScore]] = defaultdict(list)
    columns = [column for column in deals.columns if column is not deals.c.tournament_id]
    rows = connection.execute(
        select(*columns)
        .where(deals.c.tournament_id == tournament_id, among(deals.c.number))
        .order_by(deals.c.number, deals.c.deal)
    )
    for number, deal, p0, p1, p2, p3, p4, places, emperor, guard, solo, voided, *rest in rows:
        b0, b1, b2, b3, b4, spoiled, f0, f1, f2, f3, f4 = rest
        beans = None if b0 is None else (b0, b1, b2, b3, b4)
        # Deals from before faults were kept by deal have none.
        wrong = (f0, f1, f2, f3, f4) if f0 or f1 or f2 or f3 or f4 else NO_FAULTS
        points = (p0, p1, p2, p3, p4)
        found[number].append(DealScore(deal, points, places, emperor, guard, solo, voided, beans, spoiled, wrong))
    return found


def _faults(connection: Connection, tournament_id: int, among: _Among) -> defaultdict[int, dict[int, SeatFaults]]:
    found: defaultdict[int, dict[int, SeatFaults]] = defaultdict(dict)
    rows = connection.execute(
        select(results.c.number, faults)
        .join_from(results, faults, results.c.attempt == faults.c.attempt)
        .where(results.c.tournament_id == tournament_id, among(results.c.number))
    )
    for row in rows:
        found[row.number][row.seat] = SeatFaults(row.timeouts, row.illegal_answers, row.disconnects, row.taken_over)
    return found


def _result(row: Row[Any], scores: list[DealScore], blunders: dict[int, SeatFaults]) -> Result:
    none = _NONE
    return Result(
        number=row.number,
        attempt=row.attempt,
        ending=row.ending,
        blamed=row.blamed,
        deals=tuple(scores),
        faults=(
            blunders.get(0, none),
            blunders.get(1, none),
            blunders.get(2, none),
            blunders.get(3, none),
            blunders.get(4, none),
        ),
        decisions=row.decisions,
        started_at=row.started_at,
        ended_at=row.ended_at,
        match_service=row.match_service,
    )
