"""Whether the files of TLS are in order: said in one sentence before anything is started with them, or renewed."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed448, ed25519, rsa
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes, PublicKeyTypes
from cryptography.x509.oid import ExtendedKeyUsageOID

from services.common.errors import SetupError
from services.common.options import format_option
from services.common.tls import ServerTls, TlsContents

SOON = timedelta(days=14)
"""A certificate that ends within this time is worth a warning, but only in the last sixth of its life: one that is good
for a few days is renewed every few days. Prometheus is told the same (deploy/prometheus/rules)."""

Identity = tuple[bytes, int]
"""What there is one certificate of: the name of its authority (DER), and the number that this one gave it."""

_OTHERS = 0o007
_Signing = (
    dsa.DSAPublicKey | ec.EllipticCurvePublicKey | ed448.Ed448PublicKey | ed25519.Ed25519PublicKey | rsa.RSAPublicKey
)
_LIST = re.compile(rb"-----BEGIN X509 CRL-----.*?-----END X509 CRL-----", re.DOTALL)


def verify_server_tls(tls: ServerTls, told_host: str, now: datetime) -> list[str]:
    """Remarks for the operator, each a sentence; none where all is well. `told_host` is what clients are told.

    Raises SetupError, with the setting in its metadata: a file cannot be read or is not PEM, the key does not fit, a
    certificate has ended or has not begun, or is not made for this purpose.
    """
    return verify_contents(tls, tls.read(), told_host, now)


def verify_contents(tls: ServerTls, contents: TlsContents, told_host: str, now: datetime) -> list[str]:
    """As `verify_server_tls`, for what has been read of the files already."""
    certificate = _certificates("tls_server_cert", tls.certificate, contents.certificate)[0]
    _verify_pair(tls, certificate, contents.key)
    _verify_time("tls_server_cert", tls.certificate, [certificate], now)
    _verify_server_purpose(tls.certificate, certificate)
    checked = [(tls.certificate, certificate)]
    if tls.client_ca is not None and contents.client_ca is not None:
        authorities = _certificates("tls_client_ca", tls.client_ca, contents.client_ca)
        _verify_time("tls_client_ca", tls.client_ca, authorities, now)
        if not any(_may_sign(one) for one in authorities):
            raise SetupError(
                f"--tls-client-ca is {tls.client_ca}, which is no certificate authority but a single certificate: name "
                "the certificate of whoever issues those of the clients.",
                key="tls_client_ca",
            )
        checked += [(tls.client_ca, one) for one in authorities]
    return [*_remarks(tls, checked, told_host, now), *remarks_on_lists(tls, contents, now)]


def identity_of(certificate: x509.Certificate) -> Identity:
    """Which one it is."""
    return certificate.issuer.public_bytes(), certificate.serial_number


def revoked_in(tls: ServerTls, contents: TlsContents) -> frozenset[Identity]:
    """The certificates of clients that were revoked. Raises SetupError: no list, or of somebody else's authority."""
    found = _lists(tls, contents)
    return frozenset((one.issuer.public_bytes(), revoked.serial_number) for one in found for revoked in one)


def _lists(tls: ServerTls, contents: TlsContents) -> list[x509.CertificateRevocationList]:
    if tls.client_crl is None or tls.client_ca is None:
        return []
    authorities = _certificates("tls_client_ca", tls.client_ca, contents.client_ca or b"")
    try:
        found = [x509.load_pem_x509_crl(block) for block in _LIST.findall(contents.client_crl or b"")]
    except ValueError:
        found = []
    if not found:
        raise SetupError(
            f"--tls-client-crl is {tls.client_crl}, which holds no list of revoked certificates in PEM form.",
            key="tls_client_crl",
        )
    for one in found:
        # A list comes over wires that nobody guards: it counts because its authority has signed it.
        if not any(_has_signed(authority, one) for authority in authorities):
            raise SetupError(
                f"--tls-client-crl is {tls.client_crl}, with a list of {one.issuer.rfc4514_string()}, which none of "
                f"the authorities in --tls-client-ca, {tls.client_ca}, has signed.",
                key="tls_client_crl",
            )
    return found


def _has_signed(authority: x509.Certificate, one: x509.CertificateRevocationList) -> bool:
    key = authority.public_key()
    if one.issuer != authority.subject or not isinstance(key, _Signing):
        return False
    return one.is_signature_valid(key)


def remarks_on_lists(tls: ServerTls, contents: TlsContents, now: datetime) -> Iterator[str]:
    """As `verify_contents`, of the lists of revoked certificates alone. Raises as `revoked_in`."""
    for one in _lists(tls, contents):
        if one.next_update_utc is not None and one.next_update_utc < now:
            yield (
                f"a list of revoked certificates in {tls.client_crl} is older than its authority wants it to be, which "
                f"promised another by {_format(one.next_update_utc)}: fetch it; until then this one holds"
            )


