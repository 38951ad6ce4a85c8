"""Checks the rows of one result: against each other, its record, and what was to be played."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, select

from bots_sdk.rules.cards import SEATS
from services.common.matches import Ending
from services.ledger import record_checks
from services.ledger.expected import Expected
from services.ledger.schema import attempts, deals, faults, records, results
from services.ledger.values import Tournament

PART = 200
"""Results read at once, with their records."""


@dataclass(frozen=True, slots=True)
class MatchRows:
    """The rows of one result, as they are; `attempt` has no ending if there is no such attempt."""

    number: int
    attempt: Row[Any]
    deals: list[Row[Any]]
    faults: list[Row[Any]]
    record: bytes | None


def read_matches(connection: Connection, tournament_id: int, after: int) -> list[MatchRows]:
    """The rows of the next results, beyond the number `after`, at most `PART`; none at the end."""
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


def match_differences(
    match: MatchRows, tournament: Tournament, tournament_id: int, expected: Expected | None, *, replay: bool
) -> Iterator[tuple[str, str]]:
    """Where in the match something does not fit, and what; with `replay` it is played again by its record."""
    yield from _head_differences(match, tournament_id, expected)
    for deal in match.deals:
        yield from ((f", deal {deal.deal}", what) for what in _deal_differences(deal))
    if match.record is not None:
        for what in _record_differences(match, match.record, tournament.name, expected, replay):
            yield ", record", what


def _head_differences(match: MatchRows, tournament_id: int, expected: Expected | None) -> Iterator[tuple[str, str]]:
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


def _deal_differences(deal: Row[Any]) -> Iterator[str]:
    points = _points_of(deal)
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


def _points_of(deal: Row[Any]) -> tuple[int, ...]:
    """The points of a row of `deals`, by seat."""
    return tuple(getattr(deal, f"points_{seat}") for seat in range(SEATS))


def _record_differences(
    match: MatchRows, record: bytes, tournament: str, expected: Expected | None, replay: bool
) -> Iterator[str]:
    names, dealt = None, None
    if expected is not None and match.number < expected.matches:
        names = None if expected.names is None else tuple(expected.names(match.number))
        dealt = None if expected.dealt is None else expected.dealt(match.number, match.attempt.named)
    rows = [
        record_checks.DealRow(
            points=_points_of(deal),
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
    yield from record_checks.differences(record, head, rows, replay=replay)


def _beans_of(deal: Row[Any]) -> Iterator[int]:
    for seat in range(SEATS):
        beans = getattr(deal, f"beans_{seat}")
        if beans is not None:
            yield beans


def _listed(numbers: Sequence[int]) -> str:
    shown = " ".join(map(str, numbers[:12]))
    return f"{shown or 'none'}{' …' if len(numbers) > 12 else ''}"
