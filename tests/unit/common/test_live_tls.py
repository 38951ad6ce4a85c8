"""Files of TLS that change while they are served: renewed ones are taken, others are not, and it is said once."""

from __future__ import annotations

import logging
import re
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from prometheus_client import generate_latest

from services.common import live_tls
from services.common.authority import AUTHORITY_LIFE, BACKDATED, Authority, Issued
from services.common.clock import ManualClock
from services.common.errors import SetupError
from services.common.live_tls import LOOK_S, QUIET_S, LiveTls
from services.common.metrics import TlsMetrics, make_registry
from services.common.targets import Role
from services.common.tls import ServerTls

DAY = timedelta(days=1)
SENTENCE = "renewed files of TLS are not taken, those from before go on: "


@dataclass
class Server:
    """A server's files, and what is made of them; the authority signs its clients too."""

    folder: Path
    authority: Authority
    clock: ManualClock
    metrics: TlsMetrics
    tls: ServerTls

    def issue(self, life: timedelta | None = None, begins: timedelta = timedelta(0)) -> Issued:
        return self.authority.issue_server("server", [], self.clock.now() + begins, life)

    def live(self, told_host: str = "localhost") -> LiveTls:
        return LiveTls(self.tls, told_host, self.metrics, self.clock)

    def put(self, made: Issued) -> None:
        self.tls.certificate.write_bytes(made.certificate)
        self.tls.key.write_bytes(made.key)

    def pass_a_look(self) -> None:
        self.clock.advance(LOOK_S)
        self.metrics.look()


@pytest.fixture
def server(tmp_path: Path) -> Server:
    clock = ManualClock()
    authority = Authority.make(clock.now())
    tls = ServerTls(tmp_path / "server.pem", tmp_path / "server.key", tmp_path / "ca.pem")
    server = Server(tmp_path, authority, clock, TlsMetrics(), tls)
    server.put(server.issue(3 * DAY))
    tls.key.chmod(0o600)
    (tmp_path / "ca.pem").write_bytes(authority.pair.certificate)
    return server


def serial(made: Issued) -> int:
    return x509.load_pem_x509_certificate(made.certificate).serial_number


def shown(context: ssl.SSLContext, client: Issued | None = None, folder: Path | None = None) -> int:
    """The serial number of the certificate that is shown in a handshake; raises SSLError where none comes about."""
    ours = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    ours.check_hostname, ours.verify_mode = False, ssl.CERT_NONE
    if client is not None and folder is not None:
        (folder / "client.pem").write_bytes(client.certificate + client.key)
        ours.load_cert_chain(folder / "client.pem")
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    sides = [context.wrap_bio(there, back, server_side=True), ours.wrap_bio(back, there)]
    waiting = True
    while waiting:
        waiting = False
        for side in reversed(sides):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                waiting = True
    certificate = sides[1].getpeercert(binary_form=True)
    assert certificate is not None
    return x509.load_der_x509_certificate(certificate).serial_number


def without_clients(server: Server) -> None:
    server.tls = ServerTls(server.tls.certificate, server.tls.key)


# ---- what is taken


def test_renewed_files_are_shown_in_the_next_handshake(server: Server) -> None:
    without_clients(server)
    live = server.live()
    context = live.http_context()
    first = shown(context)
    renewed = server.issue(6 * DAY)
    server.put(renewed)
    assert shown(context) == first, "looked at a moment ago"
    server.clock.advance(LOOK_S)
    assert shown(context) == serial(renewed) != first
    assert shown(live.http_context()) == serial(renewed)
    assert (server.metrics.renewals, server.metrics.files_are_refused) == (1, False)
    server.pass_a_look()
    assert server.metrics.renewals == 1, "nothing has changed since"
    server.put(server.issue())
    assert shown(context) == serial(renewed), "looked at a moment ago"


def test_reading_the_metrics_looks_at_the_files(server: Server) -> None:
    server.live()
    registry = make_registry(Role.DIRECTOR, server.metrics)

    def life() -> tuple[float | None, ...]:
        generate_latest(registry)
        values = (f"baohuang_tls_certificate_{what}_timestamp_seconds" for what in ("begins", "ends"))
        return tuple(registry.get_sample_value(name) for name in values)

    began = server.clock.now()
    assert life() == ((began - BACKDATED).timestamp(), (began + 3 * DAY).timestamp())
    server.clock.advance(60)
    server.put(server.issue(9 * DAY))
    began = server.clock.now()
    assert life() == ((began - BACKDATED).timestamp(), (began + 9 * DAY).timestamp())


