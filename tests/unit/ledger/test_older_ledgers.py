"""Ledgers of every earlier form are opened and upgraded with all that is in them.

They are made by the steps themselves, up to the revision in question, and filled as the platform of that time did.
"""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory

from services.common.matches import NO_FAULTS, DealScore, MatchOutcome
from services.common.scopes import Scope
from services.ledger import sqlite, upgrade
from services.ledger.ledger import Ledger
from tests.unit.ledger.outcomes import make_outcome

SCRIPT = ScriptDirectory(str(upgrade.MIGRATIONS))
OLDER = sorted(step.revision for step in SCRIPT.walk_revisions())[:-1]
HASH = b"h" * 32
CREATED = 1_780_000_000_000_000


def ledger_of(path: Path, revision: str, outcomes: list[MatchOutcome]) -> None:
    """A ledger as the platform of that revision left it: a bot with a token, a tournament, some results."""
    sqlite.prepare_file(path, timedelta(seconds=1))
    engine = sqlite.make_engine(path, wait=timedelta(seconds=1), read_only=False)
    with engine.connect() as connection, connection.begin():
        config = Config()
        config.set_main_option("script_location", str(upgrade.MIGRATIONS))
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
    engine.dispose()
    with closing(sqlite3.connect(path)) as file, file:
        file.execute(
            "INSERT INTO bots (bot_id, name, owner, version, token_hash, created_at) VALUES ('b-1', 'a', '', '', ?, ?)",
            (HASH, CREATED),
        )
        file.execute("INSERT INTO tournaments VALUES (1, 'cup', 'name: cup', x'73', 'running', '', 5, 6)")
        deals = sum(len(outcome.deals) for outcome in outcomes)
        file.execute("INSERT INTO totals VALUES (1, ?, ?, 7, 0, 0, 0, 0, ?)", (len(outcomes), deals, len(outcomes)))
        for outcome in outcomes:
            insert(file, revision, outcome)


def insert(file: sqlite3.Connection, revision: str, outcome: MatchOutcome) -> None:
    attempt = (outcome.attempt, 1, outcome.number, outcome.match_service, 5, 6, str(outcome.ending), "", "", 7)
    names = "attempt, tournament_id, number, match_service, started_at, ended_at, ending, blamed, message, decisions"
    file.execute(f"INSERT INTO attempts ({names}) VALUES ({', '.join('?' * 10)})", attempt)
    file.execute("INSERT INTO results VALUES (1, ?, ?)", (outcome.number, outcome.attempt))
    for deal in outcome.deals:
        row: dict[str, object] = {"tournament_id": 1, "number": outcome.number, "deal": deal.number}
        row |= {f"points_{seat}": points for seat, points in enumerate(deal.points)}
        row |= {"places": "".join(map(str, deal.places)), "emperor": -1 if deal.emperor is None else deal.emperor}
        row |= {"guard": deal.guard, "solo": deal.solo and deal.solo.name.lower(), "voided": deal.voided}
        if revision >= "0003":
            row |= {f"beans_{seat}": beans for seat, beans in enumerate(deal.beans or [None] * 5)}
        if revision >= "0004":
            row |= {"spoiled": "".join(map(str, deal.spoiled))}
            row |= {f"faults_{seat}": faults for seat, faults in enumerate(deal.faults)}
        file.execute(f"INSERT INTO deals ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", tuple(row.values()))


def as_kept(deal: DealScore, revision: str) -> DealScore:
    """What a ledger of that form knows of a deal: no beans, or nobody who spoiled it."""
    if revision < "0003":
        deal = replace(deal, beans=None)
    return deal if revision >= "0004" else replace(deal, spoiled=(), faults=NO_FAULTS)


@pytest.mark.parametrize("revision", OLDER)
def test_a_ledger_of_an_earlier_form_is_opened_with_all_that_is_in_it(path: Path, revision: str) -> None:
    # given a ledger of that form
    written = [make_outcome(1), make_outcome(2)]
    ledger_of(path, revision, written)

    # when this version opens it
    with Ledger.open(path) as ledger:
        # then results are as they were, with what was kept of a deal then
        kept = [tuple(as_kept(deal, revision) for deal in outcome.deals) for outcome in written]
        assert [result.deals for result in ledger.results("cup")] == kept
        assert ledger.match_record("cup", 1) is None

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

    # and as it was, it is kept
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
    ledger_of(path, OLDER[0], [make_outcome(1)])
    Ledger.open(path).close()
    again = path.with_name("again.db")
    shutil.copy(path.with_name(f"arena.db.revision-{OLDER[0]}"), again)
    with Ledger.open(again) as ledger:
        assert [result.number for result in ledger.results("cup")] == [1]
