"""Tickets: what lets one bot into one match service for a short while; the lobby makes, a match service checks them.

A ticket is base64url without padding of

    version (1 byte) | expires_at (8, microseconds since 1970 UTC) | token_since (8, likewise) | tables (4)
    | bot_id | bot_name | match_service | MAC (32)

numbers big-endian, texts as two bytes of length and UTF-8. The MAC is HMAC-SHA256 over a fixed prefix and everything
before it, with a key that the parts of one platform share. A ticket is no secret of long standing, but whoever has it
is the bot until it ends: it must not be logged.

A ticket rests on the token with which its bot attended, and `token_since` says on which: since when the bot has it.
When the bot's token ends, match services are told by a `TokenEnd`, and refuse what rests on it. Both moments come from
the ledger, where each token of a bot is from later than the one before, so no two clocks are compared.
"""

from __future__ import annotations

import base64
import hmac
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from services.common.errors import PlatformError, Reason

KEY_BYTES = 32
"""The least length of a key."""

TEXT_LIMIT = 1024
"""No ticket is longer, in characters; anything longer is refused unread."""

_VERSION = 2
_PURPOSE = b"baohuang ticket\x00"  # a key that serves for something else too makes no tickets by accident
_HEAD = struct.Struct(">BQQI")
_LENGTH = struct.Struct(">H")
_FEW = 64
_MAC_BYTES = 32
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class TicketFault(StrEnum):
    """What is wrong with a ticket; `fault` in the metadata of the error."""

    MISSING = "missing"
    FORGED = "forged"
    OTHER_VERSION = "other_version"
    OTHER_MATCH_SERVICE = "other_match_service"
    EXPIRED = "expired"
    TOKEN_ENDED = "token_ended"


@dataclass(frozen=True, slots=True)
class Ticket:
    """Lets a bot into the match service named, with so many tables at once, until `expires_at` (UTC).

    `token_since` (UTC) is since when the bot has the token with which it asked for the ticket.
    """

    bot_id: str
    bot_name: str
    match_service: str
    tables: int
    expires_at: datetime
    token_since: datetime = _EPOCH


@dataclass(frozen=True, slots=True)
class TokenEnd:
    """The tokens that a bot had before `before` hold no longer, and neither do the tickets that rest on them.

    The last of these tickets ends at `tickets_until`; after that nobody needs to remember.
    """

    bot_id: str
    before: datetime
    tickets_until: datetime


class EndedTokens:
    """What a match service was told of tokens that ended, one entry a bot, as long as tickets of theirs may be around.

    What is over is forgotten whenever the number of entries has doubled.
    """

    def __init__(self) -> None:
        self._ends: dict[str, TokenEnd] = {}
        self._bearable = _FEW

    def add(self, end: TokenEnd, now: datetime) -> None:
        """Remembers it. What is told twice, or out of order, is the same as told once."""
        if len(self._ends) >= self._bearable:
            self._ends = {bot_id: known for bot_id, known in self._ends.items() if now < known.tickets_until}
            self._bearable = max(_FEW, 2 * len(self._ends))
        known = self._ends.get(end.bot_id)
        if now < end.tickets_until and (known is None or known.before < end.before):
            self._ends[end.bot_id] = end

    def verify(self, ticket: Ticket) -> None:
        """Raises PlatformError TICKET_INVALID if the ticket rests on a token that has ended."""
        end = self._ends.get(ticket.bot_id)
        if end is not None and ticket.token_since < end.before:
            raise _invalid(
                TicketFault.TOKEN_ENDED,
                "The ticket rests on a token that was replaced or revoked: attend the lobby with the token that holds.",
            )

    def __len__(self) -> int:
        return len(self._ends)


def issue_ticket(key: bytes, ticket: Ticket) -> str:
    """The text of a ticket, printable ASCII.

    Raises ValueError when the key is shorter than `KEY_BYTES` or a field cannot be written.
    """
    if len(key) < KEY_BYTES:
        raise ValueError(f"a ticket key has at least {KEY_BYTES} bytes, not {len(key)}")
    expires, since = ((moment - _EPOCH) // _MICROSECOND for moment in (ticket.expires_at, ticket.token_since))
    try:
        body = _HEAD.pack(_VERSION, expires, since, ticket.tables)
        for text in (ticket.bot_id, ticket.bot_name, ticket.match_service):
            encoded = text.encode()
            body += _LENGTH.pack(len(encoded)) + encoded
    except struct.error as error:
        raise ValueError(f"a field of the ticket is out of range: {error}") from error
    text = base64.urlsafe_b64encode(body + _mac(key, body)).rstrip(b"=").decode()
    if len(text) > TEXT_LIMIT:
        raise ValueError(f"the ticket has {len(text)} characters, {TEXT_LIMIT} are allowed: shorten the names in it")
    return text


def verify_ticket(key: bytes, text: str, match_service: str, now: datetime) -> Ticket:
    """The ticket that `text` stands for, if it is good at this match service now (UTC).

    Raises PlatformError: UNAUTHENTICATED when there is none, otherwise TICKET_INVALID; `fault` of the metadata is a
    `TicketFault`.
    """
    if not text:
        raise PlatformError(
            Reason.UNAUTHENTICATED,
            "There is no ticket in the hello: attend the lobby, it gives one for each match service.",
            fault=TicketFault.MISSING,
        )
    ticket = _open(key, text)
    if ticket.match_service != match_service:
        raise _invalid(
            TicketFault.OTHER_MATCH_SERVICE,
            f"The ticket is for the match service {ticket.match_service!r}, this is {match_service!r}: "
            "use the ticket that came with this address.",
        )
    if now >= ticket.expires_at:
        raise _invalid(
            TicketFault.EXPIRED,
            f"The ticket ended at {ticket.expires_at.isoformat(timespec='seconds')}, "
            f"it is {now.isoformat(timespec='seconds')}: attend the lobby for a new one.",
        )
    return ticket


def _open(key: bytes, text: str) -> Ticket:
    """The ticket, if it was made with the key; where and when it holds is not looked at."""
    forged = _invalid(TicketFault.FORGED, "This is no ticket of this platform: attend the lobby, it gives one.")
    if len(text) > TEXT_LIMIT:
        raise forged
    try:
        whole = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except ValueError:
        raise forged from None
    body, mac = whole[:-_MAC_BYTES], whole[-_MAC_BYTES:]
    if not body or not hmac.compare_digest(mac, _mac(key, body)):
        raise forged
    version = body[0]
    if version != _VERSION:
        raise _invalid(
            TicketFault.OTHER_VERSION,
            f"The ticket has version {version}, this match service reads version {_VERSION}: "
            "run lobby and match services of the same version.",
        )
    _, expires, since, tables = _HEAD.unpack_from(body)
    bot_id, bot_name, service = _texts(body[_HEAD.size :])
    return Ticket(bot_id, bot_name, service, tables, _EPOCH + expires * _MICROSECOND, _EPOCH + since * _MICROSECOND)


def _texts(rest: bytes) -> Iterator[str]:
    """The texts one after the other; the MAC has been checked, so they are as we wrote them."""
    while rest:
        (size,) = _LENGTH.unpack_from(rest)
        end = _LENGTH.size + size
        yield rest[_LENGTH.size : end].decode()
        rest = rest[end:]


def _mac(key: bytes, body: bytes) -> bytes:
    return hmac.digest(key, _PURPOSE + body, "sha256")


def _invalid(fault: TicketFault, message: str) -> PlatformError:
    return PlatformError(Reason.TICKET_INVALID, message, fault=fault)
