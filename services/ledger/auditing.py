"""Checks a ledger against itself, its records, and what was to be played: whatever does not fit is a `Finding`.

Rows are read in parts, each in a short transaction, so a platform may go on meanwhile and memory does not grow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from services.ledger import tournaments
from services.ledger.expected import Expectation, Expected
from services.ledger.final_checks import final_differences
from services.ledger.ledger import Ledger
from services.ledger.match_checks import match_differences, read_matches
from services.ledger.row_checks import reference_differences, sum_differences
from services.ledger.values import Tournament, TournamentState


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that does not fit: in which tournament (empty: none), where in it, and what."""

    tournament: str
    where: str
    what: str


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
            part = read_matches(connection, tournament_id, after)
        if not part:
            break
        for match in part:
            done += 1
            seen.results += 1
            seen.deals += len(match.deals)
            seen.records += match.record is not None
            seen.without_record += match.record is None
            for where, what in match_differences(match, tournament, tournament_id, expected, replay=replay):
                yield Finding(name, f"match {match.number}{where}", what)
        after = part[-1].number
    if expected is not None and tournament.state is TournamentState.FINISHED and done != expected.matches:
        yield from (Finding(name, "results", what) for what in _missing(ledger, tournament, expected, done))
    if expected is not None and expected.qualified is not None:
        yield from (Finding(name, "final", what) for what in final_differences(ledger, tournament, expected.qualified))
    with ledger.reading() as connection:
        yield from (Finding(name, where, what) for where, what in sum_differences(connection, tournament_id))


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
        yield from (Finding("", where, what) for where, what in reference_differences(ledger))


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
