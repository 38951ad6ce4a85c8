"""The text of a tournament file as YAML nodes that still know their lines; no objects are built from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml
from yaml.reader import ReaderError

from services.tournament.spec.errors import SpecError, SpecProblem

MAX_LENGTH = 100_000
"""Characters; 500 names of 40 are a fourth of it."""
MAX_DEPTH = 8

Node = yaml.nodes.Node
MappingNode = yaml.nodes.MappingNode
SequenceNode = yaml.nodes.SequenceNode
ScalarNode = yaml.nodes.ScalarNode


def compose_document(text: str) -> MappingNode:
    """The one document in the text, which must be a mapping.

    Raises:
        SpecError: the text is too long, no YAML, empty, more than one document, or uses anchors, aliases or tags.
    """
    if len(text) > MAX_LENGTH:
        raise _error(1, f"The file has {len(text)} characters; a tournament file has at most {MAX_LENGTH}.")
    try:
        _verify_events(text)
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        raise _error(_line(error.problem_mark or error.context_mark), _explain(error)) from None
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise _error(
            line, f"The character {_named(error.character)} is not allowed in YAML; write plain text."
        ) from None
    if node is None:
        raise _error(1, "The file is empty; it needs at least the keys name, profile, bots, schedule and deals.")
    if not isinstance(node, MappingNode):
        raise _error(_line(node.start_mark), "The file must be `key: value` lines, beginning with `name: …`.")
    return node


def _verify_events(text: str) -> None:
    """Look at the events first: they come one by one, so neither depth nor aliases can make them explode."""
    depth = documents = 0
    for event in _events(text):
        line = _line(event.start_mark)
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                raise _error(line, "A second document begins here; a tournament file has one, without `---` after it.")
        if isinstance(event, yaml.NodeEvent) and event.anchor is not None:
            sign = "*" if isinstance(event, yaml.AliasEvent) else "&"
            raise _error(line, f"`{sign}{event.anchor}`: anchors and aliases are not used here; write the value out.")
        if isinstance(event, yaml.ScalarEvent):
            _verify_characters(event.value, line)
        if (tag := getattr(event, "tag", None)) is not None:
            raise _error(line, f"`{tag}`: tags are not used here; write the value without it.")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise _error(line, f"Lists and mappings are nested more than {MAX_DEPTH} deep here; two levels are enough.")


def _events(text: str) -> Iterator[yaml.Event]:
    loader: Any = yaml.SafeLoader(text)
    try:
        while loader.check_event():
            yield loader.get_event()
    except (ValueError, OverflowError):
        # Of an escape beyond all characters, and of a version with thousands of digits, Python complains, not YAML.
        raise _error(loader.line + 1, "A number in an escape or a directive is too large; write plain text.") from None
    finally:
        loader.dispose()


def _verify_characters(text: str, line: int) -> None:
    """Escapes bring in what could stand nowhere else: what is no text, or not for a terminal."""
    for character in text:
        if not character.isprintable() and character not in "\n\t":
            raise _error(line, f"The character {_named(character)} is not allowed in a value; write plain text.")


def _explain(error: yaml.MarkedYAMLError) -> str:
    mark = error.problem_mark or error.context_mark
    column = f" (column {mark.column + 1})" if mark is not None else ""
    context = f" {error.context}" if error.context else ""
    hint = " Indent with spaces." if "\\t" in (error.problem or "") else ""
    return f"This is no YAML{column}: {error.problem}{context}.{hint}"


def _named(character: int | str | bytes) -> str:
    code = character if isinstance(character, int) else ord(character[:1])
    return f"U+{code:04X}"


def _line(mark: Any) -> int:
    return 1 if mark is None else int(mark.line) + 1


def _error(line: int, message: str) -> SpecError:
    return SpecError((SpecProblem("", line, message),))
