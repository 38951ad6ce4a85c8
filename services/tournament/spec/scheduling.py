"""One schedule in a tournament file: which sets of five are played, how many, and whether `duplicate` fits.

It is what the key `schedule` says, or, of one with pools, its keys `each` and `final` (`stages.py`).
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from services.tournament.spec.amounts import count_sets
from services.tournament.spec.document import MappingNode, SequenceNode
from services.tournament.spec.fields import Fields, Problems, found, hint, scalar_text, shown
from services.tournament.spec.values import (
    FIELD_ENTRANTS,
    MAX_CHALLENGERS,
    MAX_SETS,
    MIN_OPPONENTS,
    SEATS,
    Duplicate,
    ScheduleKind,
    ScheduleRules,
)

MAX_MATCHES = MAX_SETS["balanced"] * SEATS
_AMOUNTS = {
    ScheduleKind.FULL: (),
    ScheduleKind.BALANCED: ("matches", "matches_per_bot", "meetings"),
    ScheduleKind.ROUNDS: ("rounds",),
    ScheduleKind.GAUNTLET: ("matches", "meetings"),
    ScheduleKind.POOL: ("pools", "size"),
}
"""What says how much is played, by kind: exactly one of these."""
_EXAMPLES = {
    ScheduleKind.BALANCED: "`{kind: balanced, matches: 500}`, or `matches_per_bot` or `meetings`",
    ScheduleKind.ROUNDS: "`{kind: rounds, rounds: 20}`",
    ScheduleKind.GAUNTLET: "names and a number: `{kind: gauntlet, challengers: [ann], matches: 500}`, or `meetings`",
    ScheduleKind.POOL: "pools and a final: `{kind: pool, pools: 4, each: full, advance: 2, final: full}`",
}
ROUNDS_EXAMPLE = "{kind: rounds, rounds: 20}"
_NO_NUMBER = (ScheduleKind.GAUNTLET, ScheduleKind.POOL)
"""Kinds that need more than a number."""
STAGE_KEYS = ("pools", "size", "draw", "each", "advance", "rest", "final", "counts")
_OTHERS = {
    "repeats": ScheduleKind.FULL,
    "challengers": ScheduleKind.GAUNTLET,
    "matches": ScheduleKind.BALANCED,
    "matches_per_bot": ScheduleKind.BALANCED,
    "meetings": ScheduleKind.BALANCED,
    "rounds": ScheduleKind.ROUNDS,
    **dict.fromkeys(STAGE_KEYS, ScheduleKind.POOL),
}
"""The kind that a key is for, for whoever has it in another one."""


def read_one(
    fields: Fields, key: str, problems: Problems, kinds: Container[ScheduleKind] = frozenset(ScheduleKind)
) -> ScheduleRules | None:
    """The rules under a key, which must be there, None if they cannot be used (then that is noted)."""
    node = fields.node(key)
    if not isinstance(node, MappingNode):
        kind = fields.choice(key, ScheduleKind, ScheduleKind.FULL)
        if kind not in kinds:
            fields.note(key, _misplaced(kind))
        elif kind in _EXAMPLES:
            a_number = "" if kind in _NO_NUMBER else "a number: "
            fields.note(key, f"{kind} needs {a_number}{_EXAMPLES[kind]}.")
        return ScheduleRules(kind)
    inner = Fields(node, fields.path(key), ("kind", *_OTHERS), problems)
    if not inner.require("kind", f"one of {', '.join(ScheduleKind)}"):
        return None
    kind = inner.choice("kind", ScheduleKind, ScheduleKind.FULL)
    if kind not in kinds:
        inner.note("kind", _misplaced(kind))
        return None
    repeats = inner.number("repeats", 1, MAX_SETS["full"], 1) or 1
    rules = ScheduleRules(
        kind,
        matches=inner.number("matches", 1, MAX_MATCHES),
        matches_per_bot=inner.number("matches_per_bot", 1, MAX_MATCHES),
        meetings=inner.number("meetings", 1, MAX_MATCHES),
        rounds=inner.number("rounds", 1, MAX_MATCHES),
        challengers=_read_challengers(inner, problems),
    )
    _verify_keys(fields, key, inner, kind)
    if kind is ScheduleKind.FULL:
        return ScheduleRules(kind, repeats)
    if kind is ScheduleKind.GAUNTLET:
        inner.require("challengers", f"a list of 1 to {MAX_CHALLENGERS} of the bots, the new ones")
    return rules


def _misplaced(kind: ScheduleKind) -> str:
    if kind is ScheduleKind.POOL:
        return "pools cannot be in pools; take full, balanced or rounds."
    return f"by {kind} not everybody has the same opponents, but all play for places; take full, balanced or rounds."


def _verify_keys(fields: Fields, key: str, inner: Fields, kind: ScheduleKind) -> None:
    """Exactly one key says how much, and none is there that belongs to another kind."""
    amounts = _AMOUNTS[kind]
    own = (*amounts, *(name for name, other in _OTHERS.items() if other is kind))
    for name, other in _OTHERS.items():
        if inner.node(name) is not None and name not in own:
            inner.note(name, f"is for kind {other}; {_instead(kind)}.")
    given = [name for name in amounts if inner.node(name) is not None]
    if amounts and len(given) != 1:
        one_of = f"exactly one of {', '.join(amounts)}" if len(amounts) > 1 else f"the key {amounts[0]}"
        fields.note(key, f"{kind} takes {one_of}, not {len(given) or 'none'}.")


def _instead(kind: ScheduleKind) -> str:
    if kind is ScheduleKind.FULL:
        return "full plays every set of five, `repeats` times"
    amounts = _AMOUNTS[kind]
    return f"{kind} takes one of {', '.join(amounts)}" if len(amounts) > 1 else f"{kind} takes {amounts[0]}"


def _read_challengers(inner: Fields, problems: Problems) -> tuple[str, ...]:
    node = inner.node("challengers")
    if node is None:
        return ()
    if not isinstance(node, SequenceNode) or not 1 <= len(node.value) <= MAX_CHALLENGERS:
        what = f"a list of {len(node.value)}" if isinstance(node, SequenceNode) else found(node)
        inner.note("challengers", f"must be a list of 1 to {MAX_CHALLENGERS} names, not {what}.")
        return ()
    names: list[str] = []
    for position, item in enumerate(node.value):
        name, path = scalar_text(item), inner.path(f"challengers[{position}]")
        if name is None:
            problems.note(path, item.start_mark.line + 1, f"must be a name, not {found(item)}.")
        elif name in names:
            problems.note(path, item.start_mark.line + 1, f"{shown(name)} is there twice.")
        else:
            names.append(name)
    return tuple(names)


def verify_one(fields: Fields, rules: ScheduleRules, entrants: Sequence[str], duplicate: Duplicate) -> None:
    """Notes what does not fit together: challengers and bots, amounts and rotation, the field and the kind."""
    for name in rules.challengers:
        if name not in entrants:
            fields.note("schedule", f"the challenger {shown(name)} is not among the bots{hint(name, entrants)}")
    if rules.challengers and len(entrants) - len(rules.challengers) < MIN_OPPONENTS:
        fields.note("schedule", f"besides the challengers there must be {MIN_OPPONENTS} bots at least, "
                                f"not {len(entrants) - len(rules.challengers)}.")  # fmt: skip
    if duplicate is Duplicate.FIELD:
        if rules.kind is not ScheduleKind.ROUNDS:
            fields.note("duplicate", f"field needs rounds, in which everybody plays once: "
                                     f"`schedule: {ROUNDS_EXAMPLE}`.")  # fmt: skip
        if len(entrants) < FIELD_ENTRANTS:
            fields.note("duplicate", f"field needs {FIELD_ENTRANTS} bots at least, so that a deal is played at two "
                                     f"tables, not {len(entrants)}.")  # fmt: skip
    verify_amount(fields, "schedule", rules, len(entrants), duplicate)


def verify_amount(fields: Fields, key: str, rules: ScheduleRules, entrants: int, duplicate: Duplicate) -> None:
    """Notes an amount that rotation cannot have, or that is more than is played."""
    rotated = duplicate is Duplicate.ROTATION
    for name, amount in (("matches", rules.matches), ("rounds", rules.rounds)):
        if amount is not None and rotated and amount % SEATS:
            low = amount // SEATS * SEATS
            near = f"{low} or {low + SEATS}" if low else str(SEATS)
            fields.note(key, f"{name}: with rotation every set is played in {SEATS} matches, so {near}, "
                             f"not {amount}.")  # fmt: skip
    sets, most = count_sets(rules, entrants, rotated), MAX_SETS[rules.kind]
    if sets > most:
        instead = "; take kind balanced" if rules.kind is ScheduleKind.FULL and rules.repeats == 1 else ""
        fields.note(key, f"{rules.kind} with {entrants} entrants comes to {sets:,} sets of five; "
                         f"at most {most:,} are played{instead}.")  # fmt: skip
