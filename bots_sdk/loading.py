"""From a text to a bot: `greedy`, `my_bot.py:MyBot`, `my_package.bots:MyBot`."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from bots_sdk.asking import describe_error
from bots_sdk.bot import AnyBot, AsyncBot, Bot, is_async
from bots_sdk.errors import BotNotLoaded
from bots_sdk.house import HOUSE_BOTS

HOUSE_PREFIX = "house:"
"""Tournaments name house bots with it, so it may stand here too."""


@dataclass(frozen=True, slots=True)
class BotSource:
    """Where bots come from.

    Attributes:
        name: to show: of the house bot or of the class.
        make: makes a bot; the seed goes to a bot whose `__init__` has a parameter `seed`, others do without.
        is_house: it is a house bot, which answers at once and always legally.
        is_async: its answers have to be awaited.
    """

    name: str
    make: Callable[[int | str], AnyBot]
    is_house: bool
    is_async: bool = False


def load_bot(text: str) -> BotSource:
    """The bot a text names, tried out by making one.

    Args:
        text: the name of a house bot, `FILE.py:CLASS`, or `MODULE:CLASS`. Without a class, the only one there is.

    Raises:
        BotNotLoaded: there is none; the message says what was looked for and where it failed.
    """
    house = HOUSE_BOTS.get(text.removeprefix(HOUSE_PREFIX))
    if house is not None:
        return BotSource(text, house, is_house=True)
    place, colon, name = text.rpartition(":") if not text.endswith(".py") else (text, "", "")
    if not place:
        raise BotNotLoaded(
            f"{text!r} names no bot: give a house bot ({', '.join(HOUSE_BOTS)}) or a class as in my_bot.py:MyBot"
        )
    module = _load_file(Path(place)) if place.endswith(".py") else _load_module(place)
    kind = _class_in(module, place, name if colon else "")
    source = BotSource(kind.__name__, _maker(kind, place), is_house=False, is_async=is_async(kind))
    source.make(0)
    return source


def _load_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise BotNotLoaded(f"there is no file {path}")
    # The file's own name, so that what the bot pickles or logs reads naturally; but no other module is replaced by it.
    name = path.stem if path.stem not in sys.modules else f"bot_file_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise BotNotLoaded(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    # A bot's file may import what lies beside it, as a script may.
    folder = str(path.parent.resolve())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise BotNotLoaded(f"{path} cannot be loaded: {_describe_load_error(error)}") from error
    return module


def _load_module(name: str) -> ModuleType:
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise BotNotLoaded(
                f"there is no module {name!r}; a file is given with its ending, as in my_bot.py:MyBot"
            ) from error
        raise BotNotLoaded(f"{name} cannot be loaded: {_describe_load_error(error)}") from error
    except (Exception, SystemExit) as error:
        raise BotNotLoaded(f"{name} cannot be loaded: {_describe_load_error(error)}") from error


def _describe_load_error(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        file = Path(error.filename).name if error.filename else "?"
        return f"{type(error).__name__}: {error.msg} ({file}, line {error.lineno})"
    return describe_error(error)


def _class_in(module: ModuleType, place: str, name: str) -> type[AnyBot]:
    own = {
        key: value
        for key, value in vars(module).items()
        if inspect.isclass(value) and issubclass(value, Bot | AsyncBot) and value.__module__ == module.__name__
    }
    if not name:
        if len(own) != 1:
            there = ", ".join(own) or "none"
            raise BotNotLoaded(f"{place}: name the class, as in {place}:MyBot; the bots in it are: {there}")
        return next(iter(own.values()))
    found = getattr(module, name, None)
    if found is None:
        there = f"; the bots in it are: {', '.join(own)}" if own else "; there is no bot in it"
        raise BotNotLoaded(f"{place} has no class {name!r}{there}")
    if not inspect.isclass(found) or not issubclass(found, Bot | AsyncBot):
        raise BotNotLoaded(f"{place}:{name} is no bot: it must be a class derived from bots_sdk.Bot")
    if inspect.isabstract(found):
        raise BotNotLoaded(f"{place}:{name} has no method `answer`")
    return found


def _maker(kind: type[AnyBot], place: str) -> Callable[[int | str], AnyBot]:
    try:
        wants_seed = "seed" in inspect.signature(kind).parameters
    except (TypeError, ValueError):
        wants_seed = False

    def make(seed: int | str) -> AnyBot:
        try:
            return kind(seed=seed) if wants_seed else kind()  # type: ignore[call-arg]
        except (Exception, SystemExit) as error:
            raise BotNotLoaded(f"{place}:{kind.__name__} cannot be made: {describe_error(error)}") from error

    return make
