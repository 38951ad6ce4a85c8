"""Tournament files: what is read from them, and every problem named by its key and line."""

from __future__ import annotations

import pickle
import re
from datetime import timedelta

import pytest

from bots_sdk.rules.options import Wind
from bots_sdk.rules.phases import Phase
from bots_sdk.rules.profiles import PROFILES, make_options
from services.common.matches import ClockRules, FaultRules, FaultScore, IllegalPolicy, OthersScore
from services.tournament.spec import (
    PAR_NAMES,
    Duplicate,
    ScheduleKind,
    ScheduleRules,
    SpecError,
    SpecProblem,
    StopRules,
    format_spec,
    house_bot_id,
    parse_spec,
)

SMALL = """\
name: small
profile: qingdao
bots: [ann, ben, cem]
schedule: full
deals: 4
"""


def problems(text: str) -> tuple[SpecProblem, ...]:
    with pytest.raises(SpecError) as caught:
        parse_spec(text)
    assert all(re.search(r"[^.?!][.?]$", one.message) for one in caught.value.problems), "one stop ends a sentence"
    return caught.value.problems


def problem(text: str) -> SpecProblem:
    """The only problem of a file."""
    (one,) = problems(text)
    return one


def with_line(line: str) -> str:
    """The small file with one line more; it is line 6."""
    return SMALL + line + "\n"


def test_a_small_file_has_the_usual_values_for_the_rest() -> None:
    spec = parse_spec(SMALL)
    assert (spec.name, spec.profile, spec.deals) == ("small", "qingdao", 4)
    assert spec.options == PROFILES["qingdao"]
    assert spec.schedule == ScheduleRules(ScheduleKind.FULL)
    assert spec.duplicate is Duplicate.ROTATION
    assert (spec.clock, spec.faults) == (ClockRules(), FaultRules())
    assert (spec.seed, spec.in_flight, spec.no_show_limit) == (None, None, 5)


def test_every_key_is_read() -> None:
    spec = parse_spec("""\
name: autumn-cup
profile: qingdao
options: {wind: auto, stakes: [1, 2], reveal: no}
bots: [ann, ben, cem, dan, eva, "house:greedy", house:greedy#2]
schedule: {kind: balanced, matches: 60}
duplicate: none
deals: 10
clock: {limit: 1500ms, bank: 2m, increment: 0.5, grace: 50ms, ready: 1h, limits: {opening: 4s, call: 9s, play: 1}}
faults: {illegal: default, illegal_limit: 7, takeover_after: 0, score: penalty, penalty: 3, forfeit: 12, others: played}
seed: 12
in_flight: 40
no_show_limit: 2
""")
    assert spec.options == make_options("qingdao", {"wind": "auto", "stakes": [1, 2], "reveal": False})
    assert dict(spec.overrides) == {"wind": Wind.AUTO, "stakes": (1, 2), "reveal": False}
    assert spec.bots == spec.entrants == ("ann", "ben", "cem", "dan", "eva", "house:greedy", "house:greedy#2")
    assert spec.schedule == ScheduleRules(ScheduleKind.BALANCED, matches=60)
    assert spec.duplicate is Duplicate.NONE
    assert spec.clock == ClockRules(
        timedelta(milliseconds=1500),
        timedelta(minutes=2),
        timedelta(milliseconds=500),
        timedelta(milliseconds=50),
        timedelta(hours=1),
        (
            (Phase.WINDOW, timedelta(seconds=4)),
            (Phase.THRONE, timedelta(seconds=4)),
            (Phase.CALL, timedelta(seconds=9)),  # named by itself, it goes before its group
            (Phase.DECLARE, timedelta(seconds=4)),
            (Phase.KICK, timedelta(seconds=4)),
            (Phase.STAKE, timedelta(seconds=4)),
            (Phase.PLAY, timedelta(seconds=1)),
        ),
    )
    assert spec.faults == FaultRules(IllegalPolicy.DEFAULT, 7, 0, FaultScore.PENALTY, 3, 12, OthersScore.PLAYED)
    assert (spec.seed, spec.in_flight, spec.no_show_limit) == ("12", 40, 2)


