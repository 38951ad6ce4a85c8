"""How many of a bot's tables are on which match service."""

from __future__ import annotations

from collections.abc import Sequence


def share_tables(tables: int, names: Sequence[str]) -> dict[str, int]:
    """Shares the tables out over the match services as evenly as whole numbers allow; the sum is `tables`.

    The first by name get what is over, for every bot the same ones: two bots that take one table each can meet only if
    both are on the same match service. Match services without a table are left out.
    """
    ordered = sorted(names)
    if not ordered:
        return {}
    each, over = divmod(tables, len(ordered))
    shares = {name: each + (place < over) for place, name in enumerate(ordered)}
    return {name: share for name, share in shares.items() if share}
