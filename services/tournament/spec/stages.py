"""The key `schedule` of a tournament file as a whole: one schedule, or pools that feed a final."""

from __future__ import annotations

from collections.abc import Sequence

from services.tournament.spec.amounts import count_sets
from services.tournament.spec.document import MappingNode
from services.tournament.spec.fields import Fields, Problems, scalar_text
from services.tournament.spec.scheduling import ROUNDS_EXAMPLE, STAGE_KEYS, read_one, verify_amount, verify_one
from services.tournament.spec.values import (
    FIELD_ENTRANTS,
    MAX_BOTS,
    MAX_SETS,
    SEATS,
    Draw,
    Duplicate,
    FinalCounts,
    PoolRules,
    ScheduleKind,
    ScheduleRules,
)

KINDS = frozenset((ScheduleKind.FULL, ScheduleKind.BALANCED, ScheduleKind.ROUNDS))
"""What may be played in a pool, and in a final."""
MOST_POOLS = MAX_BOTS // SEATS


def read_schedule(fields: Fields, problems: Problems) -> ScheduleRules | None:
    """The rules, None if they cannot be used (then that is noted)."""
    if not fields.require("schedule", f"one of {', '.join(ScheduleKind)}, each but full with a number"):
        return None
    node = fields.node("schedule")
    if not (isinstance(node, MappingNode) and _says_pool(node)):
        return read_one(fields, "schedule", problems)
    inner = Fields(node, "schedule", ("kind", *STAGE_KEYS), problems)
    if (inner.node("pools") is None) == (inner.node("size") is None):
        one_or_both = "not both" if inner.node("size") is not None else "not none"
        fields.note("schedule", f"pool takes one of pools (how many) and size (bots in each, at least), {one_or_both}.")
    each, final = (_read_stage(inner, key, problems) for key in ("each", "final"))
    inner.require("advance", "how many of each pool go on to the final")
    advance = inner.number("advance", 1, MAX_BOTS)
    rest = inner.number("rest", 0, MAX_BOTS, 0)
    pools, size = inner.number("pools", 2, MOST_POOLS), inner.number("size", SEATS, MAX_BOTS)
    draw = inner.choice("draw", Draw, Draw.LOT)
    counts = inner.choice("counts", FinalCounts, FinalCounts.FINAL)
    if each is None or final is None or advance is None or (pools is None) == (size is None):
        return None
    stages = PoolRules(each, final, advance, pools, size, rest or 0, draw, counts)
    return ScheduleRules(ScheduleKind.POOL, stages=stages)


def _read_stage(inner: Fields, key: str, problems: Problems) -> ScheduleRules | None:
    what = "in every pool" if key == "each" else "among those who go on"
    if not inner.require(key, f"what is played {what}, as `full` or `{{kind: balanced, matches: 500}}`"):
        return None
    return read_one(inner, key, problems, KINDS)


def _says_pool(node: MappingNode) -> bool:
    return any(scalar_text(key) == "kind" and scalar_text(value) == ScheduleKind.POOL for key, value in node.value)


def verify_schedule(fields: Fields, rules: ScheduleRules, entrants: Sequence[str], duplicate: Duplicate) -> None:
    """Notes what does not fit together: who plays, and how much."""
    if rules.stages is None:
        verify_one(fields, rules, entrants, duplicate)
    elif (inner := fields.mapping("schedule", ("kind", *STAGE_KEYS))) is not None:
        _verify_stages(inner, rules, len(entrants), duplicate)


def _verify_stages(inner: Fields, rules: ScheduleRules, entrants: int, duplicate: Duplicate) -> None:
    stages = rules.stages
    assert stages is not None
    if not _are_pools_right(inner, stages, entrants) or not _are_places_right(inner, stages, entrants):
        return
    sizes, places = stages.sizes(entrants), stages.places(entrants)
    for key, one, least, most in (("each", stages.each, sizes[-1], sizes[0]), ("final", stages.final, places, places)):
        if duplicate is Duplicate.FIELD:
            _verify_field(inner, key, one, least)
        verify_amount(inner, key, one, most, duplicate)
    sets = count_sets(rules, entrants, rotated := duplicate is Duplicate.ROTATION)
    parts = count_sets(stages.each, sizes[0], rotated), count_sets(stages.final, places, rotated)
    if max(parts) <= MAX_SETS["full"] < sets:
        inner.note("each", f"all pools and the final come to {sets:,} sets of five; at most {MAX_SETS['full']:,} are "
                           "played.")  # fmt: skip


def _are_pools_right(inner: Fields, stages: PoolRules, entrants: int) -> bool:
    """Whether there are bots enough for the pools; if not, that is noted."""
    if stages.pools is not None and entrants < (needed := SEATS * stages.pools):
        inner.note("pools", f"{stages.pools} pools of {SEATS} at least need {needed} bots, not {entrants}.")
        return False
    if stages.size is not None and entrants < (needed := 2 * stages.size):
        inner.note("size", f"two pools of {stages.size} at least need {needed} bots, not {entrants}.")
        return False
    return True


def _are_places_right(inner: Fields, stages: PoolRules, entrants: int) -> bool:
    """Whether some go on, enough for a final, and some do not; if not, that is noted."""
    sizes, places = stages.sizes(entrants), stages.places(entrants)
    if stages.advance >= sizes[-1]:
        inner.note("advance", f"must be less than the {sizes[-1]} bots of the smallest pool, not {stages.advance}.")
    elif places >= entrants:
        over = f"{stages.advance} of each of {len(sizes)} pools and {stages.rest} more are all {entrants} bots"
        inner.note("rest", f"{over} or beyond; somebody has to be left.")
    elif places < SEATS:
        inner.note("advance", f"{SEATS} play in a final at least, and {stages.advance} of each of {len(sizes)} pools "
                              f"and {stages.rest} of the rest are {places}.")  # fmt: skip
    else:
        return True
    return False


def _verify_field(inner: Fields, key: str, rules: ScheduleRules, least: int) -> None:
    if rules.kind is not ScheduleKind.ROUNDS:
        inner.note(key, f"`duplicate: field` needs rounds, in which everybody plays once: `{ROUNDS_EXAMPLE}`.")
    if least < FIELD_ENTRANTS:
        inner.note(key, f"`duplicate: field` needs {FIELD_ENTRANTS} bots at least, so that a deal is played at two "
                        f"tables, not {least}.")  # fmt: skip
