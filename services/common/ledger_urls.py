"""Where a ledger is: a file, or a PostgreSQL database by its URL, which may hold a password.

What stands before an @ is taken to be user and password even where a URL must not have one, for example after a slash:
whoever forgot to escape a password does not want to see it in a log.
"""

from __future__ import annotations

from urllib.parse import parse_qsl

SCHEMES = ("postgresql://", "postgres://")

_SECRET_PARAMETERS = ("password", "sslpassword")


def is_database_url(place: str) -> bool:
    """Whether it names a database, and not a file."""
    return place.startswith(SCHEMES)


def format_place(place: str) -> str:
    """The place as everybody may see it: of a URL without password and parameters."""
    if not is_database_url(place):
        return place
    scheme, _, rest = place.partition("://")
    before, at, after = rest.rpartition("@")
    user = before.partition(":")[0]
    return f"{scheme}://{f'{user}{at}{after}'.partition('?')[0].partition('#')[0]}"


def has_password(place: str) -> bool:
    """Whether a URL has a password in it, where it stands usually or among its parameters."""
    if not is_database_url(place):
        return False
    rest = place.partition("://")[2]
    parameters = parse_qsl(rest.partition("?")[2], keep_blank_values=True)
    return ":" in rest.rpartition("@")[0] or any(name.lower() in _SECRET_PARAMETERS for name, _ in parameters)