@pytest.mark.parametrize(
    ("line", "rules"),
    [
        ("stop: off", None),
        ("stop: {}", StopRules(1, 95)),
        ("stop: {first: 2}", StopRules(2, 95)),
        ("stop: {level: 80}", StopRules(1, 80)),
    ],
)
def test_a_tournament_may_end_early(line: str, rules: StopRules | None) -> None:
    spec = parse_spec(with_line(line))
    assert spec.stop == rules
    assert parse_spec(format_spec(spec)).stop == rules


@pytest.mark.parametrize("off", ["clock: off", "clock: {limit: off}", "clock: {limit: none}", "clock: {limit: ~}"])
def test_clocks_can_be_off(off: str) -> None:
    assert parse_spec(with_line(off)).clock.limit is None


def test_names_need_no_quotes_even_where_yaml_sees_something_else() -> None:
    text = SMALL.replace("[ann, ben, cem]", "[007, yes, 1.5, 2024-01-01, null_]")
    assert parse_spec(text).bots == ("007", "yes", "1.5", "2024-01-01", "null_")


@pytest.mark.parametrize(
    ("bots", "added"),
    [
        ("[a]", ("house:greedy", "house:random", "house:greedy#2", "house:random#2")),
        ("[a, house:greedy]", ("house:random", "house:greedy#2", "house:random#2")),
        ("[a, b, house:random#2, house:random]", ("house:greedy",)),
        ("[a, b, c, d, e]", ()),
        ("[a, b, c, d, e, f]", ()),
    ],
)
def test_house_bots_fill_up_to_five_under_free_names(bots: str, added: tuple[str, ...]) -> None:
    spec = parse_spec(SMALL.replace("[ann, ben, cem]", bots))
    assert spec.entrants == spec.bots + added
    assert len(set(spec.entrants)) == len(spec.entrants) >= 5


def test_a_second_copy_is_played_by_the_same_house_bot() -> None:
    assert house_bot_id("house:greedy#2") == house_bot_id("house:greedy") == "house:greedy"
    assert house_bot_id("greedy") is None


