"""Opening a ledger: each way in which it can fail is one typed error in one sentence, and changes nothing."""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
import stat
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from services.common.clock import ManualClock
from services.common.errors import PlatformError, Reason
from services.ledger import sqlite, upgrade
from services.ledger.database import WRITES, Access, Database
from services.ledger.ledger import Ledger, make_database
from tests.unit.ledger.outcomes import make_outcome

HEAD = str(ScriptDirectory(str(upgrade.MIGRATIONS)).get_current_head())

LATER = '''"""A later step, as a later version may have it."""
import sqlalchemy as sa
from alembic import op
revision = "9998"
down_revision = "HEAD"

def upgrade():
    with op.batch_alter_table("tournaments") as table:
        table.add_column(sa.Column("colour", sa.Text, nullable=False, server_default="red"))
        table.alter_column("message", new_column_name="sentence")
'''.replace("HEAD", HEAD)


def database_at(place: str | Path, access: Access = Access.MEMBER) -> Database:
    """What the ledger has below it, to be closed by the test."""
    return make_database(place, access, timedelta(seconds=1))


def refusal(path: Path, access: Access = Access.PLATFORM) -> PlatformError:
    with pytest.raises(PlatformError) as caught:
        Ledger.open(path, access=access, wait=timedelta(milliseconds=20))
    assert str(path) in caught.value.message
    assert caught.value.metadata["ledger"] == str(path)
    return caught.value


def use_ledger(place: str | Path) -> None:
    with Ledger.open(place) as ledger:
        ledger.create_tournament("cup", "name: cup", b"s")
        ledger.record([make_outcome(1), make_outcome(2)])


def used_ledger(path: Path) -> Path:
    use_ledger(path)
    return path


def change(database: Database, statement: str) -> None:
    with database.engine.connect().execution_options(**{WRITES: True}) as connection, connection.begin():
        connection.exec_driver_sql(statement)


