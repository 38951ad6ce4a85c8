"""Reading and writing the table of access tokens, within a transaction of the caller."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, select, update

from services.common.errors import PlatformError, Reason
from services.ledger.schema import access_tokens
from services.ledger.values import AccessToken, Page

_COLUMNS = tuple(column for column in access_tokens.columns if column is not access_tokens.c.token_hash)


def create(connection: Connection, token: AccessToken, token_hash: bytes) -> None:
    if named(connection, token.name) is not None:
        message = f"There is an access token named {token.name!r} already, or was one: choose another name."
        raise PlatformError(Reason.NAME_TAKEN, message, name=token.name)
    connection.execute(
        insert(access_tokens).values(
            name=token.name, scopes=token.scopes, created_at=token.created_at, token_hash=token_hash
        )
    )


def rotate(connection: Connection, name: str, token_hash: bytes, now: datetime) -> AccessToken:
    return _change(connection, name, {"token_hash": token_hash, "rotated_at": now, "revoked_at": None})


def revoke(connection: Connection, name: str, now: datetime) -> AccessToken:
    return _change(connection, name, {"token_hash": None, "revoked_at": now})


def with_hash(connection: Connection, token_hash: bytes) -> AccessToken | None:
    row = connection.execute(select(*_COLUMNS).where(access_tokens.c.token_hash == token_hash)).first()
    return None if row is None else _token(row)


def named(connection: Connection, name: str) -> AccessToken | None:
    row = connection.execute(select(*_COLUMNS).where(access_tokens.c.name == name)).first()
    return None if row is None else _token(row)


def page(connection: Connection, after: str, limit: int) -> Page[AccessToken]:
    statement = select(*_COLUMNS).where(access_tokens.c.name > after).order_by(access_tokens.c.name).limit(limit + 1)
    tokens = [_token(row) for row in connection.execute(statement)]
    return Page(tuple(tokens[:limit]), tokens[limit - 1].name if len(tokens) > limit else "")


def _change(connection: Connection, name: str, values: dict[str, object]) -> AccessToken:
    connection.execute(update(access_tokens).where(access_tokens.c.name == name).values(values))
    token = named(connection, name)
    if token is None:
        message = f"There is no access token named {name!r}."
        raise PlatformError(Reason.ACCESS_TOKEN_UNKNOWN, message, name=name)
    return token


def _token(row: Any) -> AccessToken:
    return AccessToken(row.name, row.scopes, row.created_at, row.rotated_at, row.revoked_at)
