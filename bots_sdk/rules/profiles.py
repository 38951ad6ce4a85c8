"""The six named ways to play, and options from and to plain values (docs/rules.md, part 9)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from bots_sdk.rules.errors import OptionsError
from bots_sdk.rules.options import OPTION_NAMES, End, Force, Grab, GuardBy, Options, Sticker, Wind

_CLASSIC = Options(
    low="6", holder_preempts=True, bright_needs_quad=False, sticker=Sticker.TWO_ELSE_HIGHEST, sticker_from=2,
    force=Force.TRIPLE_NO_QUAD,
)  # fmt: skip
_BEAN = Options(
    low="6", grab=Grab.QUAD, holder_preempts=True, sticker=Sticker.HIGHEST, force=Force.TRIPLE, rebellion=True,
    kick=True,
)  # fmt: skip
_SPECIAL = Options(
    special_card=True, call_jokers=True, sticker=Sticker.HIGHEST_PLAIN, sticker_from=2, hung_by_hung=True,
    end=End.SIDE_OUT,
)  # fmt: skip
_QINGDAO = Options(
    call_jokers=True, hung_by_hung=True, give_way=True, wind=Wind.CLAIM, solo_scores=(40, 32, 24),
    dark_second_is_draw=False,
)  # fmt: skip

PROFILES: Mapping[str, Options] = MappingProxyType(
    {
        "classic": _CLASSIC,
        "classic-marked": replace(_CLASSIC, guard_by=GuardBy.MARKED_JOKER),
        "bean": _BEAN,
        "bean-qingdao": replace(_BEAN, give_way=True, tribute=True),
        "special": _SPECIAL,
        "qingdao": _QINGDAO,
    }
)
"""The presets by name; every option can be changed on its own with `make_options`."""


def make_options(profile: str, overrides: Mapping[str, object] | None = None) -> Options:
    """The options of a profile with some of them changed.

    Args:
        profile: one of `PROFILES`.
        overrides: option names and plain values, as YAML or JSON have them (`{"roast": True, "hold_back": 6}`).

    Raises:
        OptionsError: an unknown profile or option, a value that is not allowed, or a combination that cannot be played;
            the message names the key and what is allowed.
    """
    base = PROFILES.get(profile)
    if base is None:
        raise OptionsError(f"profile: {profile!r} is unknown; there are {', '.join(PROFILES)}")
    return change_options(base, overrides or {})


def change_options(options: Options, overrides: Mapping[str, object]) -> Options:
    """The same with some options changed, from plain values.

    Raises:
        OptionsError: see `make_options`.
    """
    changes: dict[str, Any] = {}
    for key, value in overrides.items():
        parse = _PARSERS.get(key)
        if parse is None:
            raise OptionsError(f"{key}: no such option; there are {', '.join(OPTION_NAMES)}")
        changes[key] = parse(key, value)
    return replace(options, **changes)


def format_options(options: Options) -> dict[str, object]:
    """All options as plain values (strings, numbers, booleans, lists, None), which `change_options` reads back."""
    return {name: _plain(getattr(options, name)) for name in OPTION_NAMES}


def parse_options(values: Mapping[str, object]) -> Options:
    """Options from the plain values of `format_options`; what is missing keeps its bare default.

    Raises:
        OptionsError: see `make_options`.
    """
    return change_options(Options(), values)


def _plain(value: object) -> object:
    if isinstance(value, StrEnum):
        return str(value)
    return list(value) if isinstance(value, tuple) else value


def _flag(key: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise OptionsError(f"{key}: true or false, not {value!r}")
    return value


def _number(key: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise OptionsError(f"{key}: a whole number, not {value!r}")
    return value


def _numbers(key: str, value: object) -> tuple[int, ...]:
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        raise OptionsError(f"{key}: a list of whole numbers, not {value!r}")
    return tuple(_number(key, item) for item in value)


def _three_numbers(key: str, value: object) -> tuple[int, ...]:
    numbers = _numbers(key, value)
    if len(numbers) != 3:
        raise OptionsError(f"{key}: three whole numbers (grab, bright, dark), not {value!r}")
    return numbers


def _rank(key: str, value: object) -> str:
    # YAML reads an unquoted 6 as a number; a rank is a text here.
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if text not in ("3", "6"):
        raise OptionsError(f"{key}: '3' or '6', not {value!r}")
    return str(text)


def _optional_rank(key: str, value: object) -> str | None:
    if value is None or value is False or value == "none":
        return None
    return _rank(key, value)


def _choice(kind: type[StrEnum]) -> Callable[[str, object], StrEnum]:
    def parse(key: str, value: object) -> StrEnum:
        # YAML reads `none` as a text, but people write null or ~ for it.
        wanted = "none" if value is None else value
        for member in kind:
            if member == wanted:
                return member
        raise OptionsError(f"{key}: one of {', '.join(kind)}, not {value!r}")

    return parse


_PARSERS: dict[str, Callable[[str, object], object]] = {
    "low": _rank,
    "drop_low": _number,
    "guard_by": _choice(GuardBy),
    "grab": _choice(Grab),
    "sticker": _choice(Sticker),
    "sticker_from": _number,
    "force": _choice(Force),
    "stakes": _numbers,
    "hold_back": _optional_rank,
    "wind": _choice(Wind),
    "solo_scores": _three_numbers,
    "end": _choice(End),
    "room": _number,
}
_PARSERS.update({name: _flag for name in OPTION_NAMES if name not in _PARSERS})
