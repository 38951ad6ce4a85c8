"""What a tournament file says of bots that fail or are slow, and what a director makes of it."""

from __future__ import annotations

import pytest

from services.tournament.director import Limits
from services.tournament.spec import BenchedResults, BreakerRules, SpecError, format_spec, parse_spec
from services.tournament.spec.busiest import busiest_share

SMALL = "name: small\nprofile: qingdao\nbots: [ann]\nschedule: full\ndeals: 4\n"


def test_usually_nobody_is_benched_and_the_platform_bounds_what_waits_for_one_bot() -> None:
    spec = parse_spec(SMALL)
    assert (spec.per_bot, spec.breaker) == (None, BreakerRules(0))
    assert parse_spec(SMALL + "breaker: off\n") == spec


def test_what_is_read_is_written() -> None:
    spec = parse_spec(SMALL + "per_bot: 4\nbreaker: {after: 3, results: annulled}\n")
    assert (spec.per_bot, spec.breaker) == (4, BreakerRules(3, BenchedResults.ANNULLED))
    assert "per_bot: 4\nbreaker:\n  after: 3\n  results: annulled\n" in format_spec(spec)
    assert parse_spec(format_spec(spec)) == spec


@pytest.mark.parametrize(
    ("line", "path", "said"),
    [
        ("per_bot: 0", "per_bot", "from 1 to 100000"),
        ("breaker: {results: kept}", "breaker.after", "missing"),
        ("breaker: {after: 0}", "breaker.after", "from 1 to 1000"),
        ("breaker: {after: 2, results: lost}", "breaker.results", "kept, annulled"),
        ("breaker: 3", "breaker", "keys of its own"),
    ],
)
def test_a_wrong_line_is_named_with_its_key(line: str, path: str, said: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse_spec(SMALL + line + "\n")
    (problem,) = caught.value.problems
    assert (problem.path, said in problem.message) == (path, True)


def test_the_bound_of_one_bot_holds_however_many_matches_run() -> None:
    assert Limits().bound_of_bot == 32
    assert Limits().with_in_flight(200).bound_of_bot == 200
    assert Limits(bot_bound=4).with_in_flight(200).bound_of_bot == 4


@pytest.mark.parametrize(
    ("bots", "schedule", "in_flight", "bound"),
    [
        (20, "full", 200, 125),  # five in twenty, so fifty on average: more than thrice is more than leaves room
        (100, "{kind: balanced, matches: 500}", 200, 32),
        (100, "{kind: balanced, matches: 500}", 1000, 150),
        (6, "full", 80, 74),
        (5, "full", 80, 80),  # it is in every match anyway
        (20, "{kind: gauntlet, challengers: [b0], matches: 100}", 80, 80),
        (20, "{kind: gauntlet, challengers: [b0, b1], matches: 100}", 80, 60),
        (20, "full", 1, 1),
    ],
)
def test_however_many_run_one_bot_leaves_room_for_matches_without_it(
    bots: int, schedule: str, in_flight: int, bound: int
) -> None:
    names = ", ".join(f"b{number}" for number in range(bots))
    spec = parse_spec(f"name: x\nprofile: qingdao\nbots: [{names}]\nschedule: {schedule}\ndeals: 1\n")
    limits = Limits(busiest=busiest_share(spec.schedule, bots)).with_in_flight(in_flight)
    assert (limits.bound_of_bot, limits.per_service) == (bound, in_flight)