def test_authorities_of_clients_are_renewed_too(server: Server, tmp_path: Path) -> None:
    context = server.live().http_context()
    others = Authority.make(server.clock.now())
    ours, theirs = (one.issue_client("ann", server.clock.now()) for one in (server.authority, others))
    assert shown(context, ours, tmp_path)
    with pytest.raises(ssl.SSLError):
        shown(context, theirs, tmp_path)
    assert server.tls.client_ca is not None
    server.tls.client_ca.write_bytes(others.pair.certificate)
    server.clock.advance(LOOK_S)
    assert shown(context, theirs, tmp_path)
    with pytest.raises(ssl.SSLError):
        shown(context, ours, tmp_path)


def test_a_certificate_that_is_put_on_the_list_gets_no_handshake_any_more(server: Server, tmp_path: Path) -> None:
    ann, ben = (server.authority.issue_client(name, server.clock.now()) for name in ("ann", "ben"))
    path = tmp_path / "revoked.crl"
    path.write_bytes(server.authority.revoke([], None, server.clock.now()))
    server.tls = replace(server.tls, client_crl=path)
    live = server.live()
    context = live.http_context()
    assert shown(context, ann, tmp_path) == shown(context, ben, tmp_path)
    certificate = x509.load_pem_x509_certificate(ann.certificate)
    path.write_bytes(server.authority.revoke([certificate], path.read_bytes(), server.clock.now()))
    server.clock.advance(LOOK_S)
    with pytest.raises(ssl.SSLError, match="revoked"):
        shown(context, ann, tmp_path)
    assert shown(context, ben, tmp_path)
    assert live.is_revoked(certificate.public_bytes(serialization.Encoding.DER))
    assert server.metrics.lists_due_at == (ManualClock().now() + AUTHORITY_LIFE).timestamp()
    # A list that cannot be read lets nobody in again.
    path.write_bytes(b"-----BEGIN X509 CRL-----")
    server.clock.advance(LOOK_S)
    with pytest.raises(ssl.SSLError, match="revoked"):
        shown(context, ann, tmp_path)
    assert shown(context, ben, tmp_path)
    assert server.metrics.files_are_refused
    with pytest.raises(SetupError, match="holds no list of revoked certificates"):
        server.live()


# ---- what is not


def spoil_key(server: Server) -> None:
    server.tls.key.write_bytes(server.issue().key)


def spoil_certificate(server: Server) -> None:
    server.tls.certificate.write_bytes(server.issue().certificate)


def empty_certificate(server: Server) -> None:
    server.tls.certificate.write_bytes(b"")


def half_of_the_key(server: Server) -> None:
    server.tls.key.write_bytes(server.tls.key.read_bytes()[:60])


def take_away(server: Server) -> None:
    server.tls.certificate.unlink()


def a_folder(server: Server) -> None:
    server.tls.key.unlink()
    server.tls.key.mkdir()


def an_old_one(server: Server) -> None:
    server.put(server.issue(-DAY))


def a_clients(server: Server) -> None:
    server.put(server.authority.issue_client("ann", server.clock.now()))


def no_authority(server: Server) -> None:
    assert server.tls.client_ca is not None
    server.tls.client_ca.write_bytes(server.issue().certificate)


SPOILT = {
    spoil_key: "--tls-server-key is .*, which does not fit --tls-server-cert",
    spoil_certificate: "--tls-server-key is .*, which does not fit --tls-server-cert",
    empty_certificate: "--tls-server-cert is .*, which holds no certificate in PEM form",
    half_of_the_key: "--tls-server-key is .*, which holds no private key in PEM form",
    take_away: "--tls-server-cert is .*, which cannot be read",
    a_folder: "--tls-server-key is .*, which cannot be read",
    an_old_one: "which ended on",
    a_clients: "not made for a server",
    no_authority: "no certificate authority but a single certificate",
}


@pytest.mark.parametrize(("spoil", "said"), SPOILT.items(), ids=[spoil.__name__ for spoil in SPOILT])
def test_files_that_cannot_be_used_change_nothing_and_that_is_said_once(
    server: Server, tmp_path: Path, caplog: pytest.LogCaptureFixture, spoil: Callable[[Server], None], said: str
) -> None:
    caplog.set_level(logging.INFO, live_tls.__name__)
    context = server.live().http_context()
    client = server.authority.issue_client("ann", server.clock.now())
    first = shown(context, client, tmp_path)
    ends_at = server.metrics.certificate_ends_at
    spoil(server)
    for _ in range(3):
        server.clock.advance(LOOK_S)
        assert shown(context, client, tmp_path) == first
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert re.match(SENTENCE + ".*" + said, record.message), record.message
    assert (server.metrics.files_are_refused, server.metrics.certificate_ends_at) == (True, ends_at)
    # What is put right is taken, as if nothing had been.
    renewed = server.issue()
    put_right(server, renewed)
    server.clock.advance(LOOK_S)
    assert shown(context, client, tmp_path) == serial(renewed)
    assert (server.metrics.files_are_refused, server.metrics.renewals) == (False, 1)
    # And what is served already can come back without being a renewal.
    spoil(server)
    server.pass_a_look()
    assert server.metrics.files_are_refused
    put_right(server, renewed)
    server.pass_a_look()
    assert (server.metrics.files_are_refused, server.metrics.renewals) == (False, 1)


