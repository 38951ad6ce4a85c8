"""`baohuang dev-ca`: what it makes, and that it never touches what is there."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from services.cli import dev_ca
from services.common.certificates import verify_server_tls
from services.common.clock import SystemClock
from services.common.tls import ServerTls


def run(*arguments: str) -> Result:
    return CliRunner().invoke(dev_ca, arguments)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "certs"
    done = run(str(made), "--host", "arena.example.org", "--host", "192.0.2.7")
    assert done.exit_code == 0, done.output
    return made


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_ca_a_server_and_a_client_are_made(folder: Path) -> None:
    files = {f"{name}.{kind}" for name in ("ca", "server", "client") for kind in ("pem", "key")}
    assert names(folder) == files | {"revoked.crl"}
    assert {path.stat().st_mode & 0o777 for path in folder.glob("*.key")} == {0o600}
    assert folder.stat().st_mode & 0o777 == 0o700
    tls = ServerTls(folder / "server.pem", folder / "server.key", folder / "ca.pem")
    for host in ("localhost", "127.0.0.1", "::1", "arena.example.org", "192.0.2.7"):
        assert verify_server_tls(tls, host, SystemClock().now()) == []


def test_openssl_agrees_by_its_strictest_rules(folder: Path) -> None:
    assert run(str(folder), "--add-client", "ann").exit_code == 0
    assert run(str(folder), "--add-server", "second", "--host", "second.example.org").exit_code == 0
    checks = {
        "server": ["-purpose", "sslserver", "-verify_hostname", "arena.example.org"],
        "second": ["-purpose", "sslserver", "-verify_hostname", "second.example.org"],
        "client": ["-purpose", "sslclient"],
        "ann": ["-purpose", "sslclient"],
    }
    for name, check in checks.items():
        command = ["openssl", "verify", "-x509_strict", *check, "-CAfile", str(folder / "ca.pem")]
        done = subprocess.run([*command, str(folder / f"{name}.pem")], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_what_was_revoked_openssl_takes_no_more(folder: Path) -> None:
    assert run(str(folder), "--add-client", "ann").exit_code == 0

    def is_taken(name: str) -> bool:
        lists = ["-CAfile", str(folder / "ca.pem"), "-CRLfile", str(folder / "revoked.crl"), "-crl_check"]
        command = ["openssl", "verify", "-x509_strict", *lists, str(folder / f"{name}.pem")]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    assert is_taken("client")
    for name in ("client", "ann", "ann"):
        said = run(str(folder), "--revoke", name)
        assert said.exit_code == 0, said.output
        assert f"{folder}/{name}.pem is on the list in {folder}/revoked.crl" in said.output
        assert not is_taken(name)
        assert is_taken("server")
    assert not is_taken("client")


def test_what_cannot_be_revoked_is_said(folder: Path, tmp_path: Path) -> None:
    assert "has no ben.pem: which certificate" in run(str(folder), "--revoke", "ben").output
    assert "--revoke goes by itself" in run(str(folder), "--revoke", "client", "--add-client", "ben").output
    assert run(str(tmp_path / "other")).exit_code == 0
    (folder / "theirs.pem").write_bytes((tmp_path / "other" / "client.pem").read_bytes())
    assert "is of another authority" in run(str(folder), "--revoke", "theirs").output
    (folder / "none.pem").write_text("hello")
    assert "holds no certificate in PEM form" in run(str(folder), "--revoke", "none").output


def test_how_to_use_it_is_printed_and_no_key_is(tmp_path: Path) -> None:
    said = run(str(tmp_path / "certs"), "--client", "ann").output
    assert f"--tls-server-cert {tmp_path}/certs/server.pem --tls-server-key {tmp_path}/certs/server.key" in said
    assert f"--tls-ca {tmp_path}/certs/ca.pem --tls-cert {tmp_path}/certs/ann.pem" in said
    assert "BEGIN" not in said


def test_nothing_that_is_there_is_touched(folder: Path) -> None:
    before = {path: path.read_bytes() for path in folder.iterdir()}
    again = run(str(folder))
    assert again.exit_code == 1
    assert "has a CA already, and nothing is overwritten" in again.output
    for arguments in (["--add-client", "client"], ["--add-server", "server"], ["--add-server", "ca"]):
        done = run(str(folder), *arguments)
        assert done.exit_code == 1
        assert "is there already, and nothing is overwritten" in done.output
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_nothing_is_left_of_what_could_not_be_made_whole(tmp_path: Path) -> None:
    (tmp_path / "client.key").write_text("mine")
    done = run(str(tmp_path))
    assert done.exit_code == 1
    assert f"{tmp_path}/client.key is there already" in done.output
    assert names(tmp_path) == {"client.key"}


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["--add-client", "ann"], 1, "has no CA: make one with `baohuang dev-ca "),
        (["--add-client", "../ann"], 2, "'../ann' must be 1 to 48 letters"),
        (["--client", ""], 0, ""),
        (["--client", "a/b"], 2, "'a/b' must be 1 to 48 letters"),
        (["--host", "a b"], 2, "'a b' must be a host name or an IP address, without a port."),
        (["--add-client", "a", "--host", "b"], 2, "a client's has no hosts"),
        (["--add-client", "a", "--add-server", "b"], 2, "call it twice"),
        (["--add-client", "a", "--client", "b"], 2, "--client names the first certificate of a new CA"),
    ],
)
def test_what_cannot_be_done_is_said(tmp_path: Path, arguments: list[str], code: int, sentence: str) -> None:
    done = run(str(tmp_path / "certs"), *arguments)
    assert done.exit_code == code, done.output
    assert sentence in " ".join(done.output.split())
    assert code == 0 or not (tmp_path / "certs").exists()
