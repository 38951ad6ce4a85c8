"""The token of a Ray cluster that is there already: shown to it where there is one. No Ray in here."""

from __future__ import annotations

import os
from pathlib import Path

ADVICE = "If it lets in only those who have its token, set RAY_AUTH_TOKEN or RAY_AUTH_TOKEN_PATH."

_MODE = "RAY_AUTH_MODE"
_VARIABLES = ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")
_FILE = Path("~/.ray/auth_token")


def offer_ray_token() -> None:
    """Has Ray show the token it would find, unless its own variable says whether to; a cluster without does not mind.

    To be called before Ray is imported: it looks only then. It shows no token by itself to a cluster that was named.
    """
    environ = os.environ  # noqa: TID251 - Ray's own variables, which are no settings of the platform
    if _MODE not in environ and (any(map(environ.get, _VARIABLES)) or _is_there(_FILE)):
        environ[_MODE] = "token"


def _is_there(path: Path) -> bool:
    try:
        return path.expanduser().is_file()
    except (OSError, RuntimeError):
        return False
