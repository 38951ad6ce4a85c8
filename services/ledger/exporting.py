"""What of a ledger is given out as tables, row by row: tournaments, who entered, what was played and what decided.

No secret, no hash of a token and no record is among the columns, and each column is named here: a new one in the
database is not given out by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any

from sqlalchemy import Row, Select, select, tuple_

from bots_sdk.rules.cards import SEATS
from services.common.matches import DealScore
from services.ledger import tournaments
from services.ledger.auditing import all_tournaments
from services.ledger.ledger import Ledger
from services.ledger.schema import attempts, faults, retractions
from services.ledger.values import Result, Tournament

PART = 500
"""Rows read at once."""

Value = str | int | bool | datetime | None


class Kind(Enum):
    """What is in a column; any of it may be missing."""

    TEXT = "text"
    NUMBER = "number"
    SWITCH = "switch"
    MOMENT = "moment"


@dataclass(frozen=True, slots=True)
class TableForm:
    """A table that is given out: its name and its columns."""

    name: str
    columns: tuple[tuple[str, Kind], ...]


def _by_seat(name: str, kind: Kind = Kind.NUMBER) -> tuple[tuple[str, Kind], ...]:
    return tuple((f"{name}_{seat}", kind) for seat in range(SEATS))


_MATCH = (("tournament", Kind.TEXT), ("number", Kind.NUMBER))
_WHEN = (("started_at", Kind.MOMENT), ("ended_at", Kind.MOMENT), ("match_service", Kind.TEXT))

TOURNAMENTS = TableForm(
    "tournaments",
    (
        *(("tournament", Kind.TEXT), ("state", Kind.TEXT), ("message", Kind.TEXT), ("created_at", Kind.MOMENT)),
        *(("updated_at", Kind.MOMENT), ("specification", Kind.TEXT)),
        *((name, Kind.NUMBER) for name in ("matches", "deals", "decisions", "attempts")),
    ),
)
RESULTS = TableForm(
    "results",
    (
        *_MATCH,
        *(("block", Kind.NUMBER), ("attempt", Kind.TEXT), ("ending", Kind.TEXT), ("blamed", Kind.TEXT)),
        *(("decisions", Kind.NUMBER), *_WHEN, *_by_seat("bot", Kind.TEXT), *_by_seat("points"), *_by_seat("faults")),
    ),
)
DEALS = TableForm(
    "deals",
    (
        *_MATCH,
        *(("block", Kind.NUMBER), ("deal", Kind.NUMBER), *_by_seat("bot", Kind.TEXT), *_by_seat("points")),
        *(("places", Kind.TEXT), ("emperor", Kind.NUMBER), ("guard", Kind.NUMBER), ("solo", Kind.TEXT)),
        *(("voided", Kind.NUMBER), *_by_seat("beans"), ("spoiled", Kind.TEXT), *_by_seat("faults")),
    ),
)
ATTEMPTS = TableForm(
    "attempts",
    (
        *_MATCH,
        *(("attempt", Kind.TEXT), ("ending", Kind.TEXT), ("blamed", Kind.TEXT), ("message", Kind.TEXT)),
        *(("decisions", Kind.NUMBER), *_WHEN),
    ),
)
FAULTS = TableForm(
    "faults",
    (
        *_MATCH,
        *(("attempt", Kind.TEXT), ("seat", Kind.NUMBER), ("timeouts", Kind.NUMBER)),
        *(("illegal_answers", Kind.NUMBER), ("disconnects", Kind.NUMBER), ("taken_over", Kind.SWITCH)),
    ),
)

ENTRIES = TableForm(
    "entries",
    (
        *(("tournament", Kind.TEXT), ("bot", Kind.TEXT), ("entered_at", Kind.MOMENT), ("entered_by", Kind.TEXT)),
        *(("left_at", Kind.MOMENT), ("left_by", Kind.TEXT)),
    ),
)
EXCLUSIONS = TableForm(
    "exclusions",
    (
        *(("tournament", Kind.TEXT), ("bot", Kind.TEXT), ("annulled", Kind.SWITCH), ("reason", Kind.TEXT)),
        ("excluded_at", Kind.MOMENT),
    ),
)
RETRACTIONS = TableForm(
    "retractions",
    (*_MATCH, ("attempt", Kind.TEXT), ("reason", Kind.TEXT), ("retracted_at", Kind.MOMENT)),
)

QUALIFIERS = TableForm(
    "qualifiers",
    (
        *(("tournament", Kind.TEXT), ("place", Kind.NUMBER), ("bot", Kind.TEXT)),
        *(("pool", Kind.NUMBER), ("rank", Kind.NUMBER), ("way", Kind.TEXT)),
    ),
)

FORMS = (TOURNAMENTS, RESULTS, DEALS, ATTEMPTS, FAULTS, ENTRIES, EXCLUSIONS, RETRACTIONS, QUALIFIERS)


@dataclass(frozen=True, slots=True)
class LineUp:
    """Who played a match, by seat, and its block: matches of the same block have the same deals."""

    block: int
    bots: tuple[str, ...]


LineUps = Callable[[Tournament], Callable[[int], LineUp]]
"""What says, of each tournament, who sat where in the match of a number."""

Rows = Iterator[tuple[Value, ...]]


def rows_of(ledger: Ledger, form: TableForm, line_ups: LineUps, only: str = "") -> Rows:
    """The rows of a table, all tournaments or one, in the order of tournaments, numbers, deals or starts.

    They are read in parts, each in a transaction of its own. Raises PlatformError TOURNAMENT_UNKNOWN.
    """
    for tournament in all_tournaments(ledger, only):
        if (rows := _ROWS.get(form)) is not None:
            yield from rows(ledger, tournament)
        elif tournament.state.has_begun:  # otherwise there are none, nor anybody who sits anywhere
            line_up = line_ups(tournament)
            for result in ledger.results(tournament.name):
                seated = line_up(result.number)
                if form is RESULTS:
                    yield _result_row(tournament.name, result, seated)
                else:
                    yield from (_deal_row(tournament.name, result.number, seated, deal) for deal in result.deals)


def _tournament_rows(ledger: Ledger, tournament: Tournament) -> Rows:
    totals = ledger.totals(tournament.name)
    counts = (totals.matches, totals.deals, totals.decisions, totals.attempts)
    about = (tournament.state, tournament.message, tournament.created_at, tournament.updated_at)
    yield (tournament.name, *about, tournament.spec_yaml, *counts)


def _entry_rows(ledger: Ledger, tournament: Tournament) -> Rows:
    for entry in ledger.entries(tournament.name):
        yield (tournament.name, entry.name, entry.at, entry.by, entry.left_at, entry.left_by)


def _exclusion_rows(ledger: Ledger, tournament: Tournament) -> Rows:
    for one in ledger.rulings(tournament.name).exclusions:
        yield (tournament.name, one.name, one.annulled, one.reason, one.at)


def _qualifier_rows(_: Ledger, tournament: Tournament) -> Rows:
    for place, one in enumerate(tournament.qualified, 1):
        yield (tournament.name, place, one.name, one.pool, one.rank, str(one.way))


def _result_row(tournament: str, result: Result, seated: LineUp) -> tuple[Value, ...]:
    points = result.points if result.deals else (0,) * SEATS
    about = (result.attempt, str(result.ending), _seats(result.blamed), result.decisions)
    when = (result.started_at, result.ended_at, result.match_service)
    blunders = (faults.total for faults in result.faults)
    return (tournament, result.number, seated.block, *about, *when, *seated.bots, *points, *blunders)


def _deal_row(tournament: str, number: int, seated: LineUp, deal: DealScore) -> tuple[Value, ...]:
    solo = None if deal.solo is None else deal.solo.name.lower()
    course = (_seats(deal.places), deal.emperor, deal.guard, solo, deal.voided)
    paid = (*(deal.beans or (None,) * SEATS), _seats(deal.spoiled), *deal.faults)
    return (tournament, number, seated.block, deal.number, *seated.bots, *deal.points, *course, *paid)


def _attempt_rows(ledger: Ledger, tournament: Tournament) -> Rows:
    for row in _by_attempt(ledger, tournament.name, select(attempts)):
        how = (str(row.ending), _seats(row.blamed), row.message, row.decisions)
        yield (tournament.name, row.number, row.attempt, *how, row.started_at, row.ended_at, row.match_service)


def _retraction_rows(ledger: Ledger, tournament: Tournament) -> Rows:
    """Without their records, which are given out nowhere: they tell of deals that were played again."""
    columns = (retractions.c.number, retractions.c.attempt, retractions.c.reason, retractions.c.retracted_at)
    with ledger.reading() as connection:
        mine = retractions.c.tournament_id == tournaments.id_of(connection, tournament.name)
        order = (retractions.c.number, retractions.c.retracted_at)
        rows = connection.execute(select(*columns).where(mine).order_by(*order)).all()
    yield from ((tournament.name, *row) for row in rows)


def _fault_rows(ledger: Ledger, tournament: Tournament) -> Rows:
    columns = (faults.c.seat, faults.c.timeouts, faults.c.illegal_answers, faults.c.disconnects, faults.c.taken_over)
    statement = select(attempts.c.number, attempts.c.attempt, *columns).join_from(
        attempts, faults, faults.c.attempt == attempts.c.attempt
    )
    for row in _by_attempt(ledger, tournament.name, statement, faults.c.seat):
        yield (tournament.name, *row)


_ROWS: dict[TableForm, Callable[[Ledger, Tournament], Rows]] = {
    TOURNAMENTS: _tournament_rows,
    ATTEMPTS: _attempt_rows,
    FAULTS: _fault_rows,
    ENTRIES: _entry_rows,
    EXCLUSIONS: _exclusion_rows,
    RETRACTIONS: _retraction_rows,
    QUALIFIERS: _qualifier_rows,
}
"""The tables in which nobody's seat matters; results and deals say who sat where."""


def _by_attempt(ledger: Ledger, tournament: str, statement: Select[Any], *more: Any) -> Iterator[Row[Any]]:
    """The rows of a statement over attempts in the order of number, attempt and some more columns, read in parts."""
    order = (attempts.c.number, attempts.c.attempt, *more)
    after: Sequence[Any] = ()
    while True:
        with ledger.reading() as connection:
            part = statement.where(attempts.c.tournament_id == tournaments.id_of(connection, tournament))
            if after:
                part = part.where(tuple_(*order) > tuple_(*after))
            rows = connection.execute(part.order_by(*order).limit(PART)).all()
        yield from rows
        if len(rows) < PART:
            return
        after = [rows[-1]._mapping[column] for column in order]


def _seats(seats: Sequence[int]) -> str:
    return "".join(map(str, seats))
