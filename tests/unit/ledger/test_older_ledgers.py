"""Ledgers of every earlier form are opened and upgraded with all that is in them.

They are made by the steps themselves, up to the revision in question, and filled as the platform of that time did.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, MetaData

from services.common.clock import SystemClock
from services.common.matches import NO_FAULTS, DealScore, MatchOutcome
from services.common.scopes import Scope
from services.ledger import upgrade
from services.ledger.database import WRITES, Access
from services.ledger.ledger import Ledger, make_database
from services.ledger.values import TournamentState
from tests.databases.postgres import Cluster
from tests.unit.ledger.outcomes import make_outcome

SCRIPT = ScriptDirectory(str(upgrade.MIGRATIONS))
OLDER = sorted(step.revision for step in SCRIPT.walk_revisions())[:-1]
HASH = b"h" * 32
CREATED = 1_780_000_000_000_000


@pytest.fixture
def nowhere(backend: str, path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """Where there is nothing yet: no file, or a database without tables."""
    if backend == "sqlite":
        yield str(path)
        return
    cluster: Cluster = request.getfixturevalue("cluster")
    with cluster.database() as name:
        yield cluster.socket_url(name)


def ledger_of(place: str, revision: str, outcomes: list[MatchOutcome]) -> None:
    """A ledger as the platform of that revision left it: a bot with a token, a tournament, some results."""
    with closing(make_database(place, Access.PLATFORM, timedelta(seconds=1))) as database:
        database.prepare(Access.PLATFORM, SystemClock())
        with database.engine.connect().execution_options(**{WRITES: True}) as connection, connection.begin():
            config = Config()
            config.set_main_option("script_location", str(upgrade.MIGRATIONS))
            config.attributes["connection"] = connection
            command.upgrade(config, revision)
            database.after_steps(connection)
            fill(connection, revision, outcomes)


def fill(connection: Connection, revision: str, outcomes: list[MatchOutcome]) -> None:
    tables = MetaData()
    tables.reflect(connection)

    def insert(table: str, **row: object) -> None:
        connection.execute(tables.tables[table].insert().values(**row))

    insert("bots", bot_id="b-1", name="a", owner="", version="", token_hash=HASH, created_at=CREATED)
    cup = {"id": 1, "name": "cup", "spec_yaml": "name: cup", "secret": b"s", "message": ""}
    cup["state"] = "open" if revision < "0007" else "running"  # which meant that its bots were waited for
    insert("tournaments", **cup, created_at=5, updated_at=6)
    if revision >= "0006":
        insert("exclusions", tournament_id=1, name="a", annulled=True, reason="", excluded_at=6)
    if revision >= "0008":
        connection.execute(tables.tables["tournaments"].update().values(qualified='[["b", 1, 1, "placed"]]'))
    counts = dict.fromkeys(("timeouts", "illegal_answers", "disconnects", "takeovers"), 0)
    deals = sum(len(outcome.deals) for outcome in outcomes)
    counts |= {"matches": len(outcomes), "deals": deals, "decisions": 7, "attempts": len(outcomes)}
    insert("totals", tournament_id=1, **counts)
    for outcome in outcomes:
        match = {"tournament_id": 1, "number": outcome.number}
        about = {"match_service": outcome.match_service, "started_at": 5, "ended_at": 6, "ending": str(outcome.ending)}
        insert("attempts", **match, attempt=outcome.attempt, **about, blamed="", message="", decisions=7)
        insert("results", **match, attempt=outcome.attempt)
        for deal in outcome.deals:
            row: dict[str, object] = {f"points_{seat}": points for seat, points in enumerate(deal.points)}
            row |= {"places": "".join(map(str, deal.places)), "emperor": -1 if deal.emperor is None else deal.emperor}
            row |= {"guard": deal.guard, "solo": deal.solo and deal.solo.name.lower(), "voided": deal.voided}
            if revision >= "0003":
                row |= {f"beans_{seat}": beans for seat, beans in enumerate(deal.beans or [None] * 5)}
            if revision >= "0004":
                row |= {"spoiled": "".join(map(str, deal.spoiled))}
                row |= {f"faults_{seat}": faults for seat, faults in enumerate(deal.faults)}
            insert("deals", **match, deal=deal.number, **row)


def as_kept(deal: DealScore, revision: str) -> DealScore:
    """What a ledger of that form knows of a deal: no beans, or nobody who spoiled it."""
    if revision < "0003":
        deal = replace(deal, beans=None)
    return deal if revision >= "0004" else replace(deal, spoiled=(), faults=NO_FAULTS)


@pytest.mark.parametrize("revision", OLDER)
def test_a_ledger_of_an_earlier_form_is_opened_with_all_that_is_in_it(nowhere: str, revision: str) -> None:
    # given a ledger of that form
    written = [make_outcome(1), make_outcome(2)]
    ledger_of(nowhere, revision, written)

    # when this version opens it
    with Ledger.open(nowhere) as ledger:
        # then results are as they were, with what was kept of a deal then
        kept = [tuple(as_kept(deal, revision) for deal in outcome.deals) for outcome in written]
        assert [result.deals for result in ledger.results("cup")] == kept
        assert ledger.match_record("cup", 1) is None

        # and who was excluded is; of one whose final was decided it is taken for decided before
        excluded = [(one.name, one.annulled, one.at_final) for one in ledger.rulings("cup").exclusions]
        assert excluded == ([("a", True, True if revision >= "0008" else None)] if revision >= "0006" else [])

        # and it is to be gone on with, without anybody having entered
        assert ledger.tournament("cup").state is TournamentState.RUNNING
        assert ledger.entries("cup") == ()

        # and the bot's token holds, and can be replaced
        bot = ledger.bot_with_token(HASH)
        assert bot is not None
        assert (bot.name, bot.token_since) == ("a", bot.created_at)
        changed = ledger.rotate_token("b-1", b"n" * 32, shown=HASH)
        assert changed is not None
        assert changed.token_since > bot.token_since

        # and what this version writes is there
        new = make_outcome(3, record=b"record")
        ledger.record([new])
        assert next(ledger.results("cup", after=2)).deals == new.deals
        assert ledger.match_record("cup", 3) == b"record"
        ledger.create_access_token("ann", frozenset({Scope.READ}), b"a" * 32)
        assert ledger.access_token_with(b"a" * 32) is not None


@pytest.mark.parametrize("revision", OLDER)
def test_as_it_was_an_earlier_file_is_kept(path: Path, revision: str) -> None:
    ledger_of(str(path), revision, [make_outcome(1), make_outcome(2)])
    Ledger.open(path).close()
    copy = path.with_name(f"arena.db.revision-{revision}")
    with closing(sqlite3.connect(copy)) as file:
        assert file.execute("SELECT version_num FROM alembic_version").fetchall() == [(revision,)]
        assert file.execute("SELECT count(*) FROM results").fetchall() == [(2,)]


def test_the_steps_are_one_line() -> None:
    """Two that follow on the same one would leave no newest form."""
    assert len(SCRIPT.get_heads()) == len(SCRIPT.get_bases()) == 1
    revisions = [step.revision for step in SCRIPT.walk_revisions()]
    assert revisions == sorted(revisions, reverse=True)


def test_a_copy_of_an_earlier_ledger_is_upgraded_in_its_turn(path: Path) -> None:
    ledger_of(str(path), OLDER[0], [make_outcome(1)])
    Ledger.open(path).close()
    again = path.with_name("again.db")
    shutil.copy(path.with_name(f"arena.db.revision-{OLDER[0]}"), again)
    with Ledger.open(again) as ledger:
        assert [result.number for result in ledger.results("cup")] == [1]
