"""The options a tournament changes in its profile, each checked by the rules themselves."""

from __future__ import annotations

from collections.abc import Mapping

from bots_sdk.rules.errors import OptionsError
from bots_sdk.rules.options import OPTION_NAMES, Options
from bots_sdk.rules.profiles import PROFILES, change_options, format_options
from services.tournament.spec.document import Node, ScalarNode, SequenceNode
from services.tournament.spec.fields import Fields, Problems, found
from services.tournament.spec.values import OptionValue

_BOOLS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def read_overrides(
    fields: Fields, profile: str, problems: Problems
) -> tuple[Options, tuple[tuple[str, OptionValue], ...]]:
    """The options of the tournament, and those that were written down, in the order of the rules.

    With an unknown profile (empty) each option is only checked for itself.
    """
    base = PROFILES.get(profile, Options())
    keys = fields.mapping("options", OPTION_NAMES)
    if keys is None:
        return base, ()
    values: dict[str, object] = {}
    for name in OPTION_NAMES:
        node = keys.node(name)
        if node is None:
            continue
        try:
            values[name] = _plain(node)
        except ValueError:
            keys.note(name, f"must be a value or a list of values, not {found(node)}.")
    if not _verify_each(values, keys) and profile:
        try:
            base = change_options(base, values)
        except OptionsError as error:
            name, _, reason = str(error).partition(": ")
            # A contradiction may be told of an option that only the profile has set.
            keys.note(name if name in values else next(iter(values)), f"{reason if name in values else error}.")
            return base, ()
    written = format_options(base)
    return base, tuple((name, _frozen(written[name])) for name in values)


def _verify_each(values: Mapping[str, object], keys: Fields) -> bool:
    """Notes every value that no profile could have; whether there are such."""
    wrong = False
    for name, value in values.items():
        reasons = [reason for profile in PROFILES.values() if (reason := _refusal(profile, name, value))]
        if len(reasons) == len(PROFILES):
            keys.note(name, f"{reasons[0].removeprefix(f'{name}: ')}.")
            wrong = True
    return wrong


def _refusal(options: Options, name: str, value: object) -> str | None:
    try:
        change_options(options, {name: value})
    except OptionsError as error:
        return str(error)
    return None


def _plain(node: Node) -> object:
    if isinstance(node, SequenceNode):
        return [_plain_scalar(item) for item in node.value]
    return _plain_scalar(node)


def _plain_scalar(node: Node) -> object:
    if not isinstance(node, ScalarNode):
        raise ValueError("no scalar")
    kind, text = node.tag.rpartition(":")[2], str(node.value)
    if kind == "null":
        return None
    if kind == "bool":
        return _BOOLS[text.lower()]
    if kind == "int" and text.isascii() and text.removeprefix("-").isdecimal() and len(text) < 20:
        return int(text)
    return text


def _frozen(value: object) -> OptionValue:
    if isinstance(value, list):
        return tuple(value)
    assert value is None or isinstance(value, str | int)
    return value
