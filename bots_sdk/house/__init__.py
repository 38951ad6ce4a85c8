"""House bots: simple players that everybody has, on the platform as in local play."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from bots_sdk.bot import Bot
from bots_sdk.errors import BotNotLoaded
from bots_sdk.house.greedy import GreedyBot
from bots_sdk.house.random import RandomBot

__all__ = ["HOUSE_BOTS", "GreedyBot", "RandomBot", "make_house_bot"]

HOUSE_BOTS: Mapping[str, Callable[[int | str], Bot]] = MappingProxyType({"greedy": GreedyBot, "random": RandomBot})
"""House bots by name; each is made from a seed."""


def make_house_bot(name: str, seed: int | str = 0) -> Bot:
    """A house bot; given the same seed and the same matches it plays the same.

    Raises:
        BotNotLoaded: there is no house bot of that name.
    """
    kind = HOUSE_BOTS.get(name)
    if kind is None:
        raise BotNotLoaded(f"{name!r} is no house bot; there are {', '.join(HOUSE_BOTS)}")
    return kind(seed)
