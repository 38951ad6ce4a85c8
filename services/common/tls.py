"""TLS of everything that listens: the files that an operator names, and what gRPC and HTTP servers make of them.

Whether the files are in order is said by `certificates.py`, once, at the start. Every process reads them itself when it
begins to listen, so one that Ray restarts takes what lies there by then.
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path

import grpc
import grpc.aio

from services.common.errors import SetupError
from services.common.options import format_option


@dataclass(frozen=True, slots=True)
class ServerTls:
    """The files of a server, all PEM.

    Attributes:
        certificate: its own, followed by those between it and its authority.
        key: of the certificate, without a passphrase.
        client_ca: authorities of clients; a client without a certificate of one of them is not let in. None: all are.
    """

    certificate: Path
    key: Path
    client_ca: Path | None = None

    def grpc_credentials(self) -> grpc.ServerCredentials:
        """For `add_secure_port`. Raises SetupError when a file cannot be read."""
        pair = (read_file("tls_server_key", self.key), read_file("tls_server_cert", self.certificate))
        if self.client_ca is None:
            return grpc.ssl_server_credentials([pair])
        client_ca = read_file("tls_client_ca", self.client_ca)
        return grpc.ssl_server_credentials([pair], client_ca, require_client_auth=True)

    def http_context(self) -> ssl.SSLContext:
        """For servers of HTTP. Raises SetupError when a file cannot be used."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        try:
            context.load_cert_chain(self.certificate, self.key, password=_no_passphrase)
            if self.client_ca is not None:
                context.load_verify_locations(self.client_ca)
                context.verify_mode = ssl.CERT_REQUIRED
        except (OSError, ValueError) as error:  # SSLError is an OSError
            reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or "not PEM"
            raise SetupError(f"The files of TLS cannot be used ({reason}): they were in order at the start.") from None
        return context


def listen(server: grpc.aio.Server, address: str, tls: ServerTls | None) -> int:
    """Let the server listen at HOST:PORT; the port. Raises RuntimeError when it cannot, SetupError as above."""
    if tls is None:
        return server.add_insecure_port(address)
    return server.add_secure_port(address, tls.grpc_credentials())


def read_file(setting: str, path: Path) -> bytes:
    """What is in it. Raises SetupError when it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise SetupError(
            f"{format_option(setting)} is {path}, which cannot be read ({error.strerror}).", key=setting
        ) from None


def _no_passphrase() -> str:
    """Without this OpenSSL would ask on the terminal."""
    raise ValueError("the key is encrypted")
