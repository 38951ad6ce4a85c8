"""Whoever calls, as the platform knows them, for the time of one call."""

from __future__ import annotations

import base64
from contextvars import ContextVar
from dataclasses import dataclass, field

from services.common.errors import PlatformError, Reason
from services.common.scopes import Scope
from services.ledger.values import Bot

BEARER = "bearer"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls: a bot, the owner of an access token, or nobody the platform knows.

    `shown` is the hash of the token that was shown.
    """

    name: str = ""
    scopes: frozenset[Scope] = frozenset()
    bot: Bot | None = None
    shown: bytes = field(default=b"", repr=False)

    @property
    def is_known(self) -> bool:
        """Whether a token was shown that holds."""
        return bool(self.scopes)

    @property
    def key(self) -> str:
        """Tells callers from each other: an access token may be called like a bot."""
        return bot_key(self.bot.bot_id) if self.bot else token_key(self.name)


NOBODY = Caller()

_current: ContextVar[Caller] = ContextVar("caller", default=NOBODY)


def current_caller() -> Caller:
    """Who makes the call that is being answered; `NOBODY` where nothing was asked."""
    return _current.get()


def current_bot() -> tuple[Bot, bytes]:
    """The bot that makes the call, and the hash of the token it has shown.

    Raises RuntimeError where no bot's token was asked for: the table of needs and the servicer then do not agree.
    """
    caller = _current.get()
    if caller.bot is None:
        raise RuntimeError("this call is answered without having asked for a bot's token")
    return caller.bot, caller.shown


def set_caller(caller: Caller) -> None:
    """Whoever is called from here on, in the task of this call, learns who calls."""
    _current.set(caller)


def bot_key(bot_id: str) -> str:
    """The key of a bot."""
    return f"bot {bot_id}"


def token_key(name: str) -> str:
    """The key of an access token."""
    return f"token {name}"


def parse_bearer(value: str) -> str:
    """The token in `Bearer TOKEN`. Raises PlatformError UNAUTHENTICATED if the text is of another form."""
    scheme, _, token = value.partition(" ")
    if scheme.lower() != BEARER:
        raise PlatformError(Reason.UNAUTHENTICATED, "The metadata `authorization` must have the form `Bearer TOKEN`.")
    return token.strip()


def parse_http_credentials(value: str) -> str:
    """The token in `Bearer TOKEN`, or in `Basic …` as the password: so browsers ask for it.

    Raises PlatformError UNAUTHENTICATED if the text is of another form.
    """
    scheme, _, rest = value.partition(" ")
    if scheme.lower() == "basic":
        try:
            _, _, token = base64.b64decode(rest.strip(), validate=True).decode().partition(":")
        except ValueError:
            raise PlatformError(Reason.UNAUTHENTICATED, "The header `authorization` cannot be read.") from None
        return token.strip()
    return parse_bearer(value) if value else ""
