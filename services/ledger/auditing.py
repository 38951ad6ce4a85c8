"""Checks a ledger against itself, its records, and what was to be played: whatever does not fit is a `Finding`.

Rows are read in parts, each in a short transaction, so a platform may go on meanwhile and memory does not grow.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

from sqlalchemy import Connection, FromClause, Row, and_, func, select

from bots_sdk.rules.cards import SEATS
from services.common.matches import Ending
from services.ledger import reading, record_checks, tournaments
from services.ledger.final_checks import Recount, final_differences
from services.ledger.ledger import Ledger
from services.ledger.record_checks import Dealt
from services.ledger.schema import attempts, deals, faults, records, results, retractions, totals
from services.ledger.schema import tournaments as tournament_table
from services.ledger.values import Totals, Tournament, TournamentState

PART = 200
"""Results read at once, with their records."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that does not fit: in which tournament (empty: none), where in it, and what."""

    tournament: str
    where: str
    what: str


@dataclass(frozen=True, slots=True)
class Expected:
    """What was to be played: how many matches, and how many deals each."""

    matches: int
    deals: int
    names: Callable[[int], Sequence[str]] | None = None
    """Who was to play a match, by its number and by seat: it may be left out for one that was excluded."""
    decided: Callable[[Ledger], str] | None = None
    """With which message it is finished before all is played, by what the ledger has; empty if it is not. None: it
    never is."""
    dealt: Callable[[int, str], Dealt] | None = None
    """What the cards of a match come from, by its number, in the attempt of this name."""
    qualified: Recount | None = None
    """Who goes on to its final; None if it has none."""


@dataclass(slots=True)
class Seen:
    """How much was looked at."""

    tournaments: int = 0
    results: int = 0
    deals: int = 0
    records: int = 0
    without_record: int = 0


def audit_tournament(
    ledger: Ledger, tournament: Tournament, expected: Expected | None, seen: Seen, *, replay: bool = False
) -> Iterator[Finding]:
    """Everything about one tournament; with `replay` every match is played again by its record."""
    name = tournament.name
    seen.tournaments += 1
    with ledger.reading() as connection:
        tournament_id = tournaments.id_of(connection, name)
    done = 0
    after = -1
    while True:
        with ledger.reading() as connection:
            part = _part(connection, tournament_id, after)
        if not part:
            break
        for match in part:
            done += 1
            seen.results += 1
            seen.deals += len(match.deals)
            seen.records += match.record is not None
            seen.without_record += match.record is None
            for where, what in (
                *_match_findings(match, tournament_id, expected),
                *_record_findings(match, name, expected, replay),
            ):
                yield Finding(name, f"match {match.number}{where}", what)
        after = part[-1].number
    if expected is not None and tournament.state is TournamentState.FINISHED and done != expected.matches:
        yield from (Finding(name, "results", what) for what in _missing(ledger, tournament, expected, done))
    if expected is not None and expected.qualified is not None:
        yield from (Finding(name, "final", what) for what in final_differences(ledger, tournament, expected.qualified))
    with ledger.reading() as connection:
        yield from (Finding(name, where, what) for where, what in _sum_findings(connection, tournament_id))


def _missing(ledger: Ledger, tournament: Tournament, expected: Expected, done: int) -> Iterator[str]:
    """In a few words, if nothing excuses that a finished tournament has only so many results."""
    excused = _excused(ledger, tournament.name, expected)
    if done + excused == expected.matches:
        return
    early = ""
    if expected.decided is not None and tournament.message:
        decided = expected.decided(ledger)
        if decided == tournament.message:
            return
        ends = f"its message should be: {decided}" if decided else "it does not end early"
        early = f"; by the results {ends}"
    but = f", and {excused} left out with bots that were excluded" if excused else ""
    yield f"it is finished with {done} of {expected.matches} matches{but}{early}"


def _excused(ledger: Ledger, name: str, expected: Expected) -> int:
    """How many matches without a result need none, since a bot in them was excluded."""
    excluded = ledger.rulings(name).excluded
    names = expected.names
    if not excluded or names is None:
        return 0
    missing = ledger.done_numbers(name).missing(expected.matches)
    return sum(not excluded.isdisjoint(names(number)) for number in missing)


