"""The files of TLS as an operator may get them wrong, and what is said; and the authority that makes good ones."""

from __future__ import annotations

import ssl
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.x509.oid import ExtendedKeyUsageOID

from services.common.authority import AUTHORITY_LIFE, CERTIFICATE_LIFE, Authority, Issued
from services.common.certificates import (
    hosts_of,
    identity_of,
    remarks_on_lists,
    revoked_in,
    verify_server_tls,
)
from services.common.errors import SetupError
from services.common.tls import ServerTls

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def write(folder: Path, name: str, made: Issued) -> tuple[Path, Path]:
    certificate, key = folder / f"{name}.pem", folder / f"{name}.key"
    certificate.write_bytes(made.certificate)
    key.write_bytes(made.key)
    key.chmod(0o600)
    return certificate, key


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority.make(NOW)


@pytest.fixture
def good(authority: Authority, tmp_path: Path) -> ServerTls:
    ca, _ = write(tmp_path, "ca", authority.pair)
    return ServerTls(*write(tmp_path, "server", authority.issue_server("server", ["arena.example.org"], NOW)), ca)


def parsed(made: Issued) -> x509.Certificate:
    return x509.load_pem_x509_certificate(made.certificate)


# ---- the authority


def test_the_authority_signs_certificates_and_nothing_else(authority: Authority) -> None:
    own = parsed(authority.pair)
    constraints = own.extensions.get_extension_for_class(x509.BasicConstraints)
    usage = own.extensions.get_extension_for_class(x509.KeyUsage)
    assert (constraints.critical, constraints.value.ca, constraints.value.path_length) == (True, True, 0)
    assert usage.critical
    assert usage.value.key_cert_sign
    assert not usage.value.digital_signature
    assert own.not_valid_after_utc == NOW + AUTHORITY_LIFE


def test_a_certificate_is_for_one_purpose_and_signs_no_others(authority: Authority) -> None:
    own = parsed(authority.pair)
    server = parsed(authority.issue_server("server", ["arena.example.org", "192.0.2.7", "localhost"], NOW))
    client = parsed(authority.issue_client("ann", NOW))
    assert hosts_of(server) == ["localhost", "arena.example.org", "127.0.0.1", "::1", "192.0.2.7"]
    assert hosts_of(client) == []
    purposes = {server: ExtendedKeyUsageOID.SERVER_AUTH, client: ExtendedKeyUsageOID.CLIENT_AUTH}
    for certificate, purpose in purposes.items():
        extensions = certificate.extensions
        assert list(extensions.get_extension_for_class(x509.ExtendedKeyUsage).value) == [purpose]
        assert not extensions.get_extension_for_class(x509.BasicConstraints).value.ca
        assert not extensions.get_extension_for_class(x509.KeyUsage).value.key_cert_sign
        assert certificate.not_valid_after_utc == NOW + CERTIFICATE_LIFE
        certificate.verify_directly_issued_by(own)


def test_no_certificate_outlives_its_authority(authority: Authority) -> None:
    late = NOW + AUTHORITY_LIFE - DAY
    assert authority.issue_client("ann", late).ends_at == NOW + AUTHORITY_LIFE
    with pytest.raises(SetupError, match="The authority ended on 2028-05-03"):
        authority.issue_client("ann", NOW + AUTHORITY_LIFE + DAY)


def test_an_authority_is_loaded_from_its_files_only(authority: Authority) -> None:
    pair = authority.pair
    again = Authority.load(pair.certificate, pair.key)
    parsed(again.issue_client("ann", NOW)).verify_directly_issued_by(parsed(pair))
    with pytest.raises(SetupError, match="do not belong together"):
        Authority.load(pair.certificate, Authority.make(NOW).pair.key)
    client = authority.issue_client("ann", NOW)
    with pytest.raises(SetupError, match="do not belong together"):
        Authority.load(client.certificate, client.key)
    with pytest.raises(SetupError, match="no certificate authority"):
        Authority.load(pair.key, pair.certificate)


def test_a_key_is_not_shown(authority: Authority) -> None:
    assert "PRIVATE" not in repr(authority.pair)


# ---- what is checked at the start


def test_files_in_order_are_worth_no_word(good: ServerTls) -> None:
    assert verify_server_tls(good, "arena.example.org", NOW) == []
    assert verify_server_tls(good, "::1", NOW) == []
    good.load_into(server_context())


