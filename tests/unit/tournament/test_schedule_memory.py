"""Long schedules take no more memory than short ones, planned and gone through."""

from __future__ import annotations

import gc
import tracemalloc

import pytest

from services.tournament.schedule import make_schedule, report_schedule
from services.tournament.spec import parse_spec

SPEC = "name: x\nprofile: qingdao\nbots: [{bots}]\nschedule: {schedule}\nduplicate: {duplicate}\ndeals: 1\nseed: 1\n"


def peak_of_iterating(schedule: str, duplicate: str) -> tuple[int, int]:
    """How many matches, and how many bytes at most while they are gone through; what is made once is not counted."""
    bots = ", ".join(f"b{number}" for number in range(20))
    made = make_schedule(parse_spec(SPEC.format(bots=bots, schedule=schedule, duplicate=duplicate)))
    made.match(len(made) - 1)
    gc.collect()
    tracemalloc.start()
    try:
        report_schedule(made)
        report_peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        matches = sum(1 for _ in made)
        assert report_peak < 64 << 20
        return matches, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("schedule", "duplicate"),
    [
        ("{{kind: full, repeats: {}}}", "none"),
        ("{{kind: balanced, matches: {}0000}}", "none"),
        ("{{kind: balanced, matches: {}0000}}", "rotation"),
        ("{{kind: rounds, rounds: {}000}}", "field"),
        ("{{kind: gauntlet, challengers: [b0], matches: {}000}}", "par"),
    ],
)
def test_ten_times_as_many_matches_take_no_more_memory(schedule: str, duplicate: str) -> None:
    few, small = peak_of_iterating(schedule.format(1), duplicate)
    many, large = peak_of_iterating(schedule.format(10), duplicate)
    assert many == 10 * few
    assert large < small + (1 << 20)
