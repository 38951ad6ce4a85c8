"""Pools and a final as one schedule: numbers, groups, line-ups, the draw, and what it comes to."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from itertools import combinations, islice

import pytest

from services.tournament.schedule import (
    LineUpUnknown,
    PoolSchedule,
    Spread,
    make_timetable,
    report_stages,
    report_timetable,
)
from services.tournament.schedule.making import draw_pools
from services.tournament.spec import Draw, PoolRules, ScheduleKind, ScheduleRules, TournamentSpec, parse_spec

FULL = ScheduleRules(ScheduleKind.FULL)


def spec(schedule: str, bots: int, duplicate: str = "rotation", seed: str = "one") -> TournamentSpec:
    names = ", ".join(f"bot-{index}" for index in range(bots))
    return parse_spec(
        f"name: cup\nprofile: qingdao\nbots: [{names}]\nschedule: {schedule}\nduplicate: {duplicate}\ndeals: 2\n"
        f"seed: {seed}\n"
    )


def timetable(schedule: str, bots: int, duplicate: str = "rotation", seed: str = "one") -> PoolSchedule:
    made = make_timetable(spec(schedule, bots, duplicate, seed))
    assert isinstance(made, PoolSchedule)
    return made


CASES = [
    ("{kind: pool, pools: 4, each: full, advance: 2, final: full}", 22, "rotation"),
    ("{kind: pool, pools: 3, each: {kind: balanced, meetings: 10}, advance: 2, rest: 1, final: full}", 17, "none"),
    ("{kind: pool, pools: 2, each: {kind: balanced, matches: 30}, advance: 3, final: full}", 12, "par"),
    ("{kind: pool, pools: 2, each: {kind: rounds, rounds: 7}, advance: 5, final: {kind: rounds, rounds: 3}}", 29,
     "field"),
]  # fmt: skip


@pytest.mark.parametrize(("schedule", "bots", "duplicate"), CASES)
def test_every_match_has_one_number_and_every_group_its_matches(schedule: str, bots: int, duplicate: str) -> None:
    made = timetable(schedule, bots, duplicate)
    made = made.drawn(range(made.final.entrants))
    places = [made.locate(number) for number in range(len(made))]
    assert len(set(places)) == len(made)
    assert [made.number(*place) for place in places] == list(range(len(made)))
    assert [place[0] for place in places] == [0] * made.before_final + [1] * len(made.final)
    for group in range(made.groups):
        numbers = made.numbers(group)
        assert [made.place(number) for number in numbers] == [(group, turn) for turn in range(len(numbers))]
    assert sorted(number for group in range(made.groups) for number in made.numbers(group)) == list(range(len(made)))
    for number in (-1, len(made)):
        with pytest.raises(IndexError):
            made.match(number)
    with pytest.raises(IndexError):
        made.numbers(made.groups)


@pytest.mark.parametrize(("schedule", "bots", "duplicate"), CASES)
def test_each_pool_is_played_as_its_schedule_says(schedule: str, bots: int, duplicate: str) -> None:
    made = timetable(schedule, bots, duplicate)
    finalists = tuple(range(bots - made.final.entrants, bots))
    made = made.drawn(finalists)
    for stage, sections in enumerate(made.stages):
        for index, section in enumerate(sections):
            members = section.members
            assert members is not None
            for inner, match in enumerate(section.schedule):
                outer = made.match(made.number(stage, index, inner))
                assert (outer.number, outer.rotation) == (made.number(stage, index, inner), match.rotation)
                size = len(members)
                expected = [members[one] if one < size else bots + one - size for one in match.entrants]
                assert list(outer.entrants) == expected
    assert [match.number for match in made] == list(range(len(made)))


def test_all_pools_advance_together() -> None:
    """Given pools of different lengths, when any part has been played, then each has had its share, within a match."""
    made = timetable("{kind: pool, pools: 4, each: full, advance: 2, final: full}", 23)
    lengths = [len(schedule) for schedule in made.schedules]
    assert sorted(set(lengths)) == [5, 30]
    done = [0] * 4
    for number in range(made.before_final):
        done[made.locate(number)[1]] += 1
        for have, length in zip(done, lengths, strict=True):
            assert abs(have - (number + 1) * length / made.before_final) < len(lengths)


def test_no_deal_is_played_in_two_pools_or_in_the_final_again() -> None:
    made = timetable(CASES[0][0], 22)
    sections: dict[int, set[tuple[int, int]]] = {}
    for number in range(len(made)):
        sections.setdefault(made.place(number)[0], set()).add(made.locate(number)[:2])
    assert all(len(found) == 1 for found in sections.values())


def test_who_plays_in_the_final_is_not_known_before_it_is_drawn() -> None:
    made = timetable(CASES[0][0], 22)
    assert made.known == made.before_final
    with pytest.raises(LineUpUnknown, match="decided when the pools are over"):
        made.match(made.before_final)
    assert len(list(made)) == made.before_final
    finalists = (3, 1, 4, 15, 9, 2, 6, 5)
    drawn = made.drawn(finalists)
    assert {one for match in islice(drawn, made.before_final, None) for one in match.entrants} == set(finalists)
    assert [drawn.match(number) for number in range(made.before_final)] == list(made)
    for wrong in ((1, 2, 3), (3, 3, 4, 15, 9, 2, 6, 5)):
        with pytest.raises(ValueError, match="for a final of 8"):
            made.drawn(wrong)


def test_the_draw_follows_from_the_seed_and_puts_everybody_somewhere() -> None:
    one, again, other = (timetable(CASES[0][0], 22, seed=seed).pools for seed in ("one", "one", "other"))
    assert one == again != other
    assert sorted(entrant for pool in one for entrant in pool) == list(range(22))
    assert [len(pool) for pool in one] != []
    assert {frozenset(pool) for pool in one} != {frozenset(pool) for pool in other}


def test_by_lot_everybody_may_come_together_with_everybody() -> None:
    rules = PoolRules(FULL, FULL, 2, pools=4)
    met = Counter(
        pair for key in range(600) for pool in draw_pools(20, rules, key) for pair in combinations(sorted(pool), 2)
    )
    # 190 pairs, 4 in 19 of them in the same pool: 126 times of 600, and no pair is five deviations off.
    assert len(met) == 190
    assert 76 < min(met.values()) <= max(met.values()) < 177


def test_a_snake_goes_back_and_forth() -> None:
    rules = PoolRules(FULL, FULL, 2, pools=3, draw=Draw.SNAKE)
    drawn = draw_pools(17, rules, 1)
    assert [sorted(pool) for pool in drawn] == [[0, 5, 6, 11, 12], [1, 4, 7, 10, 13, 16], [2, 3, 8, 9, 14, 15]]
    assert draw_pools(17, rules, 1) == drawn
    # Who is in a pool follows from the file, as which of its schedule's entrants from the seed.
    others = draw_pools(17, rules, 2)
    assert [set(pool) for pool in others] == [set(pool) for pool in drawn]
    assert others != drawn


@pytest.mark.parametrize("draw", Draw)
@pytest.mark.parametrize("entrants", [10, 17, 19, 20, 23])
def test_pools_have_the_sizes_that_were_announced(entrants: int, draw: Draw) -> None:
    rules = PoolRules(FULL, FULL, 2, pools=2 if entrants < 15 else 3, draw=draw)
    sizes = tuple(sorted((len(pool) for pool in draw_pools(entrants, rules, 5)), reverse=True))
    assert sizes == rules.sizes(entrants)


def test_the_report_of_a_stage_is_what_is_played() -> None:
    made = timetable(CASES[1][0], 17, "none").drawn((0, 1, 2, 3, 4, 5, 6))
    pools, final = report_stages(made)
    assert (pools.first, final.first) == (0, made.before_final)
    for stage, (report, together) in enumerate(((pools.report, made.stages[0]), (final.report, made.stages[1]))):
        meetings, before, seats = Counter[tuple[int, int]](), Counter[tuple[int, int]](), Counter[tuple[int, int]]()
        matches = [match for match in made if made.locate(match.number)[0] == stage]
        for match in matches:
            for one, other in combinations(match.entrants, 2):
                meetings.update([(one, other), (other, one)])
            for seat, entrant in enumerate(match.entrants):
                before[entrant, match.entrants[(seat + 1) % 5]] += 1
                seats[entrant, seat] += 1
        members = [section.members or () for section in together]
        pairs = [(one, other) for pool in members for one in pool for other in pool if one != other]
        assert report.matches == len(matches)
        assert report.deals == 2 * len(matches)
        assert report.before is not None
        assert ends(report.meetings) == ends(spread([meetings[pair] for pair in pairs]))
        assert ends(report.before) == ends(spread([before[pair] for pair in pairs]))
        each_seat = [seats[one, seat] for pool in members for one in pool for seat in range(5)]
        assert ends(report.in_seat) == ends(spread(each_seat))
    whole = report_timetable(made)
    assert (whole.matches, whole.meetings) == (len(made), pools.report.meetings)
    assert whole.per_entrant == tuple(
        sum(one in match.entrants for match in list(made)[: final.first]) for one in range(17)
    )


def ends(one: Spread) -> tuple[int, float, int]:
    return one.least, round(one.mean, 9), one.most


def spread(counts: list[int]) -> Spread:
    return Spread(min(counts), sum(counts) / len(counts), max(counts))


def test_a_million_matches_take_no_memory() -> None:
    each = "{kind: balanced, matches_per_bot: 10000}"
    tracemalloc.start()
    try:
        made = timetable(f"{{kind: pool, size: 10, each: {each}, advance: 1, final: {each}}}", 500)
        assert len(made) == 1_100_000
        for number in range(0, made.before_final, 997):
            made.match(number)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 4_000_000
