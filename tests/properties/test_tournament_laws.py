"""What holds for every specification, every schedule and every set of results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bots_sdk.rules.phases import Phase
from bots_sdk.rules.profiles import PROFILES
from services.common.matches import (
    ClockRules,
    DealScore,
    FaultRules,
    FaultScore,
    IllegalPolicy,
    OthersScore,
    SeatFaults,
)
from services.tournament.schedule import Schedule, balanced, make_schedule, report_schedule
from services.tournament.schedule.balanced import BalancedSelection
from services.tournament.schedule.full import FullSelection
from services.tournament.schedule.rounds import RoundsSelection
from services.tournament.spec import (
    Duplicate,
    ScheduleKind,
    ScheduleRules,
    SpecError,
    StopRules,
    TournamentSpec,
    format_spec,
    parse_spec,
)
from services.tournament.standings import PlayedMatch, compute_standings


@pytest.fixture(autouse=True, scope="module")
def _hasty() -> Iterator[None]:
    """Searches end early: what is held here must hold however good they are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(balanced, "_BLOCK_TURNS", 20)
        patch.setattr(balanced, "_PACKING_TURNS", 20)
        yield


names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}", fullmatch=True)
house = st.sampled_from(["house:greedy", "house:random", "house:greedy#2", "house:random#17", "house:greedy#999"])


def durations(low: int, high: int) -> st.SearchStrategy[timedelta]:
    return st.integers(low, high).map(lambda milliseconds: timedelta(milliseconds=milliseconds))


HOUR = 3_600_000
clocks = st.builds(
    ClockRules,
    limit=st.none() | durations(1, HOUR),
    bank=durations(0, 24 * HOUR),
    increment=durations(0, HOUR),
    grace=durations(0, 60_000),
    ready=durations(100, HOUR),
    limits=st.dictionaries(st.sampled_from([phase for phase in Phase if phase <= Phase.PLAY]), durations(1, HOUR)).map(
        lambda limits: tuple(sorted(limits.items()))
    ),
).map(lambda clock: clock if clock.limit is not None else replace(clock, limits=()))
fault_rules = st.builds(
    FaultRules,
    illegal=st.sampled_from(IllegalPolicy),
    illegal_limit=st.integers(1, 100),
    takeover_after=st.integers(0, 99),
    score=st.sampled_from(FaultScore),
    penalty=st.integers(1, 1000),
    forfeit=st.integers(1, 1000),
    others=st.sampled_from(OthersScore),
)
rules = st.one_of(
    st.builds(ScheduleRules, st.just(ScheduleKind.FULL), repeats=st.integers(1, 50)),
    st.builds(ScheduleRules, st.just(ScheduleKind.BALANCED), matches=st.integers(1, 1000).map(lambda sets: 5 * sets)),
    st.builds(ScheduleRules, st.just(ScheduleKind.BALANCED), matches_per_bot=st.integers(1, 1000)),
    st.builds(ScheduleRules, st.just(ScheduleKind.BALANCED), meetings=st.integers(1, 1000)),
    st.builds(ScheduleRules, st.just(ScheduleKind.ROUNDS), rounds=st.integers(1, 1000).map(lambda rounds: 5 * rounds)),
)


@st.composite
def specs(draw: st.DrawFn) -> TournamentSpec:
    profile = draw(st.sampled_from(sorted(PROFILES)))
    text = format_spec(
        TournamentSpec(
            name=draw(names),
            profile=profile,
            options=PROFILES[profile],
            bots=tuple(draw(st.lists(names | house, min_size=1, max_size=8, unique=True))),
            schedule=draw(rules),
            deals=draw(st.integers(1, 1000)),
            overrides=draw(st.sampled_from([(), (("stakes", (1, 2, 4)),), (("wind", "auto"), ("tribute", True))])),
            duplicate=draw(st.sampled_from([one for one in Duplicate if one is not Duplicate.FIELD])),
            clock=draw(clocks),
            faults=draw(fault_rules),
            seed=draw(
                st.none() | st.text(st.characters(codec="utf-8", categories=["L", "N", "P"]) | st.just(" "), min_size=1)
            ),
            in_flight=draw(st.none() | st.integers(1, 100_000)),
            no_show_limit=draw(st.integers(1, 1000)),
            stop=draw(st.none() | st.builds(StopRules, st.integers(1, 4), st.integers(50, 99))),
        )
    )
    return parse_spec(text)


@given(specs())
def test_a_written_specification_reads_back_as_the_same(spec: TournamentSpec) -> None:
    assert parse_spec(format_spec(spec)) == spec


def lines_of_problems(text: str) -> list[int]:
    """The lines of what is wrong with a file; any other exception is a bug."""
    try:
        parse_spec(text)
    except SpecError as error:
        return [problem.line for problem in error.problems] or [0]
    return []


