"""Tokens: what proves who is calling. Shown once when given out, kept only as a hash."""

from __future__ import annotations

import hashlib
import secrets

PREFIX = "bh_"
"""How a token begins, so that people and scanners for secrets know one when they see it."""

_RANDOM_BYTES = 32


def make_token() -> str:
    """A new token: `bh_` and 32 random bytes as base64url, 46 characters."""
    return PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)


def hash_token(token: str) -> bytes:
    """What the ledger keeps of a token: its SHA-256, 32 bytes.

    A token is random enough that a slow hash would add nothing. Tokens are looked up by this hash and never compared
    themselves: how long a look-up takes depends on the hash, which nobody can steer, and so tells nothing.
    """
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
