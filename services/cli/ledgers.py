"""`baohuang ledger check | export`: a ledger checked against itself, and its tables as files, without a platform."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from services.cli.errors import CommandFailed, plain_errors, sentence
from services.cli.ledger_choice import chosen_ledger, ledger_options

if TYPE_CHECKING:
    from services.common.qualifiers import Qualifier
    from services.ledger.expected import Expected
    from services.ledger.exporting import LineUp
    from services.ledger.ledger import Ledger
    from services.ledger.values import Exclusion, Tournament
    from services.tournament.director.scheduled import ScheduledFixtures
    from services.tournament.schedule import Timetable
    from services.tournament.spec import TournamentSpec

EXIT_FOUND = 3
"""The ledger could be read, and something in it does not fit."""

FORMATS = ("csv", "jsonl", "parquet")


@click.group()
def ledger() -> None:
    """Check a ledger, or write its tables to files; the platform may be running or not."""


@ledger.command()
@ledger_options
@click.option("--tournament", default="", metavar="NAME", help="Only this one.")
@click.option("--replay", is_flag=True, help="Play every match again by its record: some milliseconds each.")
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON for each thing found, for scripts.")
def check(data: Path | None, ledger: str | None, tournament: str, replay: bool, as_json: bool) -> None:
    """Compute again what follows from what: attempts, results, deals, points, sums, records, who went on to a final.

    Exit code 0: everything fits. 3: something does not, and each line says where and what. 1: it cannot be read. Run it
    with the platform stopped to be sure that what is written in between does not look like a fault.
    """
    from services.cli import tables
    from services.ledger.auditing import Seen, audit
    from services.ledger.ledger import Access, Ledger

    found = 0
    seen = Seen()
    with plain_errors():
        place = chosen_ledger(data, ledger).ledger_place
        with Ledger.open(place, access=Access.READER) as opened:
            for one in audit(opened, expected_of, seen, only=tournament, replay=replay):
                found += 1
                if as_json:
                    line = {"tournament": one.tournament, "where": one.where, "what": one.what}
                    tables.print_json(tables.make_console(), line)
                else:
                    click.echo(f"{one.tournament + ': ' if one.tournament else ''}{one.where}: {one.what}")
    without = f", {seen.without_record} results have none" if seen.without_record else ""
    looked_at = (
        f"{seen.tournaments} tournaments, {seen.results} results, {seen.deals} deals, {seen.records} records"
        f"{' played again' if replay else ''}{without}"
    )
    if found:
        click.echo(f"{f'{found} things do' if found > 1 else 'One thing does'} not fit ({looked_at}).", err=True)
        raise click.exceptions.Exit(EXIT_FOUND)
    click.echo(f"Everything fits: {looked_at}.", err=True)


@ledger.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@ledger_options
@click.option("--format", "form", type=click.Choice(FORMATS), default="csv", show_default=True, help="Kind of files.")
@click.option("--tournament", default="", metavar="NAME", help="Only this one.")
def export(folder: Path, data: Path | None, ledger: str | None, form: str, tournament: str) -> None:
    """Write tournaments, results, deals, attempts, faults, entries and what was decided to files in FOLDER.

    There is one for each table; docs/operating.md names their columns. Secrets, tokens and records are not among them,
    and no file is replaced.
    """
    from services.ledger.export_files import Format, verify_format, write_table
    from services.ledger.exporting import FORMS, rows_of
    from services.ledger.ledger import Access, Ledger

    with plain_errors():
        verify_format(Format(form))
        place = chosen_ledger(data, ledger).ledger_place
        with Ledger.open(place, access=Access.READER) as opened:
            if tournament:
                opened.tournament(tournament)
            try:
                folder.mkdir(parents=True, exist_ok=True)
                for table in FORMS:
                    path = folder / f"{table.name}.{form}"
                    count = write_table(path, table, rows_of(opened, table, _line_ups, tournament), Format(form))
                    click.echo(f"{path}: {count} rows", err=True)
            except ValueError as error:
                raise CommandFailed(f"A specification cannot be read, and so not who sat where: {error}.") from None
            except OSError as error:
                what = f"{error.filename or folder} cannot be written: {error.strerror}."
                raise CommandFailed(sentence(what, "Name another folder, or make room.")) from None


def expected_of(tournament: Tournament) -> Expected:
    """What the specification of a tournament says. Raises ValueError if it cannot be read."""
    from services.ledger.expected import Expected
    from services.ledger.record_checks import Dealt
    from services.tournament.schedule import PoolSchedule
    from services.tournament.servicer.plans import spec_of
    from services.tournament.servicer.promotion import qualify_from
    from services.tournament.servicer.stopping import decided_by

    spec = spec_of(tournament)
    if spec.entries is not None:  # it was never started
        return Expected(0, spec.deals)
    schedule, fixtures = _scheduled(tournament, spec)

    def dealt(number: int, attempt: str) -> Dealt:
        order = fixtures.order(number, attempt)
        return Dealt(order.secret, order.nonce, order.suits)

    def qualified(ledger: Ledger, exclusions: Sequence[Exclusion]) -> Sequence[Qualifier]:
        assert isinstance(schedule, PoolSchedule)
        return qualify_from(ledger, spec, schedule, exclusions)

    return Expected(
        len(schedule),
        spec.deals,
        lambda number: [seat.name for seat in fixtures.seats(number)],
        decided=None if spec.stop is None else lambda ledger: decided_by(ledger, spec, schedule),
        dealt=dealt,
        qualified=qualified if isinstance(schedule, PoolSchedule) else None,
    )


def _line_ups(tournament: Tournament) -> Callable[[int], LineUp]:
    """Who plays in which match, from the schedule. Raises ValueError if the specification cannot be read."""
    from services.ledger.exporting import LineUp
    from services.tournament.servicer.plans import spec_of

    schedule, fixtures = _scheduled(tournament, spec_of(tournament))

    def line_up(number: int) -> LineUp:
        return LineUp(schedule.place(number)[0], tuple(seat.name for seat in fixtures.seats(number)))

    return line_up


def _scheduled(tournament: Tournament, spec: TournamentSpec) -> tuple[Timetable, ScheduledFixtures]:
    """Its schedule, and its matches as they are dealt; the ids of bots do not matter here."""
    from services.tournament.director.scheduled import ScheduledFixtures
    from services.tournament.schedule import tournament_secret
    from services.tournament.servicer.plans import timetable_of

    schedule = timetable_of(tournament)
    secret = tournament_secret(tournament.secret.decode())
    return schedule, ScheduledFixtures(spec, schedule, secret, dict.fromkeys(spec.bots, ""))
