"""A PostgreSQL of the tests' own: Debian's programs, a folder that is thrown away, loopback only, ended by its id."""

from __future__ import annotations

import contextlib
import itertools
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg

from services.common.reaper import Reaper
from services.ledger.ledger import Ledger

USER = "arena"
PASSWORD = "s3cret/of:the@arena"
ESCAPED = "s3cret%2Fof%3Athe%40arena"
START_SECONDS = 60

_QUICK = ("fsync=off", "full_page_writes=off", "shared_buffers=32MB", "max_connections=60", "log_min_messages=error")
"""Nobody pulls the plug in a test; a killed server loses nothing by this."""


def programs() -> Path:
    """The folder of initdb and postgres, the newest if there are several."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    assert found, "PostgreSQL is not installed: `make test` does it, or apt-get install postgresql"
    return found[-1].parent


class Cluster:
    """A server with its own folder. Who is on this machine and uses the socket needs no password, over TCP one does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._data = folder / "data"
        self._numbers = itertools.count(1)
        # PostgreSQL refuses to run as root; Debian's package makes a user for it.
        self._user = "postgres" if os.geteuid() == 0 else None
        if self._user is not None:
            known = pwd.getpwnam(self._user)
            os.chown(folder, known.pw_uid, known.pw_gid)
        word = folder / "password"
        word.write_text(PASSWORD)
        word.chmod(0o644)
        # A language with an order of its own: what the ledger lists must not depend on it.
        self._run(
            *("initdb", "--no-sync", "--auth-local=trust", "--auth-host=scram-sha-256", f"--username={USER}"),
            *(f"--pwfile={word}", "--encoding=UTF8", "--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=en"),
            *("-D", str(self._data)),
        )
        self._server: subprocess.Popen[bytes] | None = None
        self._reaper: Reaper | None = None
        # Only now: to make the folder takes seconds, in which somebody else could be given the port.
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port: int = free.getsockname()[1]
        self.start()

    def _run(self, *command: str) -> None:
        subprocess.run(
            [str(programs() / command[0]), *command[1:]],
            user=self._user,
            cwd=self.folder,
            check=True,
            stdout=subprocess.DEVNULL,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"},
        )

    def start(self) -> None:
        """Starts the server and waits until it lets somebody in."""
        options = [f"port={self.port}", "listen_addresses=127.0.0.1", f"unix_socket_directories={self.folder}", *_QUICK]
        with (self.folder / "log").open("ab") as log:
            self._server = subprocess.Popen(
                [str(programs() / "postgres"), "-D", str(self._data), *(f"-c{option}" for option in options)],
                user=self._user,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"},
            )
        self._reaper = Reaper([self._server.pid])
        end = time.monotonic() + START_SECONDS
        while True:
            try:
                self.execute("SELECT 1")
            except psycopg.OperationalError:
                if time.monotonic() > end or self._server.poll() is not None:
                    raise AssertionError((self.folder / "log").read_text()) from None
                time.sleep(0.05)
            else:
                return

    @property
    def is_running(self) -> bool:
        """Whether the server is there."""
        return self._server is not None and self._server.poll() is None

    def stop(self, number: signal.Signals = signal.SIGINT) -> None:
        """Ends the server: SIGINT in order and at once, SIGQUIT as if it had crashed."""
        assert self._server is not None
        assert self._reaper is not None
        self._server.send_signal(number)
        try:
            self._server.wait(30)
        finally:
            self._reaper.close()
            self._server.wait()

    def url(self, database: str, *, host: str = "", user: str = f"{USER}:{ESCAPED}") -> str:
        """The URL of a database, over TCP with the right password unless something else is said."""
        return f"postgresql://{user}@{host or f'127.0.0.1:{self.port}'}/{database}"

    def socket_url(self, database: str) -> str:
        """The URL of a database through the socket, without a password."""
        return f"postgresql://{USER}@/{database}?host={self.folder}&port={self.port}"

    def execute(self, statement: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Does something in a database, past the ledger."""
        with psycopg.connect(self.socket_url(database), autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    @contextlib.contextmanager
    def database(self) -> Iterator[str]:
        """The name of an empty database that is there for a while."""
        name = f"arena_{next(self._numbers)}"
        self.execute(f"CREATE DATABASE {name}")
        try:
            yield name
        finally:
            self.execute(f"DROP DATABASE {name} WITH (FORCE)")

    def empty(self, database: str) -> str:
        """Takes everything out of the tables of a ledger, and whoever is still connected away; its name."""
        self.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()",
            database,
        )
        self.execute("TRUNCATE bots, access_tokens, tournaments RESTART IDENTITY CASCADE", database)
        return database


@contextlib.contextmanager
def running_cluster() -> Iterator[Cluster]:
    """A server for a while. Its folder is short, since the name of a socket may have a hundred letters only."""
    folder = Path(tempfile.mkdtemp(prefix="arena-pg-"))
    try:
        cluster = Cluster(folder)
        try:
            yield cluster
        finally:
            if cluster.is_running:
                cluster.stop()
    finally:
        shutil.rmtree(folder)


def make_ledger(cluster: Cluster, name: str) -> str:
    """A new database with an empty ledger; its name."""
    cluster.execute(f"CREATE DATABASE {name}")
    Ledger.open(cluster.socket_url(name)).close()
    return name
