"""TLS of everything that listens: the files that an operator names, and what is in them at one moment.

Whether they are in order is said by `certificates.py`; `live_tls.py` serves them, and what takes their place later.
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from pathlib import Path

from services.common.errors import SetupError
from services.common.options import format_option


@dataclass(frozen=True, slots=True)
class TlsContents:
    """What is in the files of a server."""

    certificate: bytes
    key: bytes = field(repr=False)
    client_ca: bytes | None = None
    client_crl: bytes | None = None


@dataclass(frozen=True, slots=True)
class ServerTls:
    """The files of a server, all PEM.

    Attributes:
        certificate: its own, followed by those between it and its authority.
        key: of the certificate, without a passphrase.
        client_ca: authorities of clients; a client without a certificate of one of them is not let in. None: all are.
        client_crl: lists of those that these authorities have revoked. None: none is.
    """

    certificate: Path
    key: Path
    client_ca: Path | None = None
    client_crl: Path | None = None

    def read(self) -> TlsContents:
        """What is in them now. Raises SetupError when a file cannot be read."""
        return TlsContents(
            read_file("tls_server_cert", self.certificate),
            read_file("tls_server_key", self.key),
            None if self.client_ca is None else read_file("tls_client_ca", self.client_ca),
            None if self.client_crl is None else read_file("tls_client_crl", self.client_crl),
        )

    def load_into(self, context: ssl.SSLContext) -> None:
        """Readies a server's context of Python's own TLS, but for the lists. Raises SetupError for an unusable file."""
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        try:
            context.load_cert_chain(self.certificate, self.key, password=_no_passphrase)
            if self.client_ca is not None:
                context.load_verify_locations(self.client_ca)
                context.verify_mode = ssl.CERT_REQUIRED
        except (OSError, ValueError) as error:  # SSLError is an OSError
            reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or "not PEM"
            raise SetupError(f"The files of TLS cannot be used ({reason}): see what has been put in place.") from None


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