def audit_references(ledger: Ledger) -> Iterator[Finding]:
    """Rows that refer to what is not there; the database itself should let none come to be."""
    for table, key, target, names in _REFERENCES:
        on = and_(*(left == right for left, right in key))
        statement = select(*names).select_from(table.outerjoin(target, on)).where(key[0][1].is_(None)).limit(100)
        with ledger.reading() as connection:
            for row in connection.execute(statement):
                where = ", ".join(f"{column.name} {value}" for column, value in zip(names, row, strict=True))
                yield Finding("", f"{_name(table)}: {where}", f"there is no such row in {_name(target)}")


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


# --------------------------------------------------------------------------------------------------------- one match


@dataclass(frozen=True, slots=True)
class MatchRows:
    """The rows of one result, as they are; `attempt` has no ending if there is no such attempt."""

    number: int
    attempt: Row[Any]
    deals: list[Row[Any]]
    faults: list[Row[Any]]
    record: bytes | None


def _part(connection: Connection, tournament_id: int, after: int) -> list[MatchRows]:
    heads = connection.execute(
        select(results.c.number.label("match"), results.c.attempt.label("named"), attempts)
        .select_from(results.outerjoin(attempts, results.c.attempt == attempts.c.attempt))
        .where(results.c.tournament_id == tournament_id, results.c.number > after)
        .order_by(results.c.number)
        .limit(PART)
    ).all()
    if not heads:
        return []
    span = (heads[0].match, heads[-1].match)
    of_deals: defaultdict[int, list[Row[Any]]] = defaultdict(list)
    mine = (deals.c.tournament_id == tournament_id, deals.c.number.between(*span))
    for row in connection.execute(select(deals).where(*mine).order_by(deals.c.number, deals.c.deal)):
        of_deals[row.number].append(row)
    of_faults: defaultdict[str, list[Row[Any]]] = defaultdict(list)
    blamed = (
        select(faults)
        .join_from(results, faults, results.c.attempt == faults.c.attempt)
        .where(results.c.tournament_id == tournament_id, results.c.number.between(*span))
        .order_by(faults.c.seat)
    )
    for row in connection.execute(blamed):
        of_faults[row.attempt].append(row)
    kept = select(records.c.number, records.c.record).where(
        records.c.tournament_id == tournament_id, records.c.number.between(*span)
    )
    of_records: dict[int, bytes] = {number: bytes(record) for number, record in connection.execute(kept)}
    return [
        MatchRows(head.match, head, of_deals[head.match], of_faults[head.named], of_records.get(head.match))
        for head in heads
    ]


_Found = Iterator[tuple[str, str]]


def _match_findings(match: MatchRows, tournament_id: int, expected: Expected | None) -> _Found:
    head = match.attempt
    if head.ending is None:
        yield "", f"its attempt {head.named} is not there"
    else:
        if (head.tournament_id, head.number) != (tournament_id, match.number):
            yield "", f"its attempt {head.named} is one at another match"
        if not Ending(head.ending).counts:
            yield "", f"its attempt {head.named} ended as {head.ending}, which does not count"
    numbers = [deal.deal for deal in match.deals]
    if expected is not None:
        if match.number >= expected.matches:
            yield "", f"there is no such match in a schedule of {expected.matches}"
        if numbers != list(range(expected.deals)):
            yield "", f"it has the deals {_listed(numbers)} and should have {expected.deals}, from 0 on"
    elif numbers != list(range(len(numbers))) or not numbers:
        yield "", f"it has the deals {_listed(numbers)}, and they should be some, from 0 on"
    for deal in match.deals:
        yield from ((f", deal {deal.deal}", what) for what in _deal_findings(deal))