def server_context() -> ssl.SSLContext:
    return ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)


def sentence_about(tls: ServerTls, now: datetime = NOW) -> str:
    with pytest.raises(SetupError) as caught:
        verify_server_tls(tls, "localhost", now)
    assert "BEGIN" not in str(caught.value)
    return str(caught.value)


def test_a_file_that_is_not_there(good: ServerTls, tmp_path: Path) -> None:
    none = tmp_path / "none"
    said = f"is {none}, which cannot be read (No such file or directory)."
    assert sentence_about(ServerTls(none, good.key)) == f"--tls-server-cert {said}"
    assert sentence_about(ServerTls(good.certificate, none)) == f"--tls-server-key {said}"
    assert sentence_about(ServerTls(good.certificate, good.key, none)) == f"--tls-client-ca {said}"
    for broken in (ServerTls(none, good.key), ServerTls(good.certificate, none), ServerTls(*_pair(good), none)):
        with pytest.raises(SetupError, match="cannot be read"):
            broken.read()
        with pytest.raises(SetupError, match="cannot be used"):
            broken.load_into(server_context())


def _pair(tls: ServerTls) -> tuple[Path, Path]:
    return tls.certificate, tls.key


@pytest.mark.parametrize("content", [b"", b"hello", b"\x00\xff" * 50, b"-----BEGIN CERTIFICATE-----\nAAAA\n"])
def test_a_file_that_is_not_pem(good: ServerTls, tmp_path: Path, content: bytes) -> None:
    odd = tmp_path / "odd"
    odd.write_bytes(content)
    assert sentence_about(ServerTls(odd, good.key)) == (
        f"--tls-server-cert is {odd}, which holds no certificate in PEM form."
    )
    assert sentence_about(ServerTls(good.certificate, odd)) == (
        f"--tls-server-key is {odd}, which holds no private key in PEM form."
    )
    assert sentence_about(ServerTls(*_pair(good), odd)) == (
        f"--tls-client-ca is {odd}, which holds no certificate in PEM form."
    )


def test_certificate_and_key_exchanged(good: ServerTls) -> None:
    assert sentence_about(ServerTls(good.key, good.certificate)).endswith("are certificate and key exchanged?")


def test_a_key_with_a_passphrase(good: ServerTls, tmp_path: Path) -> None:
    key = serialization.load_pem_private_key(good.key.read_bytes(), None)
    locked = tmp_path / "locked.key"
    encryption = serialization.BestAvailableEncryption(b"x")
    locked.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption))
    assert "which has a passphrase" in sentence_about(ServerTls(good.certificate, locked))
    with pytest.raises(SetupError):
        ServerTls(good.certificate, locked).load_into(server_context())


def test_a_key_of_another_certificate(authority: Authority, good: ServerTls, tmp_path: Path) -> None:
    _, other = write(tmp_path, "other", authority.issue_server("other", [], NOW))
    assert sentence_about(ServerTls(good.certificate, other)).startswith(
        f"--tls-server-key is {other}, which does not fit --tls-server-cert, {good.certificate}: "
    )


def test_a_certificate_out_of_its_time(good: ServerTls) -> None:
    assert sentence_about(good, NOW + CERTIFICATE_LIFE + DAY) == (
        f"--tls-server-cert is {good.certificate}, which ended on 2027-05-04 12:00 UTC: renew it."
    )
    assert sentence_about(good, NOW - DAY) == (
        f"--tls-server-cert is {good.certificate}, which begins only on 2026-05-04 11:50 UTC: is the clock of this "
        "machine right?"
    )


def test_an_authority_of_clients_that_has_ended_or_is_none(
    authority: Authority, good: ServerTls, tmp_path: Path
) -> None:
    old, _ = write(tmp_path, "old", Authority.make(NOW - 2 * AUTHORITY_LIFE).pair)
    assert sentence_about(ServerTls(*_pair(good), old)).startswith(f"--tls-client-ca is {old}, which ended on ")
    single, _ = write(tmp_path, "ann", authority.issue_client("ann", NOW))
    assert "no certificate authority but a single certificate" in sentence_about(ServerTls(*_pair(good), single))
    both = tmp_path / "both.pem"
    assert good.client_ca is not None
    both.write_bytes(old.read_bytes() + good.client_ca.read_bytes())
    (remark,) = verify_server_tls(ServerTls(*_pair(good), both), "localhost", NOW)
    assert remark.startswith(f"a certificate in {both} has ended on ")