@pytest.mark.parametrize(
    ("line", "path", "said"),
    [
        ("duplicates: none", "duplicates", "did you mean duplicate?"),
        ("zzz: 1", "zzz", "there are name, profile"),
        ("name: again", "name", "twice, the first time in line 1"),
        (
            "duplicate: rotations",
            "duplicate",
            "one of rotation, field, par, none, not 'rotations'; did you mean rotation?",
        ),
        ("in_flight: 0", "in_flight", "a whole number from 1 to 100000, not '0'"),
        ("in_flight: 1e3", "in_flight", "not '1e3'"),
        ("in_flight: 99999999999999999999999", "in_flight", "a whole number"),
        ("stop: 95", "stop", "must have keys of its own (first, level)"),
        ("stop: {first: 7}", "stop.first", "a whole number from 1 to 4, not '7'"),
        ("stop: {level: 100}", "stop.level", "a whole number from 50 to 99, not '100'"),
        ("no_show_limit:", "no_show_limit", "not nothing"),
        ("no_show_limit: [1]", "no_show_limit", "not a list"),
        ("seed: {a: 1}", "seed", "not keys and values"),
        (f"seed: {'x' * 201}", "seed", "1 to 200 characters, not 201"),
        ("clock: 3s", "clock", "keys of its own (limit, limits, bank, increment, grace, ready), not '3s'"),
        ("clock: {limt: 1s}", "clock.limt", "did you mean limit?"),
        ("clock: {limit: 0s}", "clock.limit", "from 1ms to 1h, not '0s'"),
        ("clock: {limit: 2 days}", "clock.limit", "a duration such as 2s, 500ms"),
        ("clock: {limit: 0.0001}", "clock.limit", "whole milliseconds"),
        ("clock: {grace: -1}", "clock.grace", "not '-1'"),
        ("faults: {illegal: ignore}", "faults.illegal", "one of retry, default, not 'ignore'"),
        ("faults: {illegal_limit: 0}", "faults.illegal_limit", "from 1 to 100"),
        ("faults: {score: fair}", "faults.score", "one of played, penalty, forfeit, not 'fair'"),
        ("faults: {others: none}", "faults.others", "one of block, deal, played, not 'none'"),
        ("faults: {penalty: 0}", "faults.penalty", "from 1 to 1000"),
        ("faults: {forfeit: -6}", "faults.forfeit", "from 1 to 1000"),
        ("clock: {limits: 5s}", "clock.limits", "must have keys of its own (pay, take, window"),
        ("clock: {limits: {exchange: 5s}}", "clock.limits.exchange", "There is no such key; there are pay, take"),
        ("clock: {limits: {play: 0}}", "clock.limits.play", "must be from 1ms to 1h"),
        ("clock: {limit: off, limits: {play: 1s}}", "clock.limits", "there are no limits at all"),
        ("options: {winnd: auto}", "options.winnd", "did you mean wind?"),
        ("options: {wind: atuo}", "options.wind", "one of auto, claim, not 'atuo'"),
        ("options: {kick: maybe}", "options.kick", "true or false"),
        ("options: {stakes: {a: 1}}", "options.stakes", "not keys and values"),
        ("options: {kick: true, reveal: false}", "options.kick", "both are switched off"),
        ("options: [wind]", "options", "not a list"),
        ("? [a, b]\n: 1", "", "A key must be a word"),
    ],
)
def test_a_wrong_line_is_named_with_its_key(line: str, path: str, said: str) -> None:
    found = problem(with_line(line))
    assert (found.path, found.line) == (path, 6)
    assert said in found.message


