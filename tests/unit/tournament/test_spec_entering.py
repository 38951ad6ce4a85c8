"""The key `entries` of a tournament file, and the line-up that comes of who has entered."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.tournament.spec import (
    EntryRules,
    SpecError,
    fewest,
    format_spec,
    is_nobody,
    line_up_of,
    may_enter,
    parse_spec,
    with_line_up,
)

HEAD = "name: cup\nprofile: qingdao\ndeals: 2\n"
OPEN = HEAD + "schedule: {kind: full}\nentries: {min: 6, max: 40, names: [ada, 'team-*']}\n"


def problems(text: str) -> str:
    with pytest.raises(SpecError) as caught:
        parse_spec(text)
    return "\n".join(map(str, caught.value.problems))


def test_rules_are_read_and_written_back() -> None:
    spec = parse_spec(OPEN)
    assert (spec.bots, spec.entries) == ((), EntryRules(6, 40, ("ada", "team-*")))
    assert parse_spec(format_spec(spec)) == spec
    bare = parse_spec(HEAD + "schedule: {kind: full}\nbots: [bob]\nentries: {}\n")
    assert (bare.bots, bare.entries) == (("bob",), EntryRules(1, 500))
    assert parse_spec(format_spec(bare)) == bare
    settled = with_line_up(bare, ("bob", "ada"))
    assert "entries" not in format_spec(settled)
    assert parse_spec(format_spec(settled)).bots == ("bob", "ada")


def test_without_entries_a_file_must_say_who_plays() -> None:
    assert "or `entries`, so that bots may enter" in problems(HEAD + "schedule: {kind: full}\n")
    assert "must be a list of 1 to 500 names, not a list of 0" in problems(HEAD + "schedule: {kind: full}\nbots: []\n")
    assert parse_spec(OPEN + "bots: []\n").bots == ()


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ("{min: 7, max: 6}", "entries.min: is 7, more than max, which is 6"),
        ("{max: 1}\nbots: [ada, bob]", "bots: has 2 names, and entries.max is 1"),
        ("{max: 501}", "entries.max: must be a whole number from 1 to 500"),
        ("{names: []}", "leave it out to let in all"),
        ("{names: ada}", "must be a list of 1 to 500 names, not 'ada'"),
        ("{names: [a b]}", "entries.names[0]: must be the name of a bot, or part of one"),
        ("{names: [[a]]}", "not a list"),
        ("{names: [ada, ada]}", "'ada' is there twice"),
        ("{who: ada}", "There is no such key"),
        ("yes", "must have keys of its own (min, max, names)"),
    ],
)
def test_what_is_wrong_is_said(entries: str, said: str) -> None:
    assert said in problems(HEAD + f"schedule: {{kind: full}}\nentries: {entries}\n")


def test_what_is_written_must_do_for_the_fewest_that_may_play() -> None:
    field = HEAD + "schedule: {kind: rounds, rounds: 4}\nduplicate: field\nentries: {min: 9}\n"
    assert "field needs 10 bots at least, so that a deal is played at two tables, not 9" in problems(field)
    assert parse_spec(field.replace("min: 9", "min: 10")).entries == EntryRules(10)
    gauntlet = HEAD + "schedule: {kind: gauntlet, challengers: [new], matches: 50}\nentries: {min: 5}\n"
    assert parse_spec(gauntlet).schedule.challengers == ("new",)
    assert "must be a whole number from 1 to 5" in problems(OPEN + "stop: {first: 6}\n")


def test_the_fewest_are_those_named_and_nobodies() -> None:
    spec = parse_spec(
        HEAD + "schedule: {kind: gauntlet, challengers: [new], matches: 50}\nentries: {min: 4}\nbots: [a]\n"
    )
    assert spec.entries is not None
    line_up = fewest(spec.entries, spec.bots, spec.schedule)
    assert line_up == ("a", "new", "entrant (3)", "entrant (4)")
    assert [is_nobody(name) for name in line_up] == [False, False, True, True]
    assert fewest(replace(spec.entries, min=1), spec.bots, spec.schedule) == ("a", "new")


@given(st.lists(st.sampled_from(["zoe", "bob", "Ada", "x", "house:greedy", "yan"]), unique=True), st.randoms())
def test_the_line_up_does_not_depend_on_who_came_first(entered: list[str], random: object) -> None:
    spec = parse_spec(HEAD + "schedule: {kind: full}\nbots: [yan, bob]\nentries: {}\n")
    line_up = line_up_of(spec, entered)
    random.shuffle(entered)  # type: ignore[attr-defined]
    assert line_up_of(spec, entered) == line_up
    assert sorted(line_up) == sorted(entered)
    named = [name for name in line_up if name in spec.bots]
    assert named == [name for name in ("yan", "bob") if name in entered]
    assert list(line_up) == named + sorted(set(entered) - {"yan", "bob"})


PIECES = st.text("ab*", min_size=1, max_size=8)


@given(PIECES, st.text("ab", max_size=10))
def test_a_pattern_matches_as_one_would_think(pattern: str, name: str) -> None:
    expected = re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name) is not None
    assert may_enter(EntryRules(names=(pattern,)), name) == expected


def test_anybody_may_enter_where_nobody_is_named() -> None:
    assert may_enter(EntryRules(), "anybody")
    assert not may_enter(EntryRules(names=("ada", "team-*")), "team")
    assert may_enter(EntryRules(names=("ada", "team-*")), "team-b")


def test_many_stars_take_no_longer() -> None:
    assert not may_enter(EntryRules(names=("a" + "*a" * 19 + "*b",)), "a" * 40)