def put_right(server: Server, made: Issued) -> None:
    if server.tls.key.is_dir():
        server.tls.key.rmdir()
    server.put(made)
    assert server.tls.client_ca is not None
    server.tls.client_ca.write_bytes(server.authority.pair.certificate)


def test_a_certificate_that_is_not_good_yet_is_taken_when_it_is(server: Server) -> None:
    server.live()
    server.put(server.issue(begins=DAY))
    server.pass_a_look()
    assert (server.metrics.files_are_refused, server.metrics.renewals) == (True, 0)
    server.clock.advance(DAY.total_seconds())
    server.pass_a_look()
    assert (server.metrics.files_are_refused, server.metrics.renewals) == (False, 1)


def test_files_that_are_written_between_two_readings_wait_for_the_next_look(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_clients(server)
    live = server.live()
    first, second = server.issue(), server.issue()
    server.put(first)
    load = ServerTls.load_into

    def write_meanwhile(tls: ServerTls, context: ssl.SSLContext) -> None:
        server.put(second)
        load(tls, context)

    monkeypatch.setattr(ServerTls, "load_into", write_meanwhile)
    server.pass_a_look()
    assert (server.metrics.files_are_refused, server.metrics.renewals) == (True, 0)
    monkeypatch.undo()
    server.pass_a_look()
    assert shown(live.http_context()) == serial(second)


# ---- at the start


def test_a_certificate_that_has_ended_is_served_all_the_same_and_that_is_said(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    without_clients(server)
    old = server.issue(-DAY)
    server.put(old)
    assert shown(server.live().http_context()) == serial(old)
    (record,) = caplog.records
    assert "which ended on" in record.message
    assert server.metrics.certificate_ends_at < server.clock.now().timestamp()


def test_a_certificate_for_another_host_is_worth_a_word_each_time(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    server.live("arena.example.org")
    server.put(server.issue())
    server.pass_a_look()
    warnings = [record.message for record in caplog.records if record.levelno == logging.WARNING]
    assert ["but bots are told arena.example.org" in warning for warning in warnings] == [True, True]
    assert server.metrics.renewals == 1


def test_nothing_begins_with_files_that_cannot_be_used(server: Server) -> None:
    spoil_key(server)
    with pytest.raises(SetupError, match="cannot be used"):
        server.live()
    take_away(server)
    with pytest.raises(SetupError, match="cannot be read"):
        server.live()


# ---- what gRPC is given


class Fetched:
    """Stands for gRPC, and for the time that passes while its thread sleeps."""

    def __init__(self, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
        self.given: list[tuple[bytes, Any]] = []
        self.slept: list[float] = []
        self._clock = server.clock
        monkeypatch.setattr(grpc, "ssl_server_certificate_configuration", self._configuration)
        monkeypatch.setattr(grpc, "dynamic_ssl_server_credentials", self._credentials)
        monkeypatch.setattr(time, "sleep", self._sleep)
        server.live().grpc_credentials()

    def _configuration(self, pairs: list[tuple[bytes, bytes]], client_ca: bytes | None) -> tuple[bytes, bytes | None]:
        ((_, certificate),) = pairs
        return certificate, client_ca

    def _credentials(self, initial: Any, fetch: Callable[[], Any], *, require_client_authentication: bool) -> None:
        assert require_client_authentication
        self.initial, self.fetch = initial, fetch

    def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self._clock.advance(seconds)


def test_grpc_is_given_other_files_once(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    first = server.tls.certificate.read_bytes()
    grpc_side = Fetched(server, monkeypatch)
    ca = server.authority.pair.certificate
    assert grpc_side.initial == (first, ca)
    assert grpc_side.fetch() is None
    renewed = server.issue()
    server.put(renewed)
    assert grpc_side.fetch() is None
    server.clock.advance(LOOK_S)
    assert grpc_side.fetch() == (renewed.certificate, ca)
    assert grpc_side.fetch() is None


@pytest.mark.parametrize("quiet", [0.01, QUIET_S / 2, QUIET_S, 3 * QUIET_S])
def test_grpc_is_given_them_only_when_no_handshake_has_just_begun(
    server: Server, monkeypatch: pytest.MonkeyPatch, quiet: float
) -> None:
    grpc_side = Fetched(server, monkeypatch)
    server.put(server.issue())
    server.clock.advance(LOOK_S - quiet)
    assert grpc_side.fetch() is None
    server.clock.advance(quiet)
    assert grpc_side.fetch() is not None
    assert grpc_side.slept == [pytest.approx(max(0.0, QUIET_S - quiet))]