def _deal_findings(deal: Row[Any]) -> Iterator[str]:
    points = points_of(deal)
    if sum(points):
        yield f"its points {_listed(points)} add up to {sum(points)}, not to 0"
    if deal.emperor is None:
        if any(points) or deal.places or deal.guard is not None or deal.solo is not None:
            yield "it has no emperor, and yet points, places, a guard or a solo"
        return
    if sorted(deal.places) != list(range(SEATS)):
        yield f"the order of going out is {_listed(deal.places)}, which is not each seat once"
    if not 0 <= deal.emperor < SEATS or (deal.guard is not None and not 0 <= deal.guard < SEATS):
        yield f"emperor {deal.emperor} or guard {deal.guard} is no seat"
    if deal.guard == deal.emperor:
        yield f"seat {deal.guard} is emperor and guard"
    if (deal.guard is None) != (deal.solo is not None):
        yield "an emperor is alone or has a guard, not both or neither"
    settled = [getattr(deal, f"beans_{seat}") for seat in range(SEATS)]
    if None in settled and any(beans is not None for beans in settled):
        yield "some seats have beans and some have none"


def points_of(deal: Row[Any]) -> tuple[int, ...]:
    """The points of a row of `deals`, by seat."""
    return tuple(getattr(deal, f"points_{seat}") for seat in range(SEATS))


def _record_findings(match: MatchRows, tournament: str, expected: Expected | None, replay: bool) -> _Found:
    if match.record is None:
        return
    names, dealt = None, None
    if expected is not None and match.number < expected.matches:
        names = None if expected.names is None else tuple(expected.names(match.number))
        dealt = None if expected.dealt is None else expected.dealt(match.number, match.attempt.named)
    rows = [
        record_checks.DealRow(
            points=points_of(deal),
            places=tuple(deal.places),
            emperor=deal.emperor,
            guard=deal.guard,
            solo=deal.solo and deal.solo.name.lower(),
            beans=tuple(_beans_of(deal)),
            voided=deal.voided,
            spoiled=tuple(deal.spoiled),
            faults=tuple(getattr(deal, f"faults_{seat}") for seat in range(SEATS)),
        )
        for deal in match.deals
    ]
    blamed = {row.seat: (row.timeouts, row.illegal_answers, row.disconnects, row.taken_over) for row in match.faults}
    attempt = match.attempt
    head = record_checks.HeadRow(
        tournament,
        match.number,
        attempt.named,
        attempt.ending,
        blamed,
        blamed=None if attempt.ending is None else tuple(attempt.blamed),
        decisions=attempt.decisions,
        names=names,
        dealt=dealt,
    )
    for what in record_checks.differences(match.record, head, rows, replay=replay):
        yield ", record", what


def _beans_of(deal: Row[Any]) -> Iterator[int]:
    for seat in range(SEATS):
        beans = getattr(deal, f"beans_{seat}")
        if beans is not None:
            yield beans


def _listed(numbers: Sequence[int]) -> str:
    shown = " ".join(map(str, numbers[:12]))
    return f"{shown or 'none'}{' …' if len(numbers) > 12 else ''}"


# --------------------------------------------------------------------------------------------------------------- sums


def _sum_findings(connection: Connection, tournament_id: int) -> _Found:
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


Expectation = Callable[[Tournament], Expected]
"""What says of a tournament what was to be played."""


def audit(
    ledger: Ledger, expectation: Expectation, seen: Seen, *, only: str = "", replay: bool = False
) -> Iterator[Finding]:
    """Everything in a ledger, or about one tournament. Raises PlatformError TOURNAMENT_UNKNOWN."""
    for tournament in all_tournaments(ledger, only):
        expected = None
        try:
            expected = expectation(tournament)
        except ValueError as error:
            yield Finding(tournament.name, "specification", f"it cannot be read: {error}")
        try:
            yield from audit_tournament(ledger, tournament, expected, seen, replay=replay)
        except (ValueError, KeyError, TypeError) as error:
            yield Finding(tournament.name, "rows", f"a row cannot be read: {error!r}")
    if not only:
        yield from audit_references(ledger)


def all_tournaments(ledger: Ledger, only: str = "") -> Iterator[Tournament]:
    """The tournament of that name, or all of them, the newest first."""
    if only:
        yield ledger.tournament(only)
        return
    after = ""
    while True:
        page = ledger.tournaments(after=after)
        yield from page.items
        if not (after := page.after):
            return
