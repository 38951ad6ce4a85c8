"""Reading and writing the table of bots, within a transaction of the caller."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Select, insert, select, true, update

from services.common.errors import PlatformError, Reason
from services.ledger.schema import bots
from services.ledger.values import Bot, Page

_COLUMNS = tuple(column for column in bots.columns if column is not bots.c.token_hash)


def create(connection: Connection, bot: Bot, token_hash: bytes) -> None:
    if connection.execute(select(bots.c.name).where(bots.c.name == bot.name)).first():
        raise PlatformError(Reason.NAME_TAKEN, f"There is a bot named {bot.name!r} already.", name=bot.name)
    connection.execute(
        insert(bots).values(
            bot_id=bot.bot_id,
            name=bot.name,
            owner=bot.owner,
            version=bot.version,
            created_at=bot.created_at,
            revoked_at=bot.revoked_at,
            token_since=bot.token_since,
            token_hash=token_hash,
        )
    )


def set_token(
    connection: Connection, bot_id: str, token_hash: bytes | None, now: datetime, shown: bytes | None
) -> Bot | None:
    """The bot with another token, or with none; None if the token it has is not the one that was shown."""
    old = with_id(connection, bot_id)
    if old is None:
        raise PlatformError(Reason.BOT_UNKNOWN, f"There is no bot with the id {bot_id!r}.", bot_id=bot_id)
    same = true() if shown is None else bots.c.token_hash == shown
    since = max(now, old.token_since + timedelta(microseconds=1))
    values = {"token_hash": token_hash, "token_since": since, "revoked_at": now if token_hash is None else None}
    changed = connection.execute(update(bots).where(bots.c.bot_id == bot_id, same).values(values))
    return with_id(connection, bot_id) if changed.rowcount else None


def changed_since(connection: Connection, moment: datetime) -> list[Bot]:
    """Bots that had another token before, and lost it after `moment`."""
    recent = select(*_COLUMNS).where(bots.c.token_since > moment, bots.c.token_since > bots.c.created_at)
    return [_bot(row) for row in connection.execute(recent)]


def with_token(connection: Connection, token_hash: bytes) -> Bot | None:
    return _first(connection, select(*_COLUMNS).where(bots.c.token_hash == token_hash))


def with_id(connection: Connection, bot_id: str) -> Bot | None:
    return _first(connection, select(*_COLUMNS).where(bots.c.bot_id == bot_id))


def with_names(connection: Connection, names: Collection[str]) -> list[Bot]:
    return [_bot(row) for row in connection.execute(select(*_COLUMNS).where(bots.c.name.in_(names)))]


def page(connection: Connection, after: str, limit: int) -> Page[Bot]:
    statement = select(*_COLUMNS).where(bots.c.name > after).order_by(bots.c.name).limit(limit + 1)
    rows = [_bot(row) for row in connection.execute(statement)]
    return Page(tuple(rows[:limit]), rows[limit - 1].name if len(rows) > limit else "")


def _first(connection: Connection, statement: Select[Any]) -> Bot | None:
    row = connection.execute(statement).first()
    return None if row is None else _bot(row)


def _bot(row: Any) -> Bot:
    since = row.token_since or row.created_at
    return Bot(row.bot_id, row.name, row.owner, row.version, row.created_at, since, row.revoked_at)
