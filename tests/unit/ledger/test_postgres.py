"""What PostgreSQL alone can do to a ledger: refuse us, stop, forget our lock, sort names in another language."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from services.common.errors import PlatformError, Reason
from services.ledger.database import Access
from services.ledger.ledger import Ledger
from services.ledger.postgres_errors import error_from
from tests.databases.postgres import PASSWORD, USER, Cluster
from tests.unit.ledger.conftest import POSTGRES
from tests.unit.ledger.outcomes import make_outcome

pytestmark = POSTGRES

SHORT = timedelta(milliseconds=100)


@pytest.fixture
def url(cluster: Cluster, database: str) -> str:
    """An empty ledger, over TCP and with a password."""
    return cluster.url(cluster.empty(database))


def refusal(place: str, access: Access = Access.PLATFORM) -> PlatformError:
    with pytest.raises(PlatformError) as caught:
        Ledger.open(place, access=access, wait=SHORT)
    shown = f"{caught.value}{caught.value.metadata}"
    assert PASSWORD not in shown
    assert "s3cret" not in shown
    return caught.value


def eventually(condition: Callable[[], object], what: str) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.05)


# -------------------------------------------------------------------------------------------------------- coming in


@pytest.mark.parametrize(
    ("user", "place", "sentence"),
    [
        (f"{USER}:s3cret-but-wrong", "ledger", "the password is not that of its user; give the right one"),
        (USER, "ledger", "it wants a password; give one in a file named by PGPASSFILE"),
        ("", "nowhere", "the server has no database 'nowhere'; make it there, or name another"),
    ],
)
def test_a_server_that_refuses_says_why_in_our_words(cluster: Cluster, user: str, place: str, sentence: str) -> None:
    url = cluster.url(place, user=user) if user else cluster.url(place)
    error = refusal(url)
    assert error.reason is Reason.LEDGER_UNWRITABLE
    assert sentence in error.message
    assert error.metadata["ledger"] == f"postgresql://{USER}@127.0.0.1:{cluster.port}/{place}"


def test_a_server_that_is_not_there_is_named_without_the_password(cluster: Cluster) -> None:
    error = refusal(cluster.url("ledger", host="127.0.0.1:1"))
    assert f"postgresql://{USER}@127.0.0.1:1/ledger cannot be reached (Connection refused)" in error.message
    assert error.next_step.startswith("See to it that the server of the database runs")
    assert pickle.loads(pickle.dumps(error)).next_step == error.next_step  # it crosses between processes


def test_a_url_that_cannot_be_is_refused_without_the_password() -> None:
    assert "not understood as the URL" in refusal("postgresql://arena:s3cret word@localhost/x").message


def test_a_password_may_come_from_a_file(
    cluster: Cluster, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    escaped = PASSWORD.replace(":", r"\:")
    (tmp_path / "pgpass").write_text(f"127.0.0.1:{cluster.port}:*:{USER}:{escaped}\n")
    (tmp_path / "pgpass").chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "pgpass"))
    with Ledger.open(cluster.url("ledger", user=USER)) as ledger:
        assert ledger.tournaments().items == ()


def test_the_database_of_another_program_is_left_alone(cluster: Cluster) -> None:
    with cluster.database() as name:
        cluster.execute("CREATE TABLE alembic_version AS SELECT '0001' AS version_num", name)
        for access in Access:
            error = refusal(cluster.url(name), access)
            assert error.reason is Reason.LEDGER_VERSION
            assert "it has tables of another program" in error.message
        assert cluster.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'", name) == [
            ("alembic_version",)
        ]


@pytest.mark.parametrize("access", [Access.MEMBER, Access.READER])
def test_only_the_platform_makes_the_tables(cluster: Cluster, access: Access) -> None:
    with cluster.database() as name:
        assert "there is no table in it" in refusal(cluster.url(name), access).message


def test_a_user_who_may_not_make_tables_is_told_so(cluster: Cluster) -> None:
    cluster.execute("CREATE ROLE guest LOGIN")
    with cluster.database() as name:
        error = refusal(f"postgresql://guest@/{name}?host={cluster.folder}&port={cluster.port}")
        assert "cannot be written: permission denied for schema public" in error.message
        assert "give the right to write" in error.next_step


@pytest.mark.parametrize(
    ("error", "sentence", "reason"),
    [
        (psycopg.errors.DiskFull("no room"), "cannot be written: no room", Reason.LEDGER_UNWRITABLE),
        (psycopg.errors.AdminShutdown("going"), "cannot be reached (going)", Reason.LEDGER_UNREACHABLE),
        (psycopg.errors.TooManyConnections("sorry"), "cannot be reached (sorry)", Reason.LEDGER_UNREACHABLE),
        (psycopg.errors.DeadlockDetected("dead"), "being written by another process", Reason.LEDGER_LOCKED),
        (psycopg.errors.DataCorrupted("torn page"), "is damaged (torn page)", Reason.LEDGER_UNWRITABLE),
    ],
)
def test_what_goes_wrong_while_running_is_said_in_our_words(error: Exception, sentence: str, reason: Reason) -> None:
    plain = error_from(error, "arena")
    assert isinstance(plain, PlatformError)
    assert (plain.reason, sentence in plain.message) == (reason, True)


# ----------------------------------------------------------------------------------------------------- whose it is


def test_a_second_platform_is_told_who_has_the_ledger(url: str) -> None:
    with Ledger.open(url):
        error = refusal(url)
    assert error.reason is Reason.LEDGER_LOCKED
    assert f"in use by baohuang platform, process {os.getpid()} on " in error.message
    Ledger.open(url).close()


def test_a_writer_that_waits_in_vain_may_try_again(cluster: Cluster, url: str) -> None:
    from services.ledger.postgres import WRITER_LOCK

    with Ledger.open(url, wait=SHORT) as ledger:
        ledger.create_tournament("cup", "", b"s")
        with psycopg.connect(cluster.socket_url("ledger")) as other:
            other.execute("SELECT pg_advisory_xact_lock(%s, %s)", WRITER_LOCK)
            with pytest.raises(PlatformError, match="being written by another process") as caught:
                ledger.record([make_outcome(1)])
            assert caught.value.reason is Reason.LEDGER_LOCKED
            assert list(ledger.done_numbers("cup")) == []  # reading waits for nobody
        assert len(ledger.record([make_outcome(1)]).new) == 1


LOCKS = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = 1 AND granted"


def test_a_platform_whose_lock_was_cut_takes_it_again(cluster: Cluster, url: str) -> None:
    with Ledger.open(url) as ledger:
        ((before,),) = cluster.execute(LOCKS)
        cluster.execute(f"SELECT pg_terminate_backend({before})")
        eventually(lambda: cluster.execute(LOCKS) not in ([], [(before,)]), "the lock is taken again")
        ledger.verify_held()
        assert refusal(url).reason is Reason.LEDGER_LOCKED


def test_a_platform_that_lost_its_ledger_to_another_is_told_so(cluster: Cluster, url: str) -> None:
    from services.ledger.postgres_lock import PLATFORM_LOCK

    with Ledger.open(url) as ledger, psycopg.connect(cluster.socket_url("ledger"), autocommit=True) as other:
        ((before,),) = cluster.execute(LOCKS)
        # The other one stands in the queue, so the lock is its own in the moment in which ours is cut.
        waiting = threading.Thread(target=other.execute, args=("SELECT pg_advisory_lock(%s, %s)", PLATFORM_LOCK))
        waiting.start()
        eventually(lambda: cluster.execute(LOCKS.replace("granted", "NOT granted")), "another waits for the lock")
        cluster.execute(f"SELECT pg_terminate_backend({before})")
        waiting.join()

        def lost() -> bool:
            try:
                ledger.verify_held()
            except PlatformError as error:
                return error.reason is Reason.LEDGER_LOCKED
            return False

        eventually(lost, "it notices")


# ------------------------------------------------------------------------------------------------- a server that stops


@pytest.fixture
def steady(cluster: Cluster) -> Iterator[Cluster]:
    """The server, which runs again afterwards whatever the test did to it."""
    yield cluster
    if not cluster.is_running:
        cluster.start()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT])
def test_a_server_that_stops_is_waited_for_and_nothing_is_lost_or_double(
    steady: Cluster, url: str, how: signal.Signals
) -> None:
    with Ledger.open(url, wait=SHORT) as ledger, Ledger.open(url, access=Access.MEMBER, wait=SHORT) as member:
        ledger.create_tournament("cup", "", b"s")
        member.record([make_outcome(1)])
        steady.stop(how)
        for use in (lambda: member.record([make_outcome(1), make_outcome(2)]), lambda: ledger.tournament("cup")):
            with pytest.raises(PlatformError) as caught:
                use()
            assert caught.value.reason is Reason.LEDGER_UNREACHABLE
            assert "cannot be reached" in caught.value.message
        steady.start()
        recorded = member.record([make_outcome(1), make_outcome(2)])
        assert [outcome.number for outcome in recorded.new] == [2]
        assert ledger.totals("cup") == ledger.recount("cup")
        eventually(lambda: steady.execute(LOCKS), "the platform has its lock again")
        ledger.verify_held()


def test_a_restart_that_is_shorter_than_the_patience_is_not_noticed(steady: Cluster, url: str) -> None:
    with Ledger.open(url, wait=timedelta(seconds=60)) as ledger:
        ledger.create_tournament("cup", "", b"s")
        steady.stop(signal.SIGQUIT)
        again = threading.Timer(0.3, steady.start)
        again.start()
        assert len(ledger.record([make_outcome(1)]).new) == 1
        again.join()


def test_a_member_that_begins_while_the_server_is_away_waits_for_it(steady: Cluster, url: str) -> None:
    """A director that dies together with the database must not give its tournament up."""
    with Ledger.open(url) as ledger:
        ledger.create_tournament("cup", "", b"s")
        steady.stop()
        again = threading.Timer(0.5, steady.start)
        again.start()
        with Ledger.open(url, access=Access.MEMBER, wait=SHORT) as member:
            assert len(member.record([make_outcome(1)]).new) == 1
        again.join()


def test_a_connection_cut_in_the_middle_of_a_write_leaves_nothing_of_it(cluster: Cluster, url: str) -> None:
    with Ledger.open(url) as ledger:
        ledger.create_tournament("cup", "", b"s")

        def cut(*_: object) -> None:
            pids = cluster.execute("SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = 2 AND granted")
            cluster.execute(f"SELECT pg_terminate_backend({pids[0][0]})")

        from services.ledger import recording

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(recording, "_count", cut)
            with pytest.raises(PlatformError, match="cannot be reached") as caught:
                ledger.record([make_outcome(1)])
        assert caught.value.reason is Reason.LEDGER_UNREACHABLE
        assert ledger.attempts("cup", 1) == []
        assert len(ledger.record([make_outcome(1)]).new) == 1


# ------------------------------------------------------------------------------------------------------- small matters


@pytest.mark.parametrize("names", [["B", "a", "C"], ["é", "z", "Z"]])
def test_lists_go_by_name_as_in_a_file_whatever_the_language_of_the_database(
    url: str, tmp_path: Path, names: list[str]
) -> None:
    orders = []
    for place in (url, str(tmp_path / "arena.db")):
        with Ledger.open(place) as ledger:
            for name in names:
                ledger.create_bot(name, name, owner="", version="", token_hash=name.encode().ljust(32))
            first = ledger.bots(limit=1)
            orders.append([bot.name for bot in (*first.items, *ledger.bots(after=first.after).items)])
    assert orders[0] == orders[1] == sorted(names)


@pytest.mark.parametrize(
    "ask",
    [
        lambda ledger, text: ledger.tournament(text),
        lambda ledger, text: ledger.bots_named([text]),
        lambda ledger, text: ledger.tournaments(after=text),
        lambda ledger, text: ledger.create_bot("id", text, owner="", version="", token_hash=bytes(32)),
    ],
)
def test_a_character_that_no_text_can_have_is_an_answer_and_no_fault(
    url: str, ask: Callable[[Ledger, str], object]
) -> None:
    """Any client may send one, as any name."""
    with Ledger.open(url) as ledger:
        with pytest.raises(PlatformError, match=r"A text has the character NUL in it") as caught:
            ask(ledger, "a\0b")
        assert caught.value.reason is Reason.MALFORMED
        assert ledger.bots_named(["a"]) == {}