@given(st.text(max_size=300) | st.text("abc:-[]{}&*!|>'\"#,? \n\t0~", max_size=300))
def test_any_text_is_refused_with_lines_that_are_in_it(text: str) -> None:
    lines = lines_of_problems(text)
    assert lines  # by chance nobody writes a tournament
    # Lines end as YAML ends them (also at \x85 and the like); an error at the end stands in the line after.
    assert all(1 <= line <= len(text.splitlines()) + 1 for line in lines)


BASE = (
    "name: x\nprofile: qingdao\nbots: [a, b, c]\nschedule: full\ndeals: 4\nclock: {limit: 2s}\noptions: {wind: auto}\n"
)


@given(st.integers(0, len(BASE)), st.integers(0, 12), st.text(max_size=6))
def test_a_damaged_file_is_a_specification_or_an_error(at: int, cut: int, instead: str) -> None:
    assert 0 not in lines_of_problems(BASE[:at] + instead + BASE[at + cut :])


@st.composite
def schedules(draw: st.DrawFn) -> Schedule:
    entrants, rotated, key = draw(st.integers(5, 14)), draw(st.booleans()), draw(st.integers(0, 2**64 - 1))
    kind = draw(st.sampled_from(["full", "rounds", "balanced"]))
    if kind == "full":
        return Schedule(FullSelection(entrants, draw(st.integers(1, 2)), key, rotated), rotated, 1)
    if kind == "rounds":
        selection = RoundsSelection(entrants, draw(st.integers(1, 40)), key, rotated)
        return Schedule(selection, rotated, 1, unit=selection.tables)
    return Schedule(BalancedSelection(entrants, draw(st.integers(1, 60)), key, rotated), rotated, 1)


@settings(max_examples=25)
@given(schedules(), st.data())
def test_every_schedule_is_whole_and_fair(schedule: Schedule, data: st.DataObject) -> None:
    matches = list(schedule)
    assert [match.number for match in matches] == list(range(len(schedule)))
    assert all(
        len(set(match.entrants)) == 5 and set(match.entrants) <= set(range(schedule.entrants)) for match in matches
    )
    number = data.draw(st.integers(0, len(schedule) - 1))
    assert schedule.match(number) == matches[number]
    plays = Counter(entrant for match in matches for entrant in match.entrants)
    counts = [plays[entrant] for entrant in range(schedule.entrants)]
    assert max(counts) - min(counts) <= schedule.rotations
    assert report_schedule(schedule).per_entrant == tuple(counts)


@settings(max_examples=25)
@given(schedules())
def test_with_rotation_every_entrant_of_a_set_has_every_seat_once(schedule: Schedule) -> None:
    seats: dict[int, list[tuple[int, int]]] = {}
    for match in schedule:
        seats.setdefault(match.group, []).extend(enumerate(match.entrants))
    for of_group in seats.values():
        entrants = {entrant for _, entrant in of_group}
        if schedule.rotated:
            assert sorted(of_group) == sorted((seat, entrant) for seat in range(5) for entrant in entrants)
        else:
            assert len(of_group) == len(entrants) == 5


@given(st.integers(1, 30), st.integers(0, 2**32), fault_rules)
def test_the_order_of_results_changes_nothing_to_the_last_digit(matches: int, seed: int, price: FaultRules) -> None:
    draw = Random(seed)
    spec = parse_spec(
        "name: x\nprofile: qingdao\nbots: [a, b, c, d, e, f, g]\n"
        f"schedule: {{kind: balanced, matches: 210}}\ndeals: 3\nseed: {seed}\n"
    )
    results = []
    for match in list(make_schedule(spec))[:matches]:
        deals = []
        for deal in range(3):
            points = np.array([draw.randint(-40, 40) for _ in range(5)])
            spoiled = tuple(seat for seat in range(5) if draw.random() < 0.05)
            wrong = tuple(draw.randint(0, 2) if draw.random() < 0.1 else int(seat in spoiled) for seat in range(5))
            score = DealScore(deal, tuple(points.tolist()), (0, 1, 2, 3, 4), 0, None, None)
            deals.append(replace(score, spoiled=spoiled, faults=wrong))
        one, two, three, four, five = (SeatFaults(timeouts=draw.randint(0, 3)) for _ in range(5))
        results.append(
            PlayedMatch(match.number, match.group, match.entrants, tuple(deals), (one, two, three, four, five))
        )
    table = compute_standings(spec.entrants, results, price)
    draw.shuffle(results)
    assert compute_standings(spec.entrants, results, price) == table
    for line in table:
        assert line.spoiled <= line.counted <= line.deals, "what a bot has spoiled itself it cannot get rid of"
        assert line.points_paid >= 0
