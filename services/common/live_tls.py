"""TLS of a process that listens, with the files as they are now: renewed ones are taken without a restart.

Nothing runs for it. The files are looked at whenever somebody shakes hands or reads the metrics, once a second at most;
new handshakes are done with what was found, and what was connected before stays as it is. Files that cannot be used,
half written ones for example, change nothing: the last ones that could be go on being served.
"""

from __future__ import annotations

import logging
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Any

import grpc
import grpc.aio
from cryptography import x509

from services.common.certificates import Identity, identity_of, life_of, lists_due, revoked_in, verify_contents
from services.common.clock import Clock
from services.common.errors import SetupError
from services.common.metrics import TlsMetrics
from services.common.tls import ServerTls, TlsContents

LOOK_S = 1.0
"""The files are read so often at most."""

QUIET_S = 0.25
"""Before gRPC is given other files, no handshake may have begun for so long.

gRPC (1.85) frees what it had while another thread may be about to shake hands with it: then the process dies. Between
asking here and holding on to what it uses it needs microseconds (docs/adr/0006-tls.md)."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Served:
    """What new handshakes are done with; another object after each renewal."""

    contents: TlsContents
    context: _Vigilant

    def grpc_configuration(self) -> grpc.ServerCertificateConfiguration:
        contents = self.contents
        return grpc.ssl_server_certificate_configuration([(contents.key, contents.certificate)], contents.client_ca)


class LiveTls:
    """The files of a server's TLS, one object for all that a process listens with.

    `told_host` is the host that clients are told: a certificate that is not for it is worth a warning. All methods may
    be called from any thread.

    Raises SetupError when it is made of files that cannot be used at all. A certificate that has ended is used: whoever
    is started anew by Ray serves it as those do that have run since before, and it is renewed for all of them.
    """

    def __init__(self, tls: ServerTls, told_host: str, metrics: TlsMetrics, clock: Clock) -> None:
        self._tls = tls
        self._told_host = told_host
        self._metrics = metrics
        self._clock = clock
        self._looking = Lock()
        self._refused = ""
        self._served = self._load(tls.read())
        try:
            remarks = self._verify(self._served.contents)
        except SetupError as error:
            remarks = [error.message]
        self._take(self._served, remarks)
        self._next_look = clock.monotonic() + LOOK_S
        metrics.look = self.look

    def grpc_credentials(self) -> grpc.ServerCredentials:
        """For one `add_secure_port`; another port needs others."""
        given = self._served
        asked = self._clock.monotonic()

        def fetch() -> grpc.ServerCertificateConfiguration | None:
            """Called for each handshake, by one thread of gRPC at a time; None: as before."""
            nonlocal given, asked
            served = self._look()
            if served is given:
                asked = self._clock.monotonic()
                return None
            time.sleep(max(0.0, asked + QUIET_S - self._clock.monotonic()))
            given = served
            asked = self._clock.monotonic()
            return served.grpc_configuration()

        return grpc.dynamic_ssl_server_credentials(
            given.grpc_configuration(),
            fetch,  # type: ignore[arg-type]  # the stubs do not know of None
            require_client_authentication=self._tls.client_ca is not None,
        )

    def http_context(self) -> ssl.SSLContext:
        """For servers of HTTP, as often as wanted."""
        context = _Following(ssl.PROTOCOL_TLS_SERVER)
        context.current = lambda: self._look().context
        return context

    @property
    def revoked(self) -> frozenset[Identity]:
        """The certificates of clients that were revoked."""
        return self._look().context.revoked

    @property
    def watches_clients(self) -> bool:
        """Whether there may be any."""
        return self._tls.client_crl is not None

    def is_revoked(self, certificate: bytes) -> bool:
        """Whether the certificate of a client (DER) was revoked."""
        revoked = self.revoked
        return bool(revoked) and identity_of(x509.load_der_x509_certificate(certificate)) in revoked

    def look(self) -> None:
        """Looks at the files, unless somebody just has or is doing it."""
        self._look()

    def _look(self) -> _Served:
        # Nobody waits for another: a disk that hangs keeps one handshake from going on and not all of them.
        if self._looking.acquire(blocking=False):
            try:
                now = self._clock.monotonic()
                if now >= self._next_look:
                    self._next_look = now + LOOK_S
                    self._renew()
            finally:
                self._looking.release()
        return self._served

    def _renew(self) -> None:
        try:
            contents = self._tls.read()
            if contents == self._served.contents:
                self._settle()
                return
            remarks = self._verify(contents)
            self._take(self._load(contents), remarks)
        except (SetupError, ValueError) as error:  # ValueError: odd certificates, of which not everything can be read
            self._refuse(error.message if isinstance(error, SetupError) else str(error))
        else:
            self._metrics.renewals += 1
            _log.info("renewed files of TLS are served from now on")

    def _load(self, contents: TlsContents) -> _Served:
        # Python's TLS takes no bytes but only files, so these are read a second time.
        context = _Vigilant(ssl.PROTOCOL_TLS_SERVER)
        context.revoked = revoked_in(self._tls, contents)
        self._tls.load_into(context)
        if self._tls.read() != contents:
            raise SetupError("The files of TLS are being written just now.")
        return _Served(contents, context)

    def _verify(self, contents: TlsContents) -> list[str]:
        return verify_contents(self._tls, contents, self._told_host, self._clock.now())

    def _take(self, served: _Served, remarks: list[str]) -> None:
        begins_at, ends_at = life_of(self._tls, served.contents)
        self._metrics.certificate_begins_at = begins_at.timestamp()
        self._metrics.certificate_ends_at = ends_at.timestamp()
        due_at = lists_due(self._tls, served.contents)
        self._metrics.lists_due_at = 0.0 if due_at is None else due_at.timestamp()
        self._served = served
        for remark in remarks:
            _log.warning("%s", remark)
        self._settle()

    def _settle(self) -> None:
        if self._refused:
            _log.info("the files of TLS are in order again")
        self._refused = ""
        self._metrics.files_are_refused = False

    def _refuse(self, sentence: str) -> None:
        """Says the same once, however often it is found."""
        if sentence != self._refused:
            _log.warning("renewed files of TLS are not taken, those from before go on: %s", sentence)
        self._refused = sentence
        self._metrics.files_are_refused = True


class _Vigilant(ssl.SSLContext):
    """Takes no certificate that was revoked; a list that has grown old is a remark, where OpenSSL would take nobody."""

    revoked: frozenset[Identity] = frozenset()

    def verify_peer(self, certificate: bytes | None) -> None:
        """Raises SSLError for a client with a certificate (DER) that was revoked."""
        if self.revoked and (
            certificate is None or identity_of(x509.load_der_x509_certificate(certificate)) in self.revoked
        ):
            raise ssl.SSLError("the certificate of the client was revoked")


class _VigilantObject(ssl.SSLObject):
    context: _Vigilant

    def do_handshake(self) -> None:
        super().do_handshake()
        self.context.verify_peer(self.getpeercert(binary_form=True))


class _VigilantSocket(ssl.SSLSocket):
    context: _Vigilant

    def do_handshake(self, block: bool = False) -> None:
        super().do_handshake(block)
        self.context.verify_peer(self.getpeercert(binary_form=True))


_Vigilant.sslobject_class = _VigilantObject
_Vigilant.sslsocket_class = _VigilantSocket


class _Following(ssl.SSLContext):
    """Shakes hands with whatever is current; a context that is loaded anew itself would be half new for a moment."""

    current: Callable[[], ssl.SSLContext]

    def wrap_bio(self, *args: Any, **kwargs: Any) -> ssl.SSLObject:
        return self.current().wrap_bio(*args, **kwargs)

    def wrap_socket(self, *args: Any, **kwargs: Any) -> ssl.SSLSocket:
        return self.current().wrap_socket(*args, **kwargs)


def live_tls(tls: ServerTls | None, told_host: str, metrics: TlsMetrics, clock: Clock) -> LiveTls | None:
    """As the class, where there is TLS at all."""
    return None if tls is None else LiveTls(tls, told_host, metrics, clock)


def listen(server: grpc.aio.Server, address: str, tls: LiveTls | None) -> int:
    """Let the server listen at HOST:PORT; the port. Raises RuntimeError when it cannot."""
    if tls is None:
        return server.add_insecure_port(address)
    return server.add_secure_port(address, tls.grpc_credentials())
