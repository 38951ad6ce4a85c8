"""What is drawn from a tournament's seed: the secrets behind its deals, and the numbers that seal them.

A bot sees match ids, commitments and, at the end, nonces; none of these tells which matches share deals.
"""

from __future__ import annotations

import hashlib
import hmac


def tournament_secret(seed: str) -> bytes:
    """32 bytes from which everything hidden follows. Who knows the seed knows all the deals."""
    return hashlib.sha256(b"baohuang tournament secret v1\0" + seed.encode()).digest()


def schedule_key(seed: str) -> int:
    """What the order of a schedule follows from: 64 bits that tell nothing about the deals."""
    return int.from_bytes(_derive(tournament_secret(seed), "schedule", "")[:8], "big")


def deal_secret(secret: bytes, group: int) -> bytes:
    """The 32 bytes the deals of a group come from: the same for all its matches and all attempts at them."""
    return _derive(secret, "deals", str(group))


def match_nonce(secret: bytes, attempt: str) -> bytes:
    """The 32 bytes hashed into the commitment of one attempt: others for each, so that no two commitments agree."""
    return _derive(secret, "nonce", attempt)


def lot(secret: bytes, name: str) -> bytes:
    """The lot of an entrant, which decides where nothing else does: the lower one comes first."""
    return _derive(secret, "lot", name)


def _derive(secret: bytes, purpose: str, subject: str) -> bytes:
    return hmac.digest(secret, f"baohuang tournament v1\0{purpose}\0{subject}".encode(), "sha256")