def test_lists_of_revoked_certificates(authority: Authority, good: ServerTls, tmp_path: Path) -> None:
    ann, ben = (parsed(authority.issue_client(name, NOW)) for name in ("ann", "ben"))
    path = tmp_path / "revoked.crl"
    tls = replace(good, client_crl=path)
    path.write_bytes(authority.revoke([ann], None, NOW))
    assert verify_server_tls(tls, "localhost", NOW) == []
    assert revoked_in(tls, tls.read()) == {identity_of(ann)}
    path.write_bytes(authority.revoke([ben], path.read_bytes(), NOW))
    assert revoked_in(tls, tls.read()) == {identity_of(ann), identity_of(ben)}
    assert revoked_in(good, good.read()) == frozenset()
    path.write_bytes(path.read_bytes() + Authority.make(NOW).revoke([], None, NOW))
    assert "which none of the authorities in --tls-client-ca" in sentence_about(tls), "each of them has to be"


def test_a_list_that_is_older_than_it_should_be_is_worth_a_word_and_holds(
    authority: Authority, good: ServerTls, tmp_path: Path
) -> None:
    path = tmp_path / "revoked.crl"
    ann = parsed(authority.issue_client("ann", NOW))
    path.write_bytes(authority.revoke([ann], None, NOW))
    tls = replace(good, client_crl=path)
    late = x509.load_pem_x509_crl(path.read_bytes()).next_update_utc
    assert late is not None
    (remark,) = remarks_on_lists(tls, tls.read(), late + DAY)
    assert remark.startswith(f"a list of revoked certificates in {path} is older than its authority wants it to be")
    assert revoked_in(tls, tls.read()) == {identity_of(ann)}


@pytest.mark.parametrize("content", [b"", b"hello", b"-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n"])
def test_a_file_that_holds_no_list(good: ServerTls, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "revoked.crl"
    path.write_bytes(content)
    assert sentence_about(replace(good, client_crl=path)) == (
        f"--tls-client-crl is {path}, which holds no list of revoked certificates in PEM form."
    )
    path.unlink()
    assert "which cannot be read" in sentence_about(replace(good, client_crl=path))


def test_a_clients_certificate_for_the_server(authority: Authority, tmp_path: Path) -> None:
    client = ServerTls(*write(tmp_path, "ann", authority.issue_client("ann", NOW)))
    assert "which is not made for a server" in sentence_about(client)


def test_what_may_be_but_is_worth_a_word(authority: Authority, tmp_path: Path) -> None:
    tls = ServerTls(*write(tmp_path, "server", authority.issue_server("server", ["*.example.org"], NOW, 3 * DAY)))
    tls.key.chmod(0o644)
    late = NOW + 2.75 * DAY
    remarks = verify_server_tls(tls, "arena.example.com", late)
    assert remarks == [
        f"the private key {tls.key} can be read by every user of this machine: chmod 600 {tls.key}",
        f"a certificate in {tls.certificate} ends on 2026-05-07 12:00 UTC: renew it",
        f"{tls.certificate} is for localhost, *.example.org, 127.0.0.1, ::1, but bots are told arena.example.com "
        "and will refuse it: name a host of the certificate with --advertised-host, or make one for this host",
    ]
    assert len(verify_server_tls(tls, "arena.example.org", late)) == 2
    assert len(verify_server_tls(tls, "a.b.example.org", late)) == 3


def test_certificates_of_a_few_days_are_worth_no_word_while_they_are_new(authority: Authority, tmp_path: Path) -> None:
    def remarks(life: timedelta, after: timedelta) -> int:
        tls = ServerTls(*write(tmp_path, "server", authority.issue_server("server", [], NOW, life)))
        return len(verify_server_tls(tls, "localhost", NOW + after))

    assert [remarks(6 * DAY, days * DAY) for days in (0, 3, 5)] == [0, 0, 1]
    assert [remarks(90 * DAY, days * DAY) for days in (0, 75, 77)] == [0, 0, 1]
