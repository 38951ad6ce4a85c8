"""Access tokens made, listed, replaced and revoked. Plain class; what must survive is in the ledger."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Iterable

from services.access.callers import current_caller, token_key
from services.access.gate import Gate
from services.access.tokens import hash_token, make_token
from services.common.errors import PlatformError, Reason
from services.common.names import verify_form
from services.common.scopes import GIVEN_SCOPES, Scope
from services.ledger.ledger import Ledger
from services.ledger.values import AccessToken, Page

_log = logging.getLogger(__name__)

PAGE = 100
PAGE_LIMIT = 1000
"""How many tokens a list has if nothing is said, and at most."""


class AccessTokens:
    """The tokens of people and programs; `gate` is told which ended."""

    def __init__(self, ledger: Ledger, gate: Gate) -> None:
        self._ledger = ledger
        self._gate = gate

    async def create(self, name: str, scopes: Collection[Scope]) -> str:
        """A new token, which is kept nowhere. Raises PlatformError NAME_INVALID, NAME_TAKEN or MALFORMED."""
        verify_form(name)
        verify_scopes(scopes)
        token = make_token()
        await asyncio.to_thread(self._ledger.create_access_token, name, frozenset(scopes), hash_token(token))
        _note("access token created", name, scopes)
        return token

    async def rotate(self, name: str) -> str:
        """Another token in its place, also of a revoked one. Raises PlatformError ACCESS_TOKEN_UNKNOWN."""
        token = make_token()
        changed = await asyncio.to_thread(self._ledger.rotate_access_token, name, hash_token(token))
        self._gate.end(token_key(name))
        _note("access token replaced", name, changed.scopes)
        return token

    async def revoke(self, name: str) -> None:
        """Ends a token. Raises PlatformError ACCESS_TOKEN_UNKNOWN."""
        changed = await asyncio.to_thread(self._ledger.revoke_access_token, name)
        self._gate.end(token_key(name))
        _note("access token revoked", name, changed.scopes)

    async def page(self, after: str, limit: int) -> Page[AccessToken]:
        """Access tokens in the order of their names, from the one after `after` on; `limit` 0: as many as is usual."""
        return await asyncio.to_thread(self._ledger.access_tokens, after=after, limit=min(limit or PAGE, PAGE_LIMIT))


def verify_scopes(scopes: Collection[Scope]) -> None:
    """Raises PlatformError MALFORMED unless an access token may have these scopes."""
    allowed = " and ".join(GIVEN_SCOPES)
    if not scopes:
        raise PlatformError(Reason.MALFORMED, f"scopes is empty: a token has one or more of {allowed}.", field="scopes")
    if Scope.PLAY in scopes:
        raise PlatformError(
            Reason.MALFORMED,
            f"scopes has play, which only bots' own tokens have: register a bot for it. Others have {allowed}.",
            field="scopes",
        )


def _note(what: str, name: str, scopes: Iterable[Scope]) -> None:
    _log.info(what, extra={"owner": name, "scopes": " ".join(sorted(scopes)), "by": current_caller().name})
