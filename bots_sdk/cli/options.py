"""Options of the rules as they are typed: `--profile qingdao --option roast=true --option stakes=1,2`."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TypeVar

import click

from bots_sdk.rules.errors import OptionsError
from bots_sdk.rules.options import Options
from bots_sdk.rules.profiles import PROFILES, make_options

DEFAULT_PROFILE = "qingdao"
_LONGEST = 20
"""Digits of a number: no option has so many, and Python reads no more than some thousand."""
_Command = TypeVar("_Command", bound=Callable[..., object])


def rules_options(command: _Command) -> _Command:
    """Adds `--profile` and `--option` to a command."""
    command = click.option(
        "--option", "overrides", multiple=True, metavar="KEY=VALUE", help="Change one option of the profile."
    )(command)
    return click.option(
        "--profile",
        type=click.Choice(list(PROFILES)),
        default=DEFAULT_PROFILE,
        show_default=True,
        help="The rules to play by.",
    )(command)


def parse_rules(profile: str, overrides: Sequence[str]) -> Options:
    """The options of a profile with what was typed changed.

    Raises:
        click.BadParameter: not `KEY=VALUE`, no such option, or a value that is not allowed.
    """
    changes: dict[str, object] = {}
    for text in overrides:
        key, equals, value = text.partition("=")
        if not equals:
            raise click.BadParameter(f"{text!r} is not of the form KEY=VALUE", param_hint="--option")
        changes[key.strip()] = parse_value(value.strip())
    try:
        return make_options(profile, changes)
    except OptionsError as error:
        raise click.BadParameter(str(error), param_hint="--option") from error


def parse_value(text: str) -> object:
    """`true`, `3`, `null`, `[1, 2]` as JSON has them, `1,2` as a list of numbers, anything else as text."""
    try:
        value: object = json.loads(text.lower() if text.lower() in ("true", "false", "null") else text)
    except (ValueError, RecursionError):
        parts = [part.strip() for part in text.split(",")]
        if len(parts) > 1 and all(part.isascii() and part.isdigit() and len(part) < _LONGEST for part in parts):
            return [int(part) for part in parts]
        return text
    return value
