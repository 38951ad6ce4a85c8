"""A certificate authority for development: makes itself, and certificates for servers and clients that trust only it.

Keys are ECDSA on P-256. The authority may sign certificates and nothing else, and none that could sign others; the
certificate of a server is good for a server only, that of a client for a client only.
"""

from __future__ import annotations

import ipaddress
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID, ObjectIdentifier

from services.common.errors import SetupError

AUTHORITY_LIFE = timedelta(days=730)
CERTIFICATE_LIFE = timedelta(days=365)
"""How long a certificate is good, but never longer than its authority."""

BACKDATED = timedelta(minutes=10)
"""A certificate is good so long before it was made: the clock of another machine may be behind."""

LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
"""In every server's certificate."""

_Key = ec.EllipticCurvePrivateKey


@dataclass(frozen=True, slots=True)
class Issued:
    """A certificate and its private key, both PEM; `ends_at` is the last moment (UTC) at which it is good."""

    certificate: bytes
    key: bytes = field(repr=False)
    ends_at: datetime


class Authority:
    """Issues certificates. `pair` is its own certificate and key."""

    def __init__(self, certificate: x509.Certificate, key: _Key) -> None:
        self._certificate = certificate
        self._key = key

    @classmethod
    def make(cls, now: datetime) -> Authority:
        """A new one, unlike any other; `now` in UTC."""
        key = ec.generate_private_key(ec.SECP256R1())
        # Two authorities of one name would be taken for each other, and the error would speak of a wrong signature.
        name = _named(f"Baohuang development CA {secrets.token_hex(4)}")
        certificate = (
            _builder(name, name, key, now, now + AUTHORITY_LIFE)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_usage(signs_certificates=True), critical=True)
            .sign(key, hashes.SHA256())
        )
        return cls(certificate, key)

    @classmethod
    def load(cls, certificate: bytes, key: bytes) -> Authority:
        """The one that `pair` was taken of. Raises SetupError when these are not such a pair."""
        try:
            loaded = x509.load_pem_x509_certificate(certificate)
            private = serialization.load_pem_private_key(key, None)
            constraints = loaded.extensions.get_extension_for_class(x509.BasicConstraints).value
        except (ValueError, TypeError, x509.ExtensionNotFound):
            raise SetupError("These files are no certificate authority: make one in a new folder.") from None
        if not constraints.ca or not isinstance(private, _Key) or private.public_key() != loaded.public_key():
            raise SetupError("Certificate and key of this authority do not belong together: make one in a new folder.")
        return cls(loaded, private)

    @property
    def pair(self) -> Issued:
        """Its own certificate and key."""
        return _issued(self._certificate, self._key)

    def issue_server(self, name: str, hosts: Sequence[str], now: datetime, life: timedelta | None = None) -> Issued:
        """A server's certificate, for the `LOCAL_HOSTS` and `hosts` (names and IP addresses)."""
        known = dict.fromkeys([*LOCAL_HOSTS, *hosts])
        names = x509.SubjectAlternativeName([_alternative(host) for host in known])
        return self._issue(name, ExtendedKeyUsageOID.SERVER_AUTH, now, life, names)

    def issue_client(self, name: str, now: datetime, life: timedelta | None = None) -> Issued:
        """A client's certificate."""
        return self._issue(name, ExtendedKeyUsageOID.CLIENT_AUTH, now, life)

    def revoke(self, revoked: Iterable[x509.Certificate], so_far: bytes | None, now: datetime) -> bytes:
        """A list (PEM) of the certificates that were revoked: these, and those of the list that there was so far.

        It is promised for as long as the authority itself is good, as nobody is there to make a new one in time.
        Raises SetupError for a certificate of another authority, and a list that is none.
        """
        builder = (
            x509.CertificateRevocationListBuilder()
            .issuer_name(self._certificate.subject)
            .last_update(now)
            .next_update(max(self._certificate.not_valid_after_utc, now + BACKDATED))
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
        )
        try:
            old = [] if so_far is None else list(x509.load_pem_x509_crl(so_far))
        except ValueError:
            raise SetupError("What is there holds no list of revoked certificates.") from None
        found = {one.serial_number: one for one in old}
        for certificate in revoked:
            if certificate.issuer != self._certificate.subject:
                raise SetupError("The certificate is of another authority, which alone can revoke it.")
            if certificate.serial_number not in found:
                number = certificate.serial_number
                entry = x509.RevokedCertificateBuilder().serial_number(number).revocation_date(now).build()
                found[number] = entry
        for entry in found.values():
            builder = builder.add_revoked_certificate(entry)
        return builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    def _issue(
        self,
        name: str,
        purpose: ObjectIdentifier,
        now: datetime,
        life: timedelta | None,
        names: x509.SubjectAlternativeName | None = None,
    ) -> Issued:
        last = self._certificate.not_valid_after_utc
        if now >= last:
            raise SetupError(f"The authority ended on {last:%Y-%m-%d}: make one in a new folder.")
        key = ec.generate_private_key(ec.SECP256R1())
        ends_at = min(now + (CERTIFICATE_LIFE if life is None else life), last)
        builder = (
            _builder(_named(name), self._certificate.subject, key, now, ends_at)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(signs_certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
        )
        if names is not None:
            builder = builder.add_extension(names, critical=False)
        return _issued(builder.sign(self._key, hashes.SHA256()), key)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: _Key, now: datetime, ends_at: datetime
) -> x509.CertificateBuilder:
    begins_at = min(now, ends_at) - BACKDATED
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begins_at)
        .not_valid_after(ends_at)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _alternative(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _issued(certificate: x509.Certificate, key: _Key) -> Issued:
    return Issued(
        certificate.public_bytes(serialization.Encoding.PEM),
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()),
        certificate.not_valid_after_utc,
    )