def rows(path: Path, statement: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        found = connection.execute(statement).fetchall()
        connection.commit()
        return found


# -------------------------------------------------------------------------------------------- who has it


def test_a_second_platform_is_told_who_has_the_ledger_since_when(path: Path, clock: ManualClock) -> None:
    with Ledger.open(path, clock=clock):
        error = refusal(path)
    assert error.reason is Reason.LEDGER_LOCKED
    assert f"in use by process {os.getpid()} since {clock.now().isoformat(timespec='seconds')}" in error.message
    assert error.metadata["pid"] == str(os.getpid())


def test_a_closed_ledger_can_be_opened_again(place: str) -> None:
    ledger = Ledger.open(place)
    ledger.close()
    ledger.close()
    Ledger.open(place).close()


def test_an_opening_that_failed_holds_no_lock(path: Path) -> None:
    path.write_text("no ledger")
    refusal(path)
    path.unlink()
    Ledger.open(path).close()


def test_members_of_the_platform_write_beside_it(place: str) -> None:
    with Ledger.open(place) as platform, Ledger.open(place, access=Access.MEMBER) as member:
        platform.create_tournament("cup", "", b"s")
        member.record([make_outcome(1)])
        platform.record([make_outcome(1), make_outcome(2)])
        assert list(member.done_numbers("cup")) == [1, 2]


def test_a_reader_reads_beside_the_platform_and_cannot_write(place: str) -> None:
    with Ledger.open(place) as platform, Ledger.open(place, access=Access.READER) as reader:
        platform.create_tournament("cup", "", b"s")
        platform.record([make_outcome(1)])
        assert [result.number for result in reader.results("cup")] == [1]
        with pytest.raises(PlatformError) as caught:
            reader.record([make_outcome(2)])
        assert caught.value.reason is Reason.LEDGER_UNWRITABLE


# -------------------------------------------------------------------------------------------- what is in the place


def test_a_missing_directory_is_named(tmp_path: Path) -> None:
    error = refusal(tmp_path / "nowhere" / "arena.db")
    assert error.reason is Reason.LEDGER_UNWRITABLE
    assert f"there is no directory {tmp_path / 'nowhere'}" in error.message


@pytest.mark.parametrize("access", [Access.MEMBER, Access.READER])
def test_only_the_platform_makes_a_ledger(path: Path, access: Access) -> None:
    assert "there is no such file" in refusal(path, access).message
    assert not path.exists()


@pytest.mark.parametrize("access", list(Access))
@pytest.mark.parametrize("text", ["hello", "# 保皇\n" * 1000])
def test_a_file_that_is_no_ledger_is_left_alone(path: Path, text: str, access: Access) -> None:
    path.write_text(text)
    error = refusal(path, access)
    assert error.reason is Reason.LEDGER_VERSION
    assert "it is no SQLite file" in error.message
    assert path.read_text() == text


def test_the_sqlite_file_of_another_program_is_left_alone(path: Path) -> None:
    rows(path, "CREATE TABLE alembic_version AS SELECT '0001' AS version_num")
    before = path.read_bytes()
    error = refusal(path)
    assert error.reason is Reason.LEDGER_VERSION
    assert "another program" in error.message
    assert path.read_bytes() == before


def test_a_directory_is_no_ledger(path: Path) -> None:
    path.mkdir()
    assert refusal(path).reason is Reason.LEDGER_VERSION


def test_an_empty_file_becomes_a_ledger(path: Path) -> None:
    path.touch()
    with Ledger.open(path) as ledger:
        assert ledger.tournaments().items == ()


def test_a_damaged_ledger_is_said_to_be_damaged(path: Path) -> None:
    used_ledger(path)
    with path.open("r+b") as file:
        file.seek(100)
        file.write(b"\xff" * 20_000)
    error = refusal(path)
    assert error.reason is Reason.LEDGER_UNWRITABLE
    assert "is damaged" in error.message


def test_a_ledger_whose_making_was_cut_short_is_made_again(path: Path) -> None:
    sqlite.prepare_file(path, timedelta(seconds=1))  # and then the machine stopped
    used_ledger(path)


def test_others_on_the_machine_cannot_read_the_secrets_in_it(path: Path) -> None:
    with Ledger.open(path) as ledger:
        ledger.create_tournament("cup", "", b"s")
        files = sorted(path.parent.iterdir())
        assert [file.name for file in files] == ["arena.db", "arena.db-shm", "arena.db-wal", "arena.db.lock"]
        assert {stat.S_IMODE(file.stat().st_mode) & 0o077 for file in files} == {0}


# -------------------------------------------------------------------------------------------- versions


@pytest.mark.parametrize("access", list(Access))
def test_a_newer_ledger_is_refused_and_left_alone(place: str, access: Access) -> None:
    use_ledger(place)
    with closing(database_at(place)) as database:
        change(database, "UPDATE alembic_version SET version_num = '9999'")
        with pytest.raises(PlatformError) as caught:
            Ledger.open(place, access=access)
        error = caught.value
        assert error.reason is Reason.LEDGER_VERSION
        assert error.metadata["revision"] == "9999"
        assert error.metadata["ledger"] == database.place
        assert f"{database.place} has revision 9999" in error.message
        assert f"reads up to {error.metadata['reads']}" in error.message
        assert upgrade.revision_of(database.engine) == "9999"
        change(database, f"UPDATE alembic_version SET version_num = '{HEAD}'")
    with Ledger.open(place) as ledger:
        assert len(list(ledger.results("cup"))) == 2


def test_a_newer_file_is_not_copied(path: Path) -> None:
    rows(used_ledger(path), "UPDATE alembic_version SET version_num = '9999'")
    refusal(path)
    assert [file.name for file in path.parent.iterdir() if "revision" in file.name] == []


@pytest.fixture
def later(tmp_path: Path) -> Path:
    """The steps of a later version: ours and one more."""
    steps = tmp_path / "steps"
    shutil.copytree(upgrade.MIGRATIONS, steps, ignore=shutil.ignore_patterns("__pycache__"))
    (steps / "versions" / "rev_9998_later.py").write_text(LATER)
    return steps


def test_an_older_ledger_is_copied_and_upgraded(path: Path, later: Path, caplog: pytest.LogCaptureFixture) -> None:
    with closing(database_at(used_ledger(path))) as database, caplog.at_level(logging.WARNING):
        upgrade.upgrade(database, later)
        assert upgrade.revision_of(database.engine) == "9998"
    copy = path.with_name(f"arena.db.revision-{HEAD}")
    assert f"it is kept as {copy}" in caplog.text
    assert rows(path, "SELECT name, colour FROM tournaments") == [("cup", "red")]
    assert rows(path, "SELECT count(*) FROM deals") == [(4,)]  # nothing went with the table that was made anew
    with Ledger.open(copy) as old:
        assert [result.deals for result in old.results("cup")] == [make_outcome(1).deals, make_outcome(2).deals]


def test_a_copy_never_replaces_another(path: Path, later: Path) -> None:
    used_ledger(path)
    path.with_name(f"arena.db.revision-{HEAD}").write_text("an earlier copy")
    with closing(database_at(path)) as database:
        upgrade.upgrade(database, later)
    assert path.with_name(f"arena.db.revision-{HEAD}").read_text() == "an earlier copy"
    assert rows(path.with_name(f"arena.db.revision-{HEAD}.1"), "SELECT name FROM tournaments") == [("cup",)]


def test_an_upgrade_that_fails_half_way_changes_nothing(place: str, later: Path) -> None:
    use_ledger(place)
    (later / "versions" / "rev_9998_later.py").write_text(LATER + "    raise RuntimeError('half way')\n")
    with closing(database_at(place)) as database, pytest.raises(RuntimeError, match="half way"):
        upgrade.upgrade(database, later)
    with Ledger.open(place) as ledger:
        assert ledger.tournament("cup").message == ""
        assert len(list(ledger.results("cup"))) == 2


def test_a_member_does_not_upgrade(place: str, later: Path) -> None:
    use_ledger(place)
    with (
        closing(database_at(place)) as database,
        pytest.raises(PlatformError, match=f"revision {HEAD}, this version reads 9998") as caught,
    ):
        upgrade.verify_current(database, later)
    assert caught.value.reason is Reason.LEDGER_VERSION


def test_the_steps_lead_to_the_tables_that_the_code_uses(place: str) -> None:
    from alembic.autogenerate import compare_metadata

    from services.ledger.schema import metadata

    use_ledger(place)
    with closing(database_at(place)) as database, database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        assert compare_metadata(context, metadata) == []