@pytest.mark.parametrize(
    ("old", "new", "path", "said"),
    [
        ("name: small", "name: -small", "name", "the first a letter or digit; not '-small'"),
        ("name: small", "name: " + "x" * 41, "name", "1 to 40 letters"),
        ("profile: qingdao", "profile: quingdao", "profile", "did you mean qingdao?"),
        ("[ann, ben, cem]", "[]", "bots", "1 to 500 names, not a list of 0"),
        ("[ann, ben, cem]", "ann", "bots", "not 'ann'"),
        ("[ann, ben, cem]", "[" + ", ".join(f"b{n}" for n in range(501)) + "]", "bots", "not a list of 501"),
        ("[ann, ben, cem]", "[ann, ben, ann]", "bots[2]", "'ann' is there twice, the first time in line 3"),
        ("[ann, ben, cem]", "[ann, 'b b']", "bots[1]", "not 'b b'"),
        ("[ann, ben, cem]", "[ann, '']", "bots[1]", "not ''"),
        ("[ann, ben, cem]", "[ann, ~]", "bots[1]", "must be a name, not nothing"),
        ("[ann, ben, cem]", "[ann, [ben]]", "bots[1]", "must be a name, not a list"),
        ("[ann, ben, cem]", "[house:gredy]", "bots[0]", "there are house:greedy, house:random"),
        ("[ann, ben, cem]", "[house:greedy#1]", "bots[0]", "#2 to #999"),
        ("[ann, ben, cem]", "[house:greedy, house:greedy]", "bots[1]", "call the next one house:greedy#2"),
        ("schedule: full", "schedule: ful", "schedule", "did you mean full?"),
        ("schedule: full", "schedule: balanced", "schedule", "{kind: balanced, matches: 500}"),
        ("schedule: full", "schedule: {repeats: 2}", "schedule.kind", "The key is missing"),
        ("schedule: full", "schedule: {kind: full, matches: 5}", "schedule.matches", "is for kind balanced"),
        (
            "schedule: full",
            "schedule: {kind: balanced, matches: 5, repeats: 2}",
            "schedule.repeats",
            "is for kind full",
        ),
        ("schedule: full", "schedule: {kind: balanced}", "schedule", "exactly one of"),
        ("schedule: full", "schedule: {kind: balanced, matches: 5, meetings: 5}", "schedule", "exactly one of"),
        ("schedule: full", "schedule: {kind: balanced, matches: 61}", "schedule", "60 or 65, not 61"),
        ("schedule: full", "schedule: {kind: balanced, matches: 3}", "schedule", "so 5, not 3"),
        ("schedule: full", "schedule: {kind: full, repeats: 10000000000}", "schedule.repeats", "a whole number"),
        ("schedule: full", "schedule: rounds", "schedule", "rounds needs a number: `{kind: rounds, rounds: 20}`"),
        ("schedule: full", "schedule: gauntlet", "schedule", "gauntlet needs names and a number"),
        ("schedule: full", "schedule: {kind: rounds}", "schedule", "rounds takes the key rounds, not none"),
        ("schedule: full", "schedule: {kind: rounds, rounds: 7}", "schedule", "5 or 10, not 7"),
        ("schedule: full", "schedule: {kind: full, rounds: 5}", "schedule.rounds", "is for kind rounds; full plays"),
        (
            "schedule: full",
            "schedule: {kind: rounds, rounds: 5, meetings: 5}",
            "schedule.meetings",
            "is for kind balanced; rounds takes rounds",
        ),
        ("schedule: full", "schedule: {kind: gauntlet, matches: 5}", "schedule.challengers", "The key is missing"),
        (
            "schedule: full",
            "schedule: {kind: gauntlet, matches: 5, challengers: ann}",
            "schedule.challengers",
            "a list of 1 to 20 names, not 'ann'",
        ),
        (
            "schedule: full",
            "schedule: {kind: gauntlet, matches: 5, challengers: [ann, ann]}",
            "schedule.challengers[1]",
            "'ann' is there twice",
        ),
        (
            "schedule: full",
            "schedule: {kind: gauntlet, matches: 5, challengers: [ana]}",
            "schedule",
            "the challenger 'ana' is not among the bots; did you mean ann?",
        ),
        (
            "schedule: full",
            "schedule: {kind: gauntlet, matches: 5, challengers: [ann, ben]}",
            "schedule",
            "there must be 4 bots at least, not 3",
        ),
        ("deals: 4", "deals: 0", "deals", "from 1 to 1000, not '0'"),
        ("deals: 4", "deals: four", "deals", "not 'four'"),
    ],
)
def test_a_wrong_value_is_named_with_what_is_allowed(old: str, new: str, path: str, said: str) -> None:
    found = problem(SMALL.replace(old, new))
    assert found.path == path
    assert found.line == 1 + SMALL[: SMALL.index(old)].count("\n")
    assert said in found.message


@pytest.mark.parametrize("key", ["name", "profile", "bots", "schedule", "deals"])
def test_what_must_be_there_is_missed(key: str) -> None:
    found = problem(re.sub(rf"^{key}:.*\n", "", SMALL, flags=re.MULTILINE))
    assert found.path == key
    assert "missing" in found.message


def test_a_schedule_too_large_to_be_meant_is_refused_with_its_size() -> None:
    text = SMALL.replace("[ann, ben, cem]", "[" + ", ".join(f"b{n}" for n in range(100)) + "]")
    found = problem(text)
    assert found.path == "schedule"
    assert "75,287,520 sets of five" in found.message
    assert "balanced" in found.message


def test_a_field_needs_rounds_and_ten_bots() -> None:
    found = problems(SMALL + "duplicate: field\n")
    assert [one.path for one in found] == ["duplicate", "duplicate"]
    assert "`schedule: {kind: rounds, rounds: 20}`" in found[0].message
    assert "10 bots at least, so that a deal is played at two tables, not 5" in found[1].message
    ten = SMALL.replace("[ann, ben, cem]", "[a, b, c, d, e, f, g, h, i, j]")
    text = ten.replace("schedule: full", "schedule: {kind: rounds, rounds: 7}") + "duplicate: field\n"
    assert parse_spec(text).duplicate is Duplicate.FIELD


