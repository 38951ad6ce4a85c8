"""What a tournament file says of bots that fail or are slow, and what a director makes of it."""

from __future__ import annotations

import pytest

from services.tournament.director import Limits
from services.tournament.spec import BenchedResults, BreakerRules, SpecError, format_spec, parse_spec

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
