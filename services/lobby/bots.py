"""What a bot may be called, and what else it says of itself when it is registered."""

from __future__ import annotations

import secrets
from collections.abc import Collection

from services.common.errors import PlatformError, Reason
from services.common.matches import HOUSE_PREFIX
from services.common.names import NAME_LIMIT, verify_form

VERSION_LIMIT = 40
OWNER_LIMIT = 100
"""The longest texts, in characters."""


def make_bot_id() -> str:
    """A new id, which tells nothing and is never used again; no house bot's begins like it."""
    return f"bot-{secrets.token_hex(8)}"


def verify_name(name: str, reserved: Collection[str]) -> None:
    """Raises PlatformError NAME_INVALID unless a bot may have the name; `reserved` are the names of the house bots."""
    if name.startswith(HOUSE_PREFIX) or name.casefold() in {house.casefold() for house in reserved}:
        raise PlatformError(
            Reason.NAME_INVALID, f"The name {name[:NAME_LIMIT]!r} belongs to a house bot: choose another.", name=name
        )
    verify_form(name)


def verify_text(field: str, text: str, limit: int) -> None:
    """Raises PlatformError MALFORMED unless the text of the field is short, and harmless in a terminal or a log."""
    if len(text) > limit:
        raise PlatformError(
            Reason.MALFORMED, f"{field} has {len(text)} characters, at most {limit} are allowed.", field=field
        )
    if not text.isprintable():
        raise PlatformError(Reason.MALFORMED, f"{field} has characters that cannot be printed.", field=field)
