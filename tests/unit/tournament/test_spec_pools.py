"""Pools in a tournament file: what may be written, what it comes to, and what is refused with which words."""

from __future__ import annotations

import pytest

from services.tournament.spec import (
    Draw,
    FinalCounts,
    PoolRules,
    ScheduleKind,
    ScheduleRules,
    SpecError,
    SpecProblem,
    count_sets,
    format_spec,
    parse_spec,
)

ROUNDS = "{kind: rounds, rounds: 10}"


def text(schedule: str, bots: int = 22, more: str = "") -> str:
    names = ", ".join(f"bot-{index}" for index in range(bots))
    return f"name: cup\nprofile: qingdao\nbots: [{names}]\nschedule: {schedule}\ndeals: 2\n{more}"


def pools(**keys: str) -> str:
    keys = {"pools": "4", "each": "full", "advance": "2", "final": "{kind: full, repeats: 3}", **keys}
    return "{kind: pool, " + ", ".join(f"{key}: {value}" for key, value in keys.items() if value) + "}"


def problems(schedule: str, bots: int = 22, more: str = "") -> list[SpecProblem]:
    with pytest.raises(SpecError) as caught:
        parse_spec(text(schedule, bots, more))
    return list(caught.value.problems)


def test_pools_are_read() -> None:
    rules = parse_spec(text(pools())).schedule
    final = ScheduleRules(ScheduleKind.FULL, repeats=3)
    assert rules.kind is ScheduleKind.POOL
    assert rules.stages == PoolRules(ScheduleRules(ScheduleKind.FULL), final, advance=2, pools=4)
    assert (rules.stages.draw, rules.stages.counts, rules.stages.rest) == (Draw.LOT, FinalCounts.FINAL, 0)


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"pools": "", "size": "7", "rest": "3", "draw": "snake", "counts": "all"},
        {"each": "{kind: balanced, matches_per_bot: 20}", "final": "{kind: rounds, rounds: 5}"},
    ],
)
def test_what_is_written_reads_back_as_the_same(keys: dict[str, str]) -> None:
    spec = parse_spec(text(pools(**keys)))
    assert parse_spec(format_spec(spec)) == spec


@pytest.mark.parametrize(
    ("keys", "entrants", "sizes", "places"),
    [
        ({"pools": "4"}, 22, (6, 6, 5, 5), 8),
        ({"pools": "4", "rest": "2"}, 23, (6, 6, 6, 5), 10),
        ({"pools": "", "size": "7", "advance": "3"}, 22, (8, 7, 7), 9),
        ({"pools": "", "size": "10", "advance": "3"}, 29, (15, 14), 6),
    ],
)
def test_pools_differ_by_one_bot_at_most(
    keys: dict[str, str], entrants: int, sizes: tuple[int, ...], places: int
) -> None:
    stages = parse_spec(text(pools(**keys), entrants)).schedule.stages
    assert stages is not None
    assert (stages.sizes(entrants), stages.places(entrants)) == (sizes, places)


def test_the_amounts_of_all_stages_are_added_up() -> None:
    rules = parse_spec(text(pools())).schedule
    assert count_sets(rules, 22, rotated=True) == 6 + 6 + 1 + 1 + 56 * 3


@pytest.mark.parametrize(
    ("schedule", "path", "said"),
    [
        ("pool", "schedule", "pool needs pools and a final: `{kind: pool, pools: 4"),
        (pools(pools=""), "schedule", "takes one of pools (how many) and size (bots in each, at least), not none"),
        (pools(size="5"), "schedule", "not both"),
        (pools(pools="1"), "schedule.pools", "a whole number from 2 to 100"),
        (pools(each=""), "schedule.each", "The key is missing: what is played in every pool"),
        (pools(final=""), "schedule.final", "The key is missing: what is played among those who go on"),
        (pools(advance=""), "schedule.advance", "The key is missing: how many of each pool"),
        (pools(draw="seeded"), "schedule.draw", "one of lot, snake"),
        (pools(counts="pools"), "schedule.counts", "one of final, all"),
        (pools(matches="500"), "schedule.matches", "There is no such key"),
        (pools(each="{kind: balanced}"), "schedule.each", "balanced takes exactly one of"),
        (pools(each="balanced"), "schedule.each", "balanced needs a number"),
        (pools(each="{kind: balanced, matches: 7}"), "schedule.each", "5 or 10, not 7"),
        (pools(final="{kind: full, advance: 1}"), "schedule.final.advance", "is for kind pool"),
        (pools(each="{kind: gauntlet, challengers: [bot-1], matches: 5}"), "schedule.each.kind", "all play for places"),
        (pools(final="gauntlet"), "schedule.final", "all play for places"),
        (pools(each="{kind: pool, pools: 2}"), "schedule.each.kind", "pools cannot be in pools"),
        (pools(pools="5"), "schedule.pools", "5 pools of 5 at least need 25 bots, not 22"),
        (pools(pools="", size="12"), "schedule.size", "two pools of 12 at least need 24 bots, not 22"),
        (pools(advance="5"), "schedule.advance", "less than the 5 bots of the smallest pool"),
        (pools(advance="1"), "schedule.advance", "and 0 of the rest are 4"),
        (pools(rest="14"), "schedule.rest", "somebody has to be left"),
        (pools(final="{kind: full, repeats: 200000}"), "schedule.final", "11,200,000 sets of five"),
        (
            pools(each="{kind: full, repeats: 1400000}"),
            "schedule.each",
            "all pools and the final come to 19,600,168 sets",
        ),
    ],
)
def test_what_cannot_be_played_is_refused(schedule: str, path: str, said: str) -> None:
    found = problems(schedule)
    assert [(one.path, one.line) for one in found] == [(path, 4)]
    assert said in found[0].message


def test_a_field_needs_rounds_and_ten_bots_in_every_stage() -> None:
    found = problems(pools(pools="2", advance="3", final="full"), 19, "duplicate: field\n")
    assert [one.path for one in found] == ["schedule.each", "schedule.each", "schedule.final", "schedule.final"]
    assert "needs 10 bots at least, so that a deal is played at two tables, not 9" in found[1].message
    assert "not 6" in found[3].message
    spec = text(pools(pools="2", each=ROUNDS, advance="5", final=ROUNDS), 20, "duplicate: field\n")
    assert parse_spec(spec).schedule.stages is not None


def test_the_rule_for_ending_early_is_about_the_final() -> None:
    (found,) = problems(pools(), more="stop: {first: 8}\n")
    assert (found.path, found.message) == ("stop", "first: must be less than the 8 bots of the final, not 8.")
    assert parse_spec(text(pools(), more="stop: {first: 7}\n")).stop is not None
