"""`baohuang dev-ca`: certificates with which TLS can be tried, from an authority that only their users trust."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from services.cli.errors import CommandFailed, plain_errors

if TYPE_CHECKING:
    from services.common.authority import Authority, Issued

AUTHORITY = "ca"
SERVER = "server"
CLIENT = "client"
LIST = "revoked.crl"
"""Of certificates that were revoked: made with the CA, empty, so that a platform can be started with it."""
KEY_MODE = 0o600
CERTIFICATE_MODE = 0o644

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,47}")


@click.command("dev-ca")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--host", "hosts", multiple=True, metavar="HOST", help="A name or IP address of the server; repeatable.")
@click.option("--client", metavar="NAME", help=f"Name of the first client's certificate.  [default: {CLIENT}]")
@click.option("--add-client", metavar="NAME", help="Make one more client's certificate with the CA in FOLDER.")
@click.option("--add-server", metavar="NAME", help="Make one more server's certificate with the CA in FOLDER.")
@click.option("--revoke", metavar="NAME", help=f"Put the certificate in FOLDER/NAME.pem on the list in {LIST}.")
def dev_ca(
    folder: Path,
    hosts: tuple[str, ...],
    client: str | None,
    add_client: str | None,
    add_server: str | None,
    revoke: str | None,
) -> None:
    """Make a certificate authority for development in FOLDER, and a certificate each for a server and a client.

    The server's is for localhost, 127.0.0.1, ::1 and every --host. Nothing that is there is overwritten. It is for
    trying things out: whoever can read FOLDER can pretend to be your platform.
    """
    adds = add_client or add_server
    if revoke and (adds or client or hosts):
        raise click.UsageError("--revoke goes by itself: one certificate at a time is put on the list.")
    if adds and client:
        raise click.UsageError("--client names the first certificate of a new CA; with one that is there --add-client.")
    if add_client and add_server:
        raise click.UsageError("--add-client and --add-server make one certificate each: call it twice.")
    if add_client and hosts:
        raise click.UsageError("--host is for a server's certificate; a client's has no hosts.")
    with plain_errors():
        from services.common.clock import SystemClock

        now = SystemClock().now()
        if revoke:
            _revoke(folder, revoke, now)
        elif adds:
            _add(folder, add_client, add_server, _verified_hosts(hosts), now)
        else:
            _make(folder, client or CLIENT, _verified_hosts(hosts), now)


def _make(folder: Path, client: str, hosts: Sequence[str], now: datetime) -> None:
    from services.common.authority import LOCAL_HOSTS, Authority

    _verify_name(client, "--client")
    if (folder / f"{AUTHORITY}.pem").exists():
        raise CommandFailed(
            f"{folder} has a CA already, and nothing is overwritten: make one more certificate with --add-client NAME "
            "or --add-server NAME, or choose another folder."
        )
    authority = Authority.make(now)
    server = authority.issue_server(SERVER, hosts, now)
    _write(folder, {AUTHORITY: authority.pair, SERVER: server, client: authority.issue_client(client, now)})
    if not (folder / LIST).exists():
        _replace(folder / LIST, authority.revoke([], None, now))
    ca, where = _file(folder, AUTHORITY, "pem"), ", ".join(dict.fromkeys([*LOCAL_HOSTS, *hosts]))
    server_files = f"--tls-server-cert {_file(folder, SERVER, 'pem')} --tls-server-key {_file(folder, SERVER, 'key')}"
    client_files = f"--tls-cert {_file(folder, client, 'pem')} --tls-key {_file(folder, client, 'key')}"
    click.echo(
        f"{ca} is the CA, {_file(folder, SERVER, 'pem')} is for {where}, {_file(folder, client, 'pem')} for a client; "
        f"until {server.ends_at:%Y-%m-%d}.\n"
        "With TLS:\n"
        f"  baohuang serve {server_files}\n"
        f"  baohuang tournament list --tls-ca {ca}\n"
        f"  baohuang bot run greedy --tls-ca {ca}\n"
        "With mutual TLS, where clients need a certificate too:\n"
        f"  baohuang serve {server_files} --tls-client-ca {ca} --tls-client-crl {_file(folder, *LIST.split('.'))}\n"
        f"  baohuang tournament list --tls-ca {ca} {client_files}\n"
        f"  baohuang bot run greedy --tls-ca {ca} {client_files}\n"
        f"Give others {ca} and a pair of their own (--add-client NAME), never a .key file of somebody else; "
        "--revoke NAME takes it back."
    )


def _add(folder: Path, client: str | None, server: str | None, hosts: Sequence[str], now: datetime) -> None:
    name = client or server or ""
    _verify_name(name, "--add-client" if client else "--add-server")
    authority = _load(folder)
    issued = authority.issue_client(name, now) if client else authority.issue_server(name, hosts, now)
    _write(folder, {name: issued})
    click.echo(
        f"{_file(folder, name, 'pem')} and {_file(folder, name, 'key')} are for a {'client' if client else 'server'}; "
        f"until {issued.ends_at:%Y-%m-%d}."
    )


def _revoke(folder: Path, name: str, now: datetime) -> None:
    from cryptography import x509

    _verify_name(name, "--revoke")
    authority = _load(folder)
    path, known = folder / f"{name}.pem", folder / LIST
    try:
        certificate = x509.load_pem_x509_certificate(path.read_bytes())
    except FileNotFoundError:
        raise CommandFailed(f"{folder} has no {name}.pem: which certificate is to be revoked?") from None
    except ValueError:
        raise CommandFailed(f"{path} holds no certificate in PEM form.") from None
    _replace(known, authority.revoke([certificate], known.read_bytes() if known.exists() else None, now))
    click.echo(
        f"{path} is on the list in {shlex.quote(str(known))}: a platform that was started with --tls-client-crl "
        f"{shlex.quote(str(known))} takes it no more, from the next seconds on."
    )


def _replace(path: Path, content: bytes) -> None:
    """At once: a platform may be reading it."""
    new = path.with_name(f".{path.name}.new")
    new.write_bytes(content)
    new.replace(path)


def _load(folder: Path) -> Authority:
    from services.common.authority import Authority

    try:
        files = [(folder / f"{AUTHORITY}.{kind}").read_bytes() for kind in ("pem", "key")]
    except FileNotFoundError:
        raise CommandFailed(
            f"{folder} has no CA: make one with `baohuang dev-ca {shlex.quote(str(folder))}`."
        ) from None
    return Authority.load(*files)


def _write(folder: Path, made: Mapping[str, Issued]) -> None:
    """All of them or none; nothing that is there is touched."""
    files = {folder / f"{name}.pem": (one.certificate, CERTIFICATE_MODE) for name, one in made.items()}
    files |= {folder / f"{name}.key": (one.key, KEY_MODE) for name, one in made.items()}
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    written: list[Path] = []
    try:
        for path, (content, mode) in files.items():
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
            written.append(path)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
    except BaseException as error:
        for path in written:
            with contextlib.suppress(OSError):
                path.unlink()
        if isinstance(error, FileExistsError):
            raise CommandFailed(f"{error.filename} is there already, and nothing is overwritten.") from None
        raise


def _file(folder: Path, name: str, kind: str) -> str:
    return shlex.quote(str(folder / f"{name}.{kind}"))


def _verify_name(name: str, option: str) -> None:
    if not _NAME.fullmatch(name):
        raise click.BadParameter(
            f"{name!r} must be 1 to 48 letters, digits, '-', '_' and '.': it becomes the name of a file.",
            param_hint=option,
        )


def _verified_hosts(hosts: Sequence[str]) -> list[str]:
    from services.common.targets import parse_host

    found = []
    for host in hosts:
        try:
            found.append(parse_host(host))
        except ValueError as error:
            raise click.BadParameter(f"{host!r} must be {error}.", param_hint="--host") from None
    return found
