"""What cannot work is said in one sentence, before anything heavy has begun."""

from __future__ import annotations

import asyncio
import signal
import socket
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.common.errors import SetupError
from services.common.settings import Settings
from services.ledger.ledger import Ledger
from services.main import Platform

from .serving import run_baohuang

pytestmark = pytest.mark.timeout(400)  # some start the command several times, which loads much


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield listening.getsockname()[1]


def refusal(*arguments: str, code: int = 1) -> str:
    """The one line that a command says when it refuses."""
    done = run_baohuang(*arguments, code=code, seconds=110)
    lines = [line for line in done.stderr.splitlines() if line.startswith("Error: ")]
    assert len(lines) == 1, done.stderr
    return lines[0]


@pytest.mark.parametrize("option", ["--port", "--http-port"])
def test_port_in_use(taken_port: int, tmp_path: Path, option: str) -> None:
    other = {"--port": "--http-port", "--http-port": "--port"}[option]
    said = refusal("serve", "--data", str(tmp_path), option, str(taken_port), other, "0")
    assert f"127.0.0.1:{taken_port} cannot be listened on (Address already in use)" in said
    assert option in said


def test_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    said = refusal("serve", "--data", str(tmp_path / "file" / "data"), "--port", "0", "--http-port", "0")
    assert "data/logs cannot be made (Not a directory): choose another data directory with --data." in said


def test_ledger_locked(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "ledger.db"):
        said = refusal("serve", "--data", str(tmp_path), "--port", "0", "--http-port", "0")
    assert "is in use by process" in said


def test_ledger_of_another_version(tmp_path: Path) -> None:
    Ledger.open(tmp_path / "ledger.db").close()
    with sqlite3.connect(tmp_path / "ledger.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    said = refusal("serve", "--data", str(tmp_path), "--port", "0", "--http-port", "0")
    assert "has revision 9999, which this version of the platform does not know" in said


def test_data_directory_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    said = refusal("serve", "--data", str(tmp_path / "file"), code=2)
    assert said.startswith("Error: --data is ")
    assert "a folder, or a path where one can be made" in said


def test_every_mistake_of_a_tournament_file_is_said_on_a_line_of_its_own(tmp_path: Path) -> None:
    spec = tmp_path / "cup.yaml"
    wrong = "\n".join(f"  wrong_{number}: 1" for number in range(60))  # more than a gRPC status could carry
    spec.write_text(f"name: my cup\nprofile: qingdao\nbots: [a, a]\nschedule: full\ndeals: 0\noptions:\n{wrong}\n")
    for command in ("plan", "run"):
        said = run_baohuang("tournament", command, str(spec), code=1).stderr.splitlines()
        assert said[0] == f"Error: The file {spec} has 63 mistakes:"
        assert said[1].startswith("  line 1: name: must be 1 to 40 letters")
        assert len(said) == 64
        assert all(line.startswith("  line ") and line.endswith(".") for line in said[1:])


def test_other_machines_without_tls(tmp_path: Path) -> None:
    ports = ("--port", "0", "--http-port", "0")
    everywhere = ("--host", "0.0.0.0", "--advertised-host", "arena.example.org")
    said = refusal("serve", "--data", str(tmp_path / "data"), *ports, *everywhere, code=2)
    assert said.startswith("Error: --host is 0.0.0.0, which others than this machine can reach, and without TLS ")
    assert "--tls-server-cert and --tls-server-key" in said
    assert "--allow-plaintext" in said
    platform = Platform(Settings(data_dir=tmp_path / "data", host="0.0.0.0", advertised_host="arena.example.org"))
    with pytest.raises(SetupError, match="which others than this machine can reach"):
        asyncio.run(platform.start())
    platform.close()


def test_files_of_tls_that_are_not_in_order(tmp_path: Path) -> None:
    run_baohuang("dev-ca", str(tmp_path / "one"))
    run_baohuang("dev-ca", str(tmp_path / "two"))
    certificate, key = tmp_path / "one" / "server.pem", tmp_path / "two" / "server.key"
    serve = ("serve", "--data", str(tmp_path / "data"), "--port", "0", "--http-port", "0")
    said = refusal(*serve, "--tls-server-cert", str(certificate), code=2)
    assert "--tls-server-cert is given, but not --tls-server-key" in said
    said = refusal(*serve, "--tls-server-cert", str(certificate), "--tls-server-key", str(key))
    assert f"--tls-server-key is {key}, which does not fit --tls-server-cert, {certificate}" in said
    said = refusal(*serve, "--tls-server-cert", str(certificate), "--tls-server-key", str(tmp_path / "none"))
    assert "none, which cannot be read (No such file or directory)." in said
    assert not (tmp_path / "data" / "ledger.db").exists()


def test_wrong_option(tmp_path: Path) -> None:
    said = refusal("serve", "--data", str(tmp_path), "--match-services", "many", code=2)
    assert "--match-services is 'many', but must be a whole number from 1 to 256" in said


def test_no_ray_cluster_there(tmp_path: Path) -> None:
    ports = ("--port", "0", "--http-port", "0")
    said = refusal("serve", "--data", str(tmp_path), *ports, "--ray-address", "127.0.0.1:1")
    assert said.startswith("Error: No Ray cluster answers at 127.0.0.1:1 (Connection refused): start one with")


def test_ray_that_does_not_come_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def init(**_options: object) -> None:
        raise Exception("The current node timed out during startup. This could happen because ...\nand so on")

    monkeypatch.setattr("ray.init", init)
    platform = Platform(Settings(data_dir=tmp_path, port=0, http_port=0))
    with pytest.raises(SetupError, match="Ray cannot be started on this machine: The current node timed out"):
        asyncio.run(platform.start())
    platform.close()


def test_ray_that_is_too_slow_is_tried_again_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[subprocess.Popen[bytes]] = []

    def init(**_options: object) -> None:
        if started:
            raise Exception("something else")
        started.append(subprocess.Popen(["sleep", "1000"]))
        raise Exception("The current node timed out during startup.")

    monkeypatch.setattr("ray.init", init)
    platform = Platform(Settings(data_dir=tmp_path, port=0, http_port=0))
    with pytest.raises(SetupError, match="Ray cannot be started on this machine: something else"):
        asyncio.run(platform.start())
    platform.close()
    assert started[0].wait(10) == -signal.SIGKILL


def test_no_platform_there(tmp_path: Path) -> None:
    said = refusal("tournament", "list", "--server", "127.0.0.1:1")
    assert said == (
        "Error: No platform answers at 127.0.0.1:1: start one with `baohuang serve`, or name another with "
        "--server HOST:PORT."
    )


def test_no_such_file(tmp_path: Path) -> None:
    said = refusal("tournament", "run", str(tmp_path / "none.yaml"))
    assert "none.yaml cannot be read (No such file or directory): name a YAML file." in said
