"""What the SDK raises on purpose; nothing else reaches its user.

    ArenaError
    ├── Malformed              a message that is not in the protocol
    ├── ProtocolBroken         the platform did what the protocol does not allow
    ├── Unreachable            nobody answers at the address, or the wire broke
    ├── TlsFailed              somebody answers, but client and server do not agree on TLS (carries the fault)
    ├── Refused                the platform said no, and why (carries the reason)
    │   ├── TokenRejected      the token is missing, unknown or revoked, or not for this
    │   ├── TicketRejected     a match service did not take the ticket; a new one comes from the lobby
    │   ├── VersionMismatch    client and server speak different versions
    │   └── Superseded         the same bot came in from somewhere else
    ├── BotNotLoaded           a text like `my_bot.py:MyBot` that names no bot
    └── BotFailed              the bot raised, or returned what is no answer

The rules have a tree of their own (`bots_sdk.rules.errors`).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from bots_sdk.rules.errors import NotationError

MOST_RETRY_S = 60.0
"""No platform is believed that wants to be left alone for longer."""

ERROR_DOMAIN = "baohuang.arena"
"""The domain of every `google.rpc.ErrorInfo` the platform sends."""


class ArenaError(Exception):
    """Root of everything the SDK raises on purpose. `str(error)` is one clear sentence."""


class Malformed(ArenaError, NotationError):
    """A message that can be decoded but says what the protocol does not allow, for example a seat 7.

    It is a `NotationError` too: to the rules, bytes that name no card or answer.

    Attributes:
        field: the path of the field within the message, for example `played.cards`.
    """

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field


class ProtocolBroken(ArenaError):
    """The other side did what the protocol does not allow."""


class Unreachable(ArenaError):
    """Nobody answers at the address, or the wire broke."""


class TlsFault(StrEnum):
    """Why there is no TLS between client and server."""

    FILES_WRONG = "files_wrong"
    """One of the client's own files is missing or is not what it should be."""
    SERVER_SPEAKS_TLS = "server_speaks_tls"
    SERVER_SPEAKS_PLAINTEXT = "server_speaks_plaintext"
    UNTRUSTED = "untrusted"
    """The server's certificate is of no authority that the client trusts."""
    HOST_MISMATCH = "host_mismatch"
    EXPIRED = "expired"
    """The server's certificate has ended, or has not begun."""
    CLIENT_CERTIFICATE_NEEDED = "client_certificate_needed"
    CLIENT_CERTIFICATE_REFUSED = "client_certificate_refused"
    OTHER = "other"


class TlsFailed(ArenaError):
    """Somebody answers, but client and server do not agree on TLS. It does not mend itself.

    Attributes:
        fault: what is wrong; `str(error)` says it, and what to do.
    """

    def __init__(self, fault: TlsFault, message: str) -> None:
        super().__init__(message)
        self.fault = fault


class Refused(ArenaError):
    """The platform said no.

    Attributes:
        reason: the name of a value of `baohuang.error.v1.Reason`, for example `REASON_NAME_TAKEN`.
        message: the platform's sentence.
        metadata: every variable part of the sentence.
        next_step: what to do about it, for a person; may be empty.
    """

    def __init__(self, reason: str, message: str, metadata: Mapping[str, str] | None = None) -> None:
        self.reason = reason
        self.message = message
        self.metadata: Mapping[str, str] = MappingProxyType(dict(metadata or {}))
        operators_only = reason in _ABOUT_SCOPES and self.metadata.get("needs") == "operate"
        self.next_step = ASK_OPERATOR if operators_only else NEXT_STEPS.get(reason, "")
        # Messages come with and without a full stop.
        sentence = message if not self.next_step or message.endswith((".", "!", "?")) else f"{message}."
        super().__init__(f"{sentence} {self.next_step}".strip())

    @property
    def retry_after_s(self) -> float:
        """Seconds after which it may be tried again, a minute at most; 0 if the platform did not say."""
        text = self.metadata.get("retry_after_ms", "")
        return min(int(text) / 1000, MOST_RETRY_S) if text.isascii() and text.isdigit() and len(text) < 9 else 0.0


class TokenRejected(Refused):
    """The token is missing, unknown or revoked, or it is not for this."""


class TicketRejected(Refused):
    """A match service did not take the ticket; the lobby gives out a new one."""


class VersionMismatch(Refused):
    """Client and server speak different versions of the protocol."""


class Superseded(Refused):
    """The same bot came in from somewhere else; the newest connection wins."""


class BotNotLoaded(ArenaError):
    """A text like `my_bot.py:MyBot` that names no bot; the message says where it fails."""


class BotFailed(ArenaError):
    """The bot raised, or returned what is no answer; the message says what and where in the bot's file."""


NEXT_STEPS: Mapping[str, str] = MappingProxyType(
    {
        "REASON_UNAUTHENTICATED": "Give the bot's token: --token-file, or BAOHUANG_TOKEN.",
        "REASON_FORBIDDEN": "Give the token that the bot got when it was registered.",
        "REASON_TOKEN_UNKNOWN": "Check the token, or register the bot anew: baohuang bot register NAME.",
        "REASON_TICKET_INVALID": "The lobby gives out a new ticket by itself.",
        "REASON_VERSION_UNSUPPORTED": "Install the version of baohuang-arena that fits the server.",
        "REASON_SUPERSEDED": "Only one process may run a bot; stop the other one, or register a second bot.",
        "REASON_NAME_TAKEN": "Choose another name.",
        "REASON_CERTIFICATE_REVOKED": "Ask the operator for another certificate (--tls-cert, --tls-key).",
        "REASON_INTERNAL": "The operator finds the details in the platform's log.",
    }
)
"""What a person should do next, by reason, where the platform's sentence does not say it; `docs/errors.md` has more."""

ASK_OPERATOR = "Ask an operator of the platform to do it, or show an operator's token: --operator-token-file FILE."
_ABOUT_SCOPES = ("REASON_UNAUTHENTICATED", "REASON_FORBIDDEN")

_REFUSALS: Mapping[str, type[Refused]] = MappingProxyType(
    {
        "REASON_UNAUTHENTICATED": TokenRejected,
        "REASON_FORBIDDEN": TokenRejected,
        "REASON_TOKEN_UNKNOWN": TokenRejected,
        "REASON_TICKET_INVALID": TicketRejected,
        "REASON_VERSION_UNSUPPORTED": VersionMismatch,
        "REASON_SUPERSEDED": Superseded,
    }
)


def make_refused(reason: str, message: str, metadata: Mapping[str, str] | None = None) -> Refused:
    """The `Refused`, or the kind of it, that goes with a reason."""
    return _REFUSALS.get(reason, Refused)(reason, message, metadata)