def lists_due(tls: ServerTls, contents: TlsContents) -> datetime | None:
    """When (UTC) the first of the lists is to be replaced by a newer one; None without. Raises as `revoked_in`."""
    promised = (one.next_update_utc for one in _lists(tls, contents))
    return min((moment for moment in promised if moment is not None), default=None)


def life_of(tls: ServerTls, contents: TlsContents) -> tuple[datetime, datetime]:
    """From when to when (UTC) the server's certificate is good. Raises SetupError where there is none."""
    certificate = _certificates("tls_server_cert", tls.certificate, contents.certificate)[0]
    return certificate.not_valid_before_utc, certificate.not_valid_after_utc


def hosts_of(certificate: x509.Certificate) -> list[str]:
    """The names and IP addresses that a server's certificate is for."""
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return []
    addresses = names.get_values_for_type(x509.IPAddress)
    return [*names.get_values_for_type(x509.DNSName), *(str(address) for address in addresses)]


def _certificates(setting: str, path: Path, data: bytes) -> list[x509.Certificate]:
    try:
        return x509.load_pem_x509_certificates(data)
    except ValueError:
        other = " It holds a private key: are certificate and key exchanged?" if b"PRIVATE KEY-----" in data else ""
        raise SetupError(
            f"{format_option(setting)} is {path}, which holds no certificate in PEM form.{other}", key=setting
        ) from None


def _verify_pair(tls: ServerTls, certificate: x509.Certificate, data: bytes) -> None:
    key = _private_key(tls.key, data)
    if _public(key.public_key()) != _public(certificate.public_key()):
        raise SetupError(
            f"--tls-server-key is {tls.key}, which does not fit --tls-server-cert, {tls.certificate}: the two are made "
            "together, and a new certificate often has a new key.",
            key="tls_server_key",
        )


def _private_key(path: Path, data: bytes) -> PrivateKeyTypes:
    # What is raised here may quote the file; nothing of it is handed on.
    try:
        return serialization.load_pem_private_key(data, None)
    except TypeError:
        sentence = f"--tls-server-key is {path}, which has a passphrase: the platform needs the key without one."
    except (ValueError, UnsupportedAlgorithm):
        sentence = f"--tls-server-key is {path}, which holds no private key in PEM form."
    raise SetupError(sentence, key="tls_server_key")


def _public(key: PublicKeyTypes) -> bytes:
    return key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)


def _verify_time(setting: str, path: Path, certificates: Sequence[x509.Certificate], now: datetime) -> None:
    """At least one must be good now: a file of authorities may still hold old ones."""
    if any(one.not_valid_before_utc <= now <= one.not_valid_after_utc for one in certificates):
        return
    last = max(certificates, key=lambda one: one.not_valid_after_utc)
    if now > last.not_valid_after_utc:
        what = f"ended on {_format(last.not_valid_after_utc)}: renew it."
    else:
        what = f"begins only on {_format(last.not_valid_before_utc)}: is the clock of this machine right?"
    raise SetupError(f"{format_option(setting)} is {path}, which {what}", key=setting)


def _verify_server_purpose(path: Path, certificate: x509.Certificate) -> None:
    try:
        usage = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    except x509.ExtensionNotFound:
        return  # good for everything
    if ExtendedKeyUsageOID.SERVER_AUTH not in usage and ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE not in usage:
        raise SetupError(
            f"--tls-server-cert is {path}, which is not made for a server: every client would refuse it.",
            key="tls_server_cert",
        )


def _may_sign(certificate: x509.Certificate) -> bool:
    try:
        return certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    except x509.ExtensionNotFound:
        return certificate.subject == certificate.issuer  # as in the first versions of X.509


def _remarks(
    tls: ServerTls, checked: Sequence[tuple[Path, x509.Certificate]], told_host: str, now: datetime
) -> Iterator[str]:
    mode = tls.key.stat().st_mode
    if mode & _OTHERS:
        yield f"the private key {tls.key} can be read by every user of this machine: chmod 600 {tls.key}"
    for path, certificate in checked:
        life = certificate.not_valid_after_utc - certificate.not_valid_before_utc
        if now + min(SOON, life / 6) > certificate.not_valid_after_utc:
            verb = "ends" if now <= certificate.not_valid_after_utc else "has ended"
            yield f"a certificate in {path} {verb} on {_format(certificate.not_valid_after_utc)}: renew it"
    hosts = hosts_of(checked[0][1])
    if not any(_covers(host, told_host) for host in hosts):
        yield (
            f"{tls.certificate} is for {', '.join(hosts) or 'no host'}, but bots are told {told_host} and will refuse "
            "it: name a host of the certificate with --advertised-host, or make one for this host"
        )


def _covers(pattern: str, host: str) -> bool:
    try:
        return ipaddress.ip_address(pattern) == ipaddress.ip_address(host)
    except ValueError:
        pattern, host = pattern.rstrip(".").lower(), host.rstrip(".").lower()
        first, _, rest = host.partition(".")
        return pattern == host or (bool(first) and bool(rest) and pattern == f"*.{rest}")


def _format(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"
