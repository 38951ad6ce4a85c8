"""Writing outcomes: one row for every attempt, and one result for every scheduled match, whatever is sent again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeVar

from sqlalchemy import Column, Connection, Table, insert, select, update

from bots_sdk.rules.cards import SEATS
from services.common.matches import MatchOutcome
from services.ledger import tournaments
from services.ledger.schema import attempts, deals, faults, records, results, totals
from services.ledger.values import Recorded

T = TypeVar("T")

_LOOK_UPS = 500  # values in one statement: databases have a limit


@dataclass(slots=True)
class _Sorted:
    """The outcomes of one call by what becomes of them."""

    new: list[MatchOutcome] = field(default_factory=list)
    void: list[MatchOutcome] = field(default_factory=list)
    duplicates: list[MatchOutcome] = field(default_factory=list)
    attempts: list[MatchOutcome] = field(default_factory=list)


def record(connection: Connection, outcomes: Sequence[MatchOutcome]) -> Recorded:
    """Writes what is new, in a transaction that keeps other writers out; the primary keys would stop them anyway."""
    ids = {name: tournaments.id_of(connection, name, hold=True) for name in sorted({o.tournament for o in outcomes})}
    sorted_ = _sort(connection, ids, outcomes)
    _insert(connection, attempts, (_attempt_row(ids[o.tournament], o) for o in sorted_.attempts))
    _insert(connection, faults, (row for o in sorted_.attempts for row in _fault_rows(o)))
    _insert(connection, results, (_result_row(ids[o.tournament], o) for o in sorted_.new))
    _insert(connection, deals, (row for o in sorted_.new for row in _deal_rows(ids[o.tournament], o)))
    _insert(connection, records, (_record_row(ids[o.tournament], o) for o in sorted_.new if o.record))
    for name, tournament_id in ids.items():
        _count(connection, name, tournament_id, sorted_)
    return Recorded(tuple(sorted_.new), tuple(sorted_.void), tuple(sorted_.duplicates), len(sorted_.attempts))


def _sort(connection: Connection, ids: dict[str, int], outcomes: Sequence[MatchOutcome]) -> _Sorted:
    known = set(_present(connection, attempts.c.attempt, (outcome.attempt for outcome in outcomes)))
    done: dict[str, set[int]] = {}
    for name, tournament_id in ids.items():
        numbers = (outcome.number for outcome in outcomes if outcome.tournament == name and outcome.ending.counts)
        done[name] = set(_present(connection, results.c.number, numbers, tournament_id))
    sorted_ = _Sorted()
    for outcome in outcomes:
        if outcome.attempt in known:
            sorted_.duplicates.append(outcome)
            continue
        known.add(outcome.attempt)
        sorted_.attempts.append(outcome)
        if not outcome.ending.counts:
            sorted_.void.append(outcome)
        elif outcome.number in done[outcome.tournament]:
            sorted_.duplicates.append(outcome)
        else:
            done[outcome.tournament].add(outcome.number)
            sorted_.new.append(outcome)
    return sorted_


def _present(
    connection: Connection, column: Column[T], values: Iterable[Hashable], tournament_id: int | None = None
) -> Iterator[T]:
    """Those of the values that stand in the column."""
    rest = iter(dict.fromkeys(values))
    while some := list(islice(rest, _LOOK_UPS)):
        statement = select(column).where(column.in_(some))
        if tournament_id is not None:
            statement = statement.where(results.c.tournament_id == tournament_id)
        yield from connection.execute(statement).scalars()


def _insert(connection: Connection, table: Table, rows: Iterable[dict[str, object]]) -> None:
    if batch := list(rows):
        connection.execute(insert(table), batch)


def _attempt_row(tournament_id: int, outcome: MatchOutcome) -> dict[str, object]:
    return {
        "attempt": outcome.attempt,
        "tournament_id": tournament_id,
        "number": outcome.number,
        "match_service": outcome.match_service,
        "started_at": outcome.started_at,
        "ended_at": outcome.ended_at,
        "ending": outcome.ending,
        "blamed": outcome.blamed,
        "message": outcome.message,
        "decisions": outcome.decisions,
    }


def _fault_rows(outcome: MatchOutcome) -> Iterator[dict[str, object]]:
    for seat, what in enumerate(outcome.faults):
        if what.total or what.disconnects:
            yield {
                "attempt": outcome.attempt,
                "seat": seat,
                "timeouts": what.timeouts,
                "illegal_answers": what.illegal_answers,
                "disconnects": what.disconnects,
                "taken_over": what.taken_over,
            }


def _result_row(tournament_id: int, outcome: MatchOutcome) -> dict[str, object]:
    return {"tournament_id": tournament_id, "number": outcome.number, "attempt": outcome.attempt}


def _record_row(tournament_id: int, outcome: MatchOutcome) -> dict[str, object]:
    return {"tournament_id": tournament_id, "number": outcome.number, "record": outcome.record}


def _deal_rows(tournament_id: int, outcome: MatchOutcome) -> Iterator[dict[str, object]]:
    for deal in outcome.deals:
        row: dict[str, object] = {
            "tournament_id": tournament_id,
            "number": outcome.number,
            "deal": deal.number,
            "places": deal.places,
            "emperor": deal.emperor,
            "guard": deal.guard,
            "solo": deal.solo,
            "voided": deal.voided,
            "spoiled": deal.spoiled,
        }
        row.update((f"points_{seat}", points) for seat, points in enumerate(deal.points))
        row.update((f"beans_{seat}", beans) for seat, beans in enumerate(deal.beans or (None,) * SEATS))
        row.update((f"faults_{seat}", count) for seat, count in enumerate(deal.faults))
        yield row


def _count(connection: Connection, name: str, tournament_id: int, sorted_: _Sorted) -> None:
    """Adds what was written to the totals of one tournament."""
    more: defaultdict[str, int] = defaultdict(int)
    more["attempts"] = sum(outcome.tournament == name for outcome in sorted_.attempts)
    for outcome in sorted_.new:
        if outcome.tournament == name:
            more["matches"] += 1
            more["deals"] += len(outcome.deals)
            more["decisions"] += outcome.decisions
            for what in outcome.faults:
                more["timeouts"] += what.timeouts
                more["illegal_answers"] += what.illegal_answers
                more["disconnects"] += what.disconnects
                more["takeovers"] += what.taken_over
    changes = {column: totals.c[column] + count for column, count in more.items() if count}
    if changes:
        connection.execute(update(totals).where(totals.c.tournament_id == tournament_id).values(changes))
