"""What errors of PostgreSQL and of the way to it mean for whoever asked."""

from __future__ import annotations

import re

import psycopg
from sqlalchemy.exc import DBAPIError, IntegrityError

from services.common.errors import PlatformError, Reason
from services.ledger.database import DatabaseRefused

_LOCKED = {"55P03", "40P01", "40001"}  # did not get the lock in time, deadlock, serialization failure
_DAMAGED = {"XX001", "XX002"}
_NOT_NOW = ("08", "53", "57P", "58")  # connection, resources, shutdown, system: classes of SQLSTATE
_NO_ROOM = {"53100", "58030"}  # disk full, I/O error
_NOT_ALLOWED = {"25006", "42501"}  # read-only transaction, insufficient privilege

_FATAL = re.compile(r".*?(?:FATAL|ERROR): +", re.DOTALL)

_REFUSALS = (
    ("password authentication failed", "the password is not that of its user", "give the right one"),
    ("no password supplied", "it wants a password", "give one in a file named by PGPASSFILE, or in the URL"),
    ("no pg_hba.conf entry", "the server lets nobody in from here as this user", "add a line to its pg_hba.conf"),
    ("authentication failed", "the server does not believe who we are", "see to its pg_hba.conf"),
    ("permission denied for database", "its user may not use it", "grant it the right to connect"),
)
"""What is in the text of a refusal that waiting does not mend, what it means, and what to do.

A refusal while connecting has no code, and its text may be in the language of the server: then it is shown as it is.
"""

_ABSENT = re.compile(r'(database|role) "(.*)" does not exist')


def is_passing(error: psycopg.Error) -> bool:
    """Whether connecting may succeed a little later."""
    if isinstance(error, psycopg.ProgrammingError):  # the URL itself
        return False
    text = str(error)
    return not _ABSENT.search(text) and not any(mark in text for mark, _, _ in _REFUSALS)


def error_from(error: BaseException, ledger: str) -> Exception | None:
    """What an error means for whoever asked, or None if it is a mistake of ours; `ledger` names the ledger to them."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    if not isinstance(cause, psycopg.Error):
        return None
    code = cause.sqlstate or ""
    if code in _LOCKED:
        message = f"The ledger {ledger} is being written by another process and did not get free in time."
        return PlatformError(Reason.LEDGER_LOCKED, message, ledger=ledger, detail=_brief(cause))
    if code in _DAMAGED:
        message = f"The ledger {ledger} is damaged ({_brief(cause)}): put a copy in its place."
        return PlatformError(Reason.LEDGER_UNWRITABLE, message, ledger=ledger, detail=_brief(cause))
    if code in _NO_ROOM | _NOT_ALLOWED:
        message = f"The ledger {ledger} cannot be written: {_brief(cause)}."
        return PlatformError(Reason.LEDGER_UNWRITABLE, message, ledger=ledger, detail=_brief(cause))
    if code.startswith(_NOT_NOW) or (not code and isinstance(cause, psycopg.OperationalError)):
        return _not_reached(cause, ledger)
    if isinstance(cause, psycopg.DataError) and "NUL" in str(cause):  # said by the driver: the server is not even asked
        return PlatformError(Reason.MALFORMED, "A text has the character NUL in it, which none may have.")
    if isinstance(cause, psycopg.IntegrityError):
        # Its details are the values in question: hashes of tokens, for example.
        return IntegrityError(None, None, psycopg.IntegrityError(f"{code} {cause.diag.message_primary}"))
    if not code and isinstance(cause, psycopg.ProgrammingError):
        return _unwritable(f"{ledger} is not understood as the URL of a database: {_brief(cause)}.", ledger, cause)
    return None


def _not_reached(cause: psycopg.Error, ledger: str) -> PlatformError:
    text = str(cause)
    if absent := _ABSENT.search(text):
        kind = "database" if absent[1] == "database" else "user (role)"
        return _unwritable(
            f"The ledger {ledger} cannot be opened: the server has no {kind} {absent[2]!r}; make it there, or name "
            "another.",
            ledger,
            cause,
        )
    for mark, meaning, advice in _REFUSALS:
        if mark in text:
            return _unwritable(f"The ledger {ledger} cannot be opened: {meaning}; {advice}.", ledger, cause)
    message = f"The database of the ledger {ledger} cannot be reached ({_brief(cause)})."
    return PlatformError(Reason.LEDGER_UNREACHABLE, message, ledger=ledger, detail=_brief(cause))


def _unwritable(message: str, ledger: str, cause: psycopg.Error) -> PlatformError:
    return DatabaseRefused(Reason.LEDGER_UNWRITABLE, message, ledger=ledger, detail=_brief(cause))


def _brief(cause: psycopg.Error) -> str:
    """The first line of the database's own words, without the address, which is not for everybody."""
    primary = cause.diag.message_primary or _FATAL.sub("", str(cause), count=1)
    line = primary.strip().partition("\n")[0]
    return re.sub(r'^connection failed: connection to server (?:at|on socket) "[^"]*"[^:]* failed: ', "", line).rstrip(
        "."
    )
