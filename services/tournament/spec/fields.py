"""Reading keys of a tournament file one by one: each wrong one is noted with its key and line, and reading goes on."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from difflib import get_close_matches
from enum import StrEnum
from typing import TypeVar

from services.tournament.spec.document import MappingNode, Node, ScalarNode, SequenceNode
from services.tournament.spec.durations import format_duration, parse_duration
from services.tournament.spec.errors import SpecProblem

_Choice = TypeVar("_Choice", bound=StrEnum)
OFF = ("off", "none", "null", "~")
_SHOWN = 60


MOST_PROBLEMS = 100
"""More in one file are not told: whoever reads them has enough to do, and looking for what was meant takes its time."""


class Problems:
    """What was found wrong so far; of very many only the first."""

    def __init__(self) -> None:
        self._found: list[SpecProblem] = []

    def note(self, path: str, line: int, message: str) -> None:
        if not self.are_many:
            self._found.append(SpecProblem(path, line, message))

    @property
    def are_many(self) -> bool:
        """So many that no more are noted."""
        return len(self._found) >= MOST_PROBLEMS

    def sorted(self) -> tuple[SpecProblem, ...]:
        """All of them in the order of their lines."""
        return tuple(sorted(self._found, key=lambda problem: problem.line))

    def __bool__(self) -> bool:
        return bool(self._found)


class Fields:
    """The keys of one mapping. What cannot be read is noted, and the default is given back."""

    def __init__(self, node: MappingNode, path: str, allowed: Iterable[str], problems: Problems) -> None:
        self._problems = problems
        self._path = path
        self.line = node.start_mark.line + 1
        self._nodes: dict[str, Node] = {}
        allowed = tuple(allowed)
        for key, value in node.value:
            if problems.are_many:
                break
            line = key.start_mark.line + 1
            name = key.value if isinstance(key, ScalarNode) else None
            if name is None:
                problems.note(path, line, f"A key must be a word. There are {', '.join(allowed)}.")
            elif name not in allowed:
                problems.note(self.path(name), line, f"There is no such key{hint(name, allowed)}")
            elif name in self._nodes:
                first = self._nodes[name].start_mark.line + 1
                problems.note(self.path(name), line, f"The key is there twice, the first time in line {first}.")
            else:
                self._nodes[name] = value

    def path(self, name: str) -> str:
        """The key with those above it."""
        return f"{self._path}.{name}" if self._path else name

    def node(self, name: str) -> Node | None:
        """The value of a key, if the key is there."""
        return self._nodes.get(name)

    def note(self, name: str, message: str) -> None:
        """Notes a problem with a key; if it is missing, with the mapping it should be in."""
        node = self._nodes.get(name)
        self._problems.note(self.path(name), self.line if node is None else node.start_mark.line + 1, message)

    def require(self, name: str, what: str) -> bool:
        """Whether the key is there; if not, that is noted."""
        if name not in self._nodes:
            self.note(name, f"The key is missing: {what}.")
        return name in self._nodes

    def text(self, name: str, what: str) -> str | None:
        """A single value as it is written, None if the key is missing or holds something else."""
        node = self._nodes.get(name)
        if node is None:
            return None
        text = scalar_text(node)
        if text is None or not text:
            self.note(name, f"must be {what}, not {found(node)}.")
            return None
        return text

    def number(self, name: str, low: int, high: int, default: int | None = None) -> int | None:
        """A whole number from `low` to `high`."""
        what = f"a whole number from {low} to {high}"
        text = self.text(name, what)
        if text is None:
            return default
        if not (text.isascii() and text.removeprefix("-").isdecimal() and len(text) < 20 and low <= int(text) <= high):
            self.note(name, f"must be {what}, not {shown(text)}.")
            return default
        return int(text)

    def choice(self, name: str, kind: type[_Choice], default: _Choice) -> _Choice:
        """One of the labels of an enum."""
        what = f"one of {', '.join(kind)}"
        text = self.text(name, what)
        if text is None:
            return default
        if text not in list(kind):
            self.note(name, f"must be {what}, not {shown(text)}{_maybe(text, list(kind))}")
            return default
        return kind(text)

    def duration(self, name: str, low: timedelta, high: timedelta, default: timedelta) -> timedelta:
        """A duration from `low` to `high`."""
        limits = f"from {format_duration(low)} to {format_duration(high)}"
        text = self.text(name, f"a duration {limits}")
        if text is None:
            return default
        try:
            duration = parse_duration(text)
        except ValueError as error:
            self.note(name, f"must be {error}, {limits}; not {shown(text)}.")
            return default
        if not low <= duration <= high:
            self.note(name, f"must be {limits}, not {shown(text)}.")
            return default
        return duration

    def is_off(self, name: str) -> bool:
        """Whether the value is `off`."""
        node = self._nodes.get(name)
        return isinstance(node, ScalarNode) and node.value.lower() in OFF

    def mapping(self, name: str, allowed: Iterable[str]) -> Fields | None:
        """The keys of a mapping below this one, None if the key is missing or holds something else."""
        node = self._nodes.get(name)
        if node is None:
            return None
        if not isinstance(node, MappingNode):
            self.note(name, f"must have keys of its own ({', '.join(allowed)}), not {found(node)}.")
            return None
        return Fields(node, self.path(name), allowed, self._problems)


def scalar_text(node: Node) -> str | None:
    """A single value as it is written, so a bot may be called 007 or yes without quotes; None for anything else."""
    if not isinstance(node, ScalarNode) or node.tag == "tag:yaml.org,2002:null":
        return None
    return str(node.value)


def found(node: Node) -> str:
    """What stands there, for a message."""
    if isinstance(node, SequenceNode):
        return "a list"
    if isinstance(node, MappingNode):
        return "keys and values"
    return shown(node.value) if node.value and scalar_text(node) is not None else "nothing"


def shown(text: str) -> str:
    """A text in quotes, cut if it is long."""
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")


def hint(name: str, allowed: Iterable[str]) -> str:
    """What was probably meant, or all there is: the end of a sentence."""
    names = list(allowed)
    near = get_close_matches(name, names, 1)
    return f"; did you mean {near[0]}?" if near else f"; there are {', '.join(names)}."


def _maybe(name: str, allowed: list[str]) -> str:
    near = get_close_matches(name, allowed, 1)
    return f"; did you mean {near[0]}?" if near else "."