def test_who_sits_at_control_tables_is_no_entrant_and_nobody_can_be_called_so() -> None:
    spec = parse_spec(SMALL + "duplicate: par\n")
    assert spec.players == (*spec.entrants, *PAR_NAMES)
    assert {house_bot_id(name) for name in PAR_NAMES} == {"house:greedy"}
    assert parse_spec(SMALL).players == spec.entrants
    assert "is no house bot" in problem(SMALL.replace("[ann, ben, cem]", "['house:par']")).message


def test_all_problems_are_told_at_once_in_the_order_of_their_lines() -> None:
    found = problems("""\
nmae: x
profile: none
options: {wind: atuo}
bots: [a, a]
schedule: {kind: balanced}
deals: 0
deals: 2
clock: {limit: x, bank: y}
""")
    assert [(one.line, one.path) for one in found] == [
        (1, "nmae"),
        (1, "name"),
        (2, "profile"),
        (3, "options.wind"),
        (4, "bots[1]"),
        (5, "schedule"),
        (6, "deals"),
        (7, "deals"),
        (8, "clock.limit"),
        (8, "clock.bank"),
    ]


def test_an_error_reads_as_one_line_for_each_problem_and_travels_between_processes() -> None:
    with pytest.raises(SpecError) as caught:
        parse_spec(SMALL.replace("deals: 4", "deals: 0") + "in_flight: x\n")
    error = caught.value
    assert str(error).splitlines() == [str(one) for one in error.problems]
    assert str(error).startswith("line 5: deals: must be")
    assert pickle.loads(pickle.dumps(error)).problems == error.problems


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("", 1, "empty"),
        ("# nothing\n", 1, "empty"),
        ("- a\n- b\n", 1, "`key: value`"),
        ("name: x\nbots: [a, b\n", 3, "no YAML"),
        ("name: x\n\tbots: 1\n", 2, "Indent with spaces"),
        ("name: x: y\n", 1, "column 8"),
        ("name: x\n---\nname: y\n", 2, "second document"),
        ("name: &a x\nbots: *a\n", 1, "`&a`: anchors and aliases are not used"),
        ("name: x\nprofile: *b\n", 2, "`*b`: anchors"),
        ("name: !!python/object/apply:os.getcwd []\n", 1, "tags are not used"),
        ("name: !!str 5\n", 1, "tags are not used"),
        ("name: x\nbots: a\0b\n", 2, "U+0000"),
        ('name: x\nseed: "a\\uD800"\n', 2, "U+D800"),
        ('name: x\n"\\e[31m": y\n', 2, "U+001B"),
        ('name: x\nbots: ["\\u202eb"]\n', 2, "U+202E"),
        ("name: x\nbots: " + "[" * 90_000, 2, "nested more than"),
        ("name: x\nbots: " + "{a: " * 20_000, 2, "nested more than"),
        ("#" * 100_001, 1, "100001 characters"),
        ('name: x\nseed: "\\UFFFFFFFF"\n', 2, "too large"),
        ("%YAML " + "9" * 5000 + ".1\n---\nname: x\n", 1, "too large"),
    ],
)
def test_what_is_no_plain_yaml_is_refused_with_its_line(text: str, line: int, said: str) -> None:
    found = problem(text)
    assert (found.path, found.line) == ("", line)
    assert said in found.message


def test_aliases_cannot_multiply() -> None:
    bomb = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 60))
    assert "anchors" in problem(bomb).message


def test_of_very_many_mistakes_only_the_first_are_told() -> None:
    with pytest.raises(SpecError) as caught:
        parse_spec("".join(f"naem{number}: 1\n" for number in range(8_000)))
    assert [problem.line for problem in caught.value.problems] == list(range(1, 101))
