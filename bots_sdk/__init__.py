"""What a bot author installs: the rules of 保皇, the Bot interface, local play and a client for the arena.

    from bots_sdk import Answer, Bot, View

Everything here is loaded when it is first asked for, so that `import bots_sdk.rules` needs nothing but the rules.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from bots_sdk.version import __version__ as __version__

if TYPE_CHECKING:
    from bots_sdk.arena import BotScore, LocalStandings, play_deals, play_match
    from bots_sdk.bot import AsyncBot, Bot, MatchResult, Seating
    from bots_sdk.errors import ArenaError, BotFailed, BotNotLoaded, Refused, Unreachable
    from bots_sdk.house import GreedyBot, RandomBot, make_house_bot
    from bots_sdk.loading import load_bot
    from bots_sdk.rules.answers import Answer, Word
    from bots_sdk.rules.notation import format_answer, parse_answer
    from bots_sdk.rules.options import Options
    from bots_sdk.rules.phases import Phase
    from bots_sdk.rules.profiles import PROFILES, make_options
    from bots_sdk.rules.view import View
    from bots_sdk.runner import BotRunner, RunnerSettings
    from bots_sdk.testing import check_bot

_HOMES = {
    "bots_sdk.arena": ("BotScore", "LocalStandings", "play_deals", "play_match"),
    "bots_sdk.bot": ("AsyncBot", "Bot", "MatchResult", "Seating"),
    "bots_sdk.errors": ("ArenaError", "BotFailed", "BotNotLoaded", "Refused", "Unreachable"),
    "bots_sdk.house": ("GreedyBot", "RandomBot", "make_house_bot"),
    "bots_sdk.loading": ("load_bot",),
    "bots_sdk.rules.answers": ("Answer", "Word"),
    "bots_sdk.rules.notation": ("format_answer", "parse_answer"),
    "bots_sdk.rules.options": ("Options",),
    "bots_sdk.rules.phases": ("Phase",),
    "bots_sdk.rules.profiles": ("PROFILES", "make_options"),
    "bots_sdk.rules.view": ("View",),
    "bots_sdk.runner": ("BotRunner", "RunnerSettings"),
    "bots_sdk.testing": ("check_bot",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "PROFILES",
    "Answer",
    "ArenaError",
    "AsyncBot",
    "Bot",
    "BotFailed",
    "BotNotLoaded",
    "BotRunner",
    "BotScore",
    "GreedyBot",
    "LocalStandings",
    "MatchResult",
    "Options",
    "Phase",
    "RandomBot",
    "Refused",
    "RunnerSettings",
    "Seating",
    "Unreachable",
    "View",
    "Word",
    "check_bot",
    "format_answer",
    "load_bot",
    "make_house_bot",
    "make_options",
    "parse_answer",
    "play_deals",
    "play_match",
]


def __getattr__(name: str) -> object:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'bots_sdk' has no attribute {name!r}")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
