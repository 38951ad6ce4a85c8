"""What a bot may be called, and what else it says of itself when it is registered."""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection

from services.common.errors import PlatformError, Reason
from services.common.matches import HOUSE_PREFIX

NAME_LIMIT = 40
VERSION_LIMIT = 40
OWNER_LIMIT = 100
"""The longest texts, in characters."""

_NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{NAME_LIMIT - 1}}}")


def make_bot_id() -> str:
    """A new id, which tells nothing and is never used again; no house bot's begins like it."""
    return f"bot-{secrets.token_hex(8)}"


def verify_name(name: str, reserved: Collection[str]) -> None:
    """Raises PlatformError NAME_INVALID unless a bot may have the name; `reserved` are the names of the house bots."""
    if name.startswith(HOUSE_PREFIX) or name.casefold() in {house.casefold() for house in reserved}:
        raise PlatformError(
            Reason.NAME_INVALID, f"The name {name[:NAME_LIMIT]!r} belongs to a house bot: choose another.", name=name
        )
    if not _NAME.fullmatch(name):
        raise PlatformError(
            Reason.NAME_INVALID,
            f"The name {name[:NAME_LIMIT]!r} cannot be used: a name is 1 to {NAME_LIMIT} letters (a to z), digits, "
            "'-', '_' or '.', and begins with a letter or digit.",
            name=name,
        )


def verify_text(field: str, text: str, limit: int) -> None:
    """Raises PlatformError MALFORMED unless the text of the field is short, and harmless in a terminal or a log."""
    if len(text) > limit:
        raise PlatformError(
            Reason.MALFORMED, f"{field} has {len(text)} characters, at most {limit} are allowed.", field=field
        )
    if not text.isprintable():
        raise PlatformError(Reason.MALFORMED, f"{field} has characters that cannot be printed.", field=field)
