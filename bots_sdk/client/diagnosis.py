"""Why no connection came about: gRPC says little, so the handshake is tried once more, and looked at.

A fault that is found is one that does not mend itself; whatever may be only for now (nobody there, a server that is
about to stop) is none.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass

from bots_sdk.client.tls import PROTOCOLS, Tls
from bots_sdk.errors import ArenaError, TlsFailed, TlsFault, Unreachable

PATIENCE_S = 5.0
"""How long a server may take for its part of a handshake."""
AGAIN_S = 0.3
"""A connection that was closed without a word is tried once more after so long: the server may just be stopping."""
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"
"""How a client of HTTP/2 begins: its preface, and settings without any."""
_FRAME = 9
_SETTINGS = 4
"""The kind of the frame with which a server of HTTP/2 begins."""
_EXPIRED, _NOT_YET, _OTHER_NAME, _OTHER_IP = 10, 9, 62, 64
"""What OpenSSL calls these (X509_V_ERR_…)."""


@dataclass(frozen=True, slots=True)
class _Place:
    address: str
    host: str
    port: int


class _Dropped(Exception):
    """The server closed the connection when the handshake was over, and said nothing."""


async def diagnose(address: str, tls: Tls | None) -> ArenaError | None:
    """What is wrong between a client with these settings and the server at HOST:PORT, if it is more than silence."""
    host, _, port = address.rpartition(":")
    if not port.isascii() or not port.isdigit():
        return None
    place = _Place(address, host.strip("[]"), int(port))
    try:
        return await (_diagnose_plain(place) if tls is None else _diagnose_tls(place, tls))
    except TlsFailed as error:
        return error
    except (OSError, TimeoutError, asyncio.IncompleteReadError):
        return None


async def _diagnose_plain(place: _Place) -> ArenaError | None:
    if not await _speaks_tls(place):
        return None
    return TlsFailed(
        TlsFault.SERVER_SPEAKS_TLS,
        f"{place.address} speaks TLS, but was called in plain text: give the file of its authority with --tls-ca FILE, "
        "or --tls if it is one that the system trusts",
    )


async def _diagnose_tls(place: _Place, tls: Tls) -> ArenaError | None:
    try:
        try:
            return await _look(place, tls.context())
        except _Dropped:
            await asyncio.sleep(AGAIN_S)
            return await _look(place, tls.context())
    except _Dropped:
        return _certificate_missing(place, tls)
    except ssl.SSLCertVerificationError as error:
        return await _explain_certificate(place, tls, error)
    except ssl.SSLError as error:
        reason = error.reason or ""
        if "ALERT" in reason:
            if "CERTIFICATE" in reason or "UNKNOWN_CA" in reason:
                return _certificate_missing(place, tls)
            hint = "" if tls.certificate else ": does it demand a certificate of its clients? --tls-cert and --tls-key"
            return TlsFailed(TlsFault.OTHER, f"{place.address} ended the handshake of TLS ({reason}){hint}")
        if await _speaks_plainly(place):
            return _no_tls(place)
        return TlsFailed(TlsFault.OTHER, f"no connection with TLS to {place.address} comes about: {reason or error}")
    except ConnectionError:
        return _no_tls(place) if await _speaks_plainly(place) else None


async def _look(place: _Place, context: ssl.SSLContext) -> ArenaError | None:
    """Shakes hands and waits for the server's first word. Raises what goes wrong with it."""
    async with asyncio.timeout(PATIENCE_S), _connected(place, context) as (reader, writer):
        chosen = writer.get_extra_info("ssl_object").selected_alpn_protocol()
        if chosen not in PROTOCOLS:
            return Unreachable(
                f"what answers at {place.address} speaks TLS, but is no gRPC server: is it the port of the page?"
            )
        try:
            if not await reader.read(1):
                raise _Dropped
        except ConnectionError:
            raise _Dropped from None
    return None


def _certificate_missing(place: _Place, tls: Tls) -> TlsFailed:
    if tls.certificate is None:
        return TlsFailed(
            TlsFault.CLIENT_CERTIFICATE_NEEDED,
            f"{place.address} demands a certificate of its clients: give the one you got from the operator with "
            "--tls-cert FILE --tls-key FILE",
        )
    return TlsFailed(
        TlsFault.CLIENT_CERTIFICATE_REFUSED,
        f"{place.address} did not take the certificate in {tls.certificate}: it must be of the authority that the "
        "server takes, made for clients, and not have ended",
    )


async def _explain_certificate(place: _Place, tls: Tls, error: ssl.SSLCertVerificationError) -> TlsFailed:
    code = error.verify_code
    whose = f"the certificate of {place.address}"
    if code == _EXPIRED:
        return TlsFailed(
            TlsFault.EXPIRED,
            f"{whose} has ended: the operator must renew it (or is the clock of this machine wrong?)",
        )
    if code == _NOT_YET:
        return TlsFailed(TlsFault.EXPIRED, f"{whose} is not good yet: is the clock of this machine right?")
    if code in (_OTHER_NAME, _OTHER_IP):
        names = await _names(place, tls)
        return TlsFailed(
            TlsFault.HOST_MISMATCH,
            f"{whose} is not for {place.host} but for {', '.join(names) or 'no host'}: call the server by such a name, "
            f"or the operator must get one for {place.host}",
        )
    trusted = f"{tls.ca} does not hold its authority" if tls.ca else "the system does not know its authority"
    return TlsFailed(
        TlsFault.UNTRUSTED,
        f"{whose} is not trusted, as {trusted} ({error.verify_message}): give the right file with --tls-ca FILE",
    )


async def _names(place: _Place, tls: Tls) -> list[str]:
    """Whom the certificate of a server is for."""
    context = tls.context()
    context.check_hostname = False
    async with asyncio.timeout(PATIENCE_S), _connected(place, context) as (_, writer):
        certificate = writer.get_extra_info("peercert") or {}
    return [name for _, name in certificate.get("subjectAltName", ())]


def _no_tls(place: _Place) -> TlsFailed:
    return TlsFailed(
        TlsFault.SERVER_SPEAKS_PLAINTEXT,
        f"{place.address} does not speak TLS: ask the operator for a port that does, or leave out --tls, --tls-ca and "
        "BAOHUANG_TLS… if you trust the network in between",
    )


async def _speaks_tls(place: _Place) -> bool:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(PROTOCOLS)
    try:
        async with asyncio.timeout(PATIENCE_S), _connected(place, context):
            return True
    except ssl.SSLError as error:
        return "ALERT" in (error.reason or "")


async def _speaks_plainly(place: _Place) -> bool:
    """Whether HTTP/2 without TLS is spoken there."""
    async with asyncio.timeout(PATIENCE_S), _connected(place, None) as (reader, writer):
        writer.write(_PREFACE)
        frame = await reader.readexactly(_FRAME)
    return frame[3] == _SETTINGS


@contextlib.asynccontextmanager
async def _connected(
    place: _Place, context: ssl.SSLContext | None
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    name = place.host if context is not None else None
    reader, writer = await asyncio.open_connection(place.host, place.port, ssl=context, server_hostname=name)
    try:
        yield reader, writer
    finally:
        writer.transport.abort()
