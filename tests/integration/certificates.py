"""Certificates for tests, in a folder of the test, as `baohuang dev-ca` makes them, and ones with a fault."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import grpc

from bots_sdk.client import Tls
from services.common.authority import Authority, Issued
from services.common.clock import SystemClock
from services.common.live_tls import LiveTls
from services.common.metrics import TlsMetrics
from services.common.tls import ServerTls


def live(tls: ServerTls, metrics: TlsMetrics | None = None) -> LiveTls:
    """As a process of the platform has it."""
    return LiveTls(tls, "127.0.0.1", metrics or TlsMetrics(), SystemClock())


def grpc_credentials(tls: ServerTls) -> grpc.ServerCredentials:
    """Of a server that has nothing to do with the platform."""
    files = tls.read()
    pairs = [(files.key, files.certificate)]
    return grpc.ssl_server_credentials(pairs, files.client_ca, require_client_auth=files.client_ca is not None)


def renew(tls: ServerTls, by: ServerTls) -> None:
    """Puts other files in the place of a server's, one after the other."""
    for old, new in ((tls.key, by.key), (tls.certificate, by.certificate), (tls.client_ca, by.client_ca)):
        if old is not None and new is not None:
            old.write_bytes(new.read_bytes())


class Certificates:
    """An authority, and whatever it is asked for; a second one is a stranger to all that trust the first."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.authority = Authority.make(SystemClock().now())
        self.ca, self.ca_key = self._write("ca", self.authority.pair)
        self._made = 0

    def server(
        self,
        *,
        hosts: Sequence[str] = (),
        begins: timedelta = timedelta(0),
        life: timedelta | None = None,
        client_ca: Path | None = None,
    ) -> ServerTls:
        """The files of a server for this machine and `hosts`, good from `begins` after now, for `life`."""
        self._made += 1
        made = self.authority.issue_server("server", hosts, SystemClock().now() + begins, life)
        return ServerTls(*self._write(f"server-{self._made}", made), client_ca)

    def client(self, *, life: timedelta | None = None, ca: Path | None = None) -> Tls:
        """A client that has a certificate and trusts `ca`, usually the authority here."""
        self._made += 1
        made = self.authority.issue_client("client", SystemClock().now(), life)
        return Tls(ca or self.ca, *self._write(f"client-{self._made}", made))

    @property
    def trusting(self) -> Tls:
        """A client without a certificate that trusts the authority."""
        return Tls(self.ca)

    def _write(self, name: str, made: Issued) -> tuple[Path, Path]:
        certificate, key = self.folder / f"{name}.pem", self.folder / f"{name}.key"
        certificate.write_bytes(made.certificate)
        key.touch(0o600)
        key.write_bytes(made.key)
        return certificate, key
