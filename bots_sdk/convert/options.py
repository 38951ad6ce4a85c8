"""Options of the rules from and to protobuf."""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

from baohuang.cards.v1 import options_pb2
from bots_sdk.errors import Malformed
from bots_sdk.rules.errors import OptionsError
from bots_sdk.rules.options import OPTION_NAMES, End, Force, Grab, GuardBy, Options, Sticker, Wind

if TYPE_CHECKING:
    from google.protobuf.descriptor import EnumDescriptor

_Choice = TypeVar("_Choice", bound=StrEnum)


def _numbers(kind: type[_Choice], wire: EnumDescriptor) -> dict[_Choice, int]:
    """The number on the wire of every member; a member that the contract lacks stops the import."""
    prefix = wire.values_by_number[0].name.removesuffix("UNSPECIFIED")
    return {member: wire.values_by_name[prefix + member.value.upper()].number for member in kind}


_CHOICES: dict[str, dict[Any, int]] = {
    "guard_by": _numbers(GuardBy, options_pb2.GuardBy.DESCRIPTOR),
    "grab": _numbers(Grab, options_pb2.Grab.DESCRIPTOR),
    "sticker": _numbers(Sticker, options_pb2.Sticker.DESCRIPTOR),
    "force": _numbers(Force, options_pb2.Force.DESCRIPTOR),
    "wind": _numbers(Wind, options_pb2.Wind.DESCRIPTOR),
    "end": _numbers(End, options_pb2.End.DESCRIPTOR),
}
_MEMBERS: dict[str, dict[int, Any]] = {
    name: {number: member for member, number in numbers.items()} for name, numbers in _CHOICES.items()
}
_LISTS = ("stakes", "solo_scores")
_ALIKE = tuple(name for name in OPTION_NAMES if name not in (*_CHOICES, *_LISTS, "hold_back"))
"""Names whose values are the same on both sides: texts, numbers and flags."""


def options_to_proto(options: Options) -> options_pb2.Options:
    """All options."""
    values: dict[str, Any] = {name: getattr(options, name) for name in (*_ALIKE, *_LISTS)}
    values.update({name: numbers[getattr(options, name)] for name, numbers in _CHOICES.items()})
    values["hold_back"] = options.hold_back or ""
    return options_pb2.Options(**values)


@lru_cache(maxsize=64)
def shared_options(options: Options) -> options_pb2.Options:
    """All options in one message for everybody: to be read or copied into another one, never to be changed."""
    return options_to_proto(options)


def options_from_proto(message: options_pb2.Options) -> Options:
    """All options, checked for what can be played.

    Raises:
        Malformed: a value that the rules do not have, or a combination that cannot be played.
    """
    values: dict[str, Any] = {name: getattr(message, name) for name in _ALIKE}
    for name in _LISTS:
        values[name] = tuple(getattr(message, name))
    for name, members in _MEMBERS.items():
        number = cast("int", getattr(message, name))
        if number not in members:
            raise Malformed(f"options.{name}", f"{number} is not among {', '.join(map(str, sorted(members)))}")
        values[name] = members[number]
    values["hold_back"] = message.hold_back or None
    try:
        return Options(**values)
    except OptionsError as error:
        raise Malformed("options", str(error)) from error
