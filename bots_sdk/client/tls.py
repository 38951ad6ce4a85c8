"""TLS with a platform: the files a client is given, and what gRPC and a look at the handshake make of them."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import grpc

from bots_sdk.errors import TlsFailed, TlsFault

PROTOCOLS = ["h2"]
"""What gRPC speaks inside TLS."""


@dataclass(frozen=True, slots=True)
class Tls:
    """TLS, and whom to trust; the same for the lobby and for all match services it names. All files are PEM.

    Attributes:
        ca: the authorities that are trusted; None: those that the system trusts.
        certificate: the client's own, for a platform that demands one.
        key: of the certificate, without a passphrase.
    """

    ca: Path | None = None
    certificate: Path | None = None
    key: Path | None = None

    def credentials(self) -> grpc.ChannelCredentials:
        """What a channel needs. The files are read anew, as certificates are renewed while bots run.

        Raises:
            TlsFailed: a file cannot be read, is not PEM, or certificate and key do not belong together.
        """
        if (self.certificate is None) is not (self.key is None):
            raise _wrong("a client's certificate and its key go together: --tls-cert FILE --tls-key FILE")
        ca, certificate, key = (_read(path) for path in (self.ca, self.certificate, self.key))
        return _credentials(self, ca, certificate, key)

    def context(self) -> ssl.SSLContext:
        """What Python's own TLS needs.

        Raises:
            TlsFailed: as above.
        """
        try:
            context = ssl.create_default_context(cafile=self.ca)
        except (OSError, ValueError):  # SSLError is an OSError
            raise _wrong(f"{self.ca} holds no certificate in PEM form (--tls-ca)") from None
        context.set_alpn_protocols(PROTOCOLS)
        if self.certificate is not None:
            try:
                context.load_cert_chain(self.certificate, self.key, password=_no_passphrase)
            except ssl.SSLError as error:
                if error.reason == "KEY_VALUES_MISMATCH":
                    raise _wrong(f"{self.key} is not the key of {self.certificate}") from None
                raise _wrong(f"{self.certificate} and {self.key} hold no certificate and key in PEM form") from None
            except ValueError:
                raise _wrong(f"{self.key} has a passphrase: a key without one is needed") from None
            except OSError as error:
                raise _wrong(f"{error.filename or self.certificate} cannot be read: {error.strerror}") from None
        return context


@lru_cache(maxsize=16)
def _credentials(tls: Tls, ca: bytes | None, certificate: bytes | None, key: bytes | None) -> grpc.ChannelCredentials:
    tls.context()  # gRPC would take anything, and fail at every connection without saying why
    return grpc.ssl_channel_credentials(ca or system_roots(), key, certificate)


def system_roots() -> bytes | None:
    """The authorities that the system trusts, PEM; None where they cannot be found: gRPC has a list of its own.

    The variables SSL_CERT_FILE and SSL_CERT_DIR name others, as for most programs.
    """
    found: dict[bytes, None] = {}
    paths = ssl.get_default_verify_paths()
    if paths.cafile:
        found[Path(paths.cafile).read_bytes()] = None
    elif paths.capath:
        for path in sorted(Path(paths.capath).glob("*.[0-9]")):
            if path.is_file():
                found[path.read_bytes()] = None
    else:
        context = ssl.create_default_context()  # Windows keeps them in no file
        found = {ssl.DER_cert_to_PEM_cert(one).encode(): None for one in context.get_ca_certs(binary_form=True)}
    return b"\n".join(found) or None


def _read(path: Path | None) -> bytes | None:
    if path is None:
        return None
    try:
        return path.read_bytes()
    except OSError as error:
        raise _wrong(f"{path} cannot be read: {error.strerror}") from None


def _no_passphrase() -> str:
    """Without this OpenSSL would ask on the terminal."""
    raise ValueError("the key is encrypted")


def _wrong(sentence: str) -> TlsFailed:
    return TlsFailed(TlsFault.FILES_WRONG, sentence)
