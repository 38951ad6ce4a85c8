"""The first token of an operator: made with the ledger, and written to a file that only the platform's owner reads."""

from __future__ import annotations

import contextlib
import os
from enum import Enum
from pathlib import Path

from services.access.tokens import hash_token, make_token
from services.common.errors import SetupError
from services.common.scopes import Scope
from services.ledger.ledger import Ledger

OPERATOR = "operator"
"""The name of the token."""

OPERATOR_FILE = "operator.token"
"""The file in the data directory."""


class OperatorToken(Enum):
    """What became of the operator's token when the platform started."""

    MADE = "made"
    THERE = "there"
    """In its file, and it holds."""
    ELSEWHERE = "elsewhere"
    """The ledger knows one, but the file is gone, or holds another."""


def provide_operator_token(ledger: Ledger, data_dir: Path) -> OperatorToken:
    """Makes the operator's token for a ledger that never had one; otherwise only looks. Raises SetupError."""
    path = data_dir / OPERATOR_FILE
    if ledger.access_token(OPERATOR) is None:
        token = make_token()
        write_token(path, token)  # first: what is in the ledger alone would be lost for good
        ledger.create_access_token(OPERATOR, frozenset({Scope.OPERATE}), hash_token(token))
        return OperatorToken.MADE
    try:
        known = ledger.access_token_with(hash_token(path.read_text(encoding="utf-8").strip()))
    except (OSError, UnicodeDecodeError):
        known = None
    return OperatorToken.THERE if known is not None else OperatorToken.ELSEWHERE


def reset_operator_token(ledger: Ledger, data_dir: Path) -> Path:
    """Another operator's token in place of the one before, also of a revoked one; the file. Raises SetupError."""
    path = data_dir / OPERATOR_FILE
    if ledger.access_token(OPERATOR) is None:
        provide_operator_token(ledger, data_dir)
        return path
    token = make_token()
    write_token(path, token)
    ledger.rotate_access_token(OPERATOR, hash_token(token))
    return path


def write_token(path: Path, token: str) -> None:
    """Writes a token to a file that only its owner can read, in place of what was there; whole or not at all.

    Raises SetupError.
    """
    new = path.with_name(f"{path.name}.new")
    try:
        new.unlink(missing_ok=True)
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(f"{token}\n")
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)
        sentence = f"The token file {path} cannot be written ({error.strerror}): make room, or name another folder."
        raise SetupError(sentence, key="data_dir") from None
