"""The key `entries` of a tournament file: who may enter before the start, and the line-up that comes of it."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from services.tournament.spec.document import SequenceNode
from services.tournament.spec.fields import Fields, Problems, found, scalar_text, shown
from services.tournament.spec.values import MAX_BOTS, EntryRules, ScheduleRules, TournamentSpec

MAX_PATTERNS = 500
_PATTERN = re.compile(r"[A-Za-z0-9*][A-Za-z0-9._*-]{0,39}", re.ASCII)
_PATTERN_RULE = "the name of a bot, or part of one with `*` for whatever else there is in it"


def read_entries(fields: Fields, problems: Problems, bots: Collection[str]) -> EntryRules | None:
    """The rules; None where the file itself says who plays."""
    entries = fields.mapping("entries", ("min", "max", "names"))
    if entries is None:
        return None
    least = entries.number("min", 1, MAX_BOTS, 1) or 1
    most = entries.number("max", 1, MAX_BOTS, MAX_BOTS) or MAX_BOTS
    if least > most:
        entries.note("min", f"is {least}, more than max, which is {most}.")
    if len(bots) > most:
        fields.note("bots", f"has {len(bots)} names, and entries.max is {most}.")
    return EntryRules(least, most, _read_names(entries, problems))


def _read_names(entries: Fields, problems: Problems) -> tuple[str, ...]:
    node = entries.node("names")
    if node is None:
        return ()
    if not isinstance(node, SequenceNode) or not 1 <= len(node.value) <= MAX_PATTERNS:
        what = f"a list of {len(node.value)}" if isinstance(node, SequenceNode) else found(node)
        entries.note("names", f"must be a list of 1 to {MAX_PATTERNS} names, not {what}; leave it out to let in all.")
        return ()
    names: list[str] = []
    for position, item in enumerate(node.value):
        name, path, line = scalar_text(item), entries.path(f"names[{position}]"), item.start_mark.line + 1
        if name is None or not _PATTERN.fullmatch(name):
            problems.note(path, line, f"must be {_PATTERN_RULE}, not {found(item) if name is None else shown(name)}.")
        elif name in names:
            problems.note(path, line, f"{shown(name)} is there twice.")
        else:
            names.append(name)
    return tuple(names)


def may_enter(rules: EntryRules, name: str) -> bool:
    """Whether a bot may enter itself; an operator may enter any."""
    return not rules.names or any(_matches(pattern, name) for pattern in rules.names)


def _matches(pattern: str, name: str) -> bool:
    """Piece by piece from the left, which takes no longer however many `*` there are."""
    first, *rest = pattern.split("*")
    if not rest:
        return name == pattern
    *middle, last = rest
    if not name.startswith(first) or not name.endswith(last) or len(name) < len(first) + len(last):
        return False
    at, end = len(first), len(name) - len(last)
    for piece in middle:
        at = name.find(piece, at, end)
        if at < 0:
            return False
        at += len(piece)
    return True


def line_up_of(spec: TournamentSpec, entered: Collection[str]) -> tuple[str, ...]:
    """Who plays, in the order that the schedule goes by: those whom the file names as it names them, then by name.

    It depends on who has entered and not on who came first: nobody chooses a place in the schedule by being quick.
    """
    return (*(name for name in spec.bots if name in entered), *sorted(set(entered) - set(spec.bots)))


def with_line_up(spec: TournamentSpec, line_up: tuple[str, ...]) -> TournamentSpec:
    """The specification of a tournament in which exactly these play; whether its schedule can have so many is open."""
    return replace(spec, bots=line_up, entries=None)


def fewest(rules: EntryRules, bots: tuple[str, ...], schedule: ScheduleRules) -> tuple[str, ...]:
    """A line-up as small as it may be, with names no bot can have where nobody is named."""
    named = (*bots, *(name for name in schedule.challengers if name not in bots))
    return (*named, *(f"entrant ({number})" for number in range(len(named) + 1, rules.min + 1)))


def is_nobody(name: str) -> bool:
    """Whether it is such a name."""
    return name.startswith("entrant (")
