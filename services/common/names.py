"""The form of names that people choose for bots and access tokens."""

from __future__ import annotations

import re

from services.common.errors import PlatformError, Reason

NAME_LIMIT = 40
"""The longest name, in characters."""

_NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{NAME_LIMIT - 1}}}")


def verify_form(name: str) -> None:
    """Raises PlatformError NAME_INVALID unless the name is of the form that all names have."""
    if not _NAME.fullmatch(name):
        raise PlatformError(
            Reason.NAME_INVALID,
            f"The name {name[:NAME_LIMIT]!r} cannot be used: a name is 1 to {NAME_LIMIT} letters (a to z), digits, "
            "'-', '_' or '.', and begins with a letter or digit.",
            name=name,
        )
