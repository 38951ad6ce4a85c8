"""Windows and rotations: which match has which number."""

from __future__ import annotations

import hashlib
from itertools import islice

import numpy as np
import pytest

from services.tournament.schedule import Schedule, ScheduledMatch, make_schedule, rotas
from services.tournament.schedule.full import FullSelection
from services.tournament.schedule.plan import WINDOW
from services.tournament.schedule.selection import Lineups
from services.tournament.spec import parse_spec


class Counted:
    """A selection that writes down which sets were asked for."""

    def __init__(self, sets: int) -> None:
        self.entrants = 5
        self.sets = sets
        self.asked: list[tuple[int, int]] = []

    def lineups(self, start: int, stop: int) -> Lineups:
        self.asked.append((start, stop))
        return np.tile(np.arange(5, dtype=np.int16), (stop - start, 1))


def test_one_set_is_played_in_five_rotations_with_the_line_up_moved_on() -> None:
    matches = list(Schedule(Counted(1), rotated=True, deals=2))
    assert matches == [
        ScheduledMatch(0, 0, 0, (0, 1, 2, 3, 4)),
        ScheduledMatch(1, 0, 1, (4, 0, 1, 2, 3)),
        ScheduledMatch(2, 0, 2, (3, 4, 0, 1, 2)),
        ScheduledMatch(3, 0, 3, (2, 3, 4, 0, 1)),
        ScheduledMatch(4, 0, 4, (1, 2, 3, 4, 0)),
    ]


def test_without_rotation_each_set_is_one_match() -> None:
    schedule = Schedule(Counted(7), rotated=False, deals=2)
    assert len(schedule) == 7
    assert [(match.number, match.group, match.rotation) for match in schedule] == [(n, n, 0) for n in range(7)]


@pytest.mark.parametrize("sets", [1, 5, WINDOW - 1, WINDOW, WINDOW + 1, 2 * WINDOW - 1, 2 * WINDOW, 5 * WINDOW + 17])
@pytest.mark.parametrize("rotated", [True, False])
def test_every_number_is_where_iteration_finds_it(sets: int, rotated: bool) -> None:
    schedule = Schedule(Counted(sets), rotated, deals=1)
    matches = list(schedule)
    assert [match.number for match in matches] == list(range(len(schedule)))
    assert [schedule.place(number) for number in range(len(schedule))] == [(m.group, m.rotation) for m in matches]
    assert {(m.group, m.rotation) for m in matches} == {
        (group, rotation) for group in range(sets) for rotation in range(schedule.rotations)
    }


@pytest.mark.parametrize("sets", [WINDOW, WINDOW + 1, 3 * WINDOW + 70])
def test_matches_with_the_same_deals_lie_a_window_apart(sets: int) -> None:
    last: dict[int, int] = {}
    for match in Schedule(Counted(sets), rotated=True, deals=1):
        assert match.number - last.get(match.group, -WINDOW) >= WINDOW
        last[match.group] = match.number


def test_few_sets_are_spread_as_far_as_there_are_sets() -> None:
    groups = [match.group for match in Schedule(Counted(7), rotated=True, deals=1)]
    assert groups == list(range(7)) * 5


def test_what_is_done_is_left_out_and_nothing_else_changes() -> None:
    schedule = Schedule(Counted(300), rotated=True, deals=1)
    done = set(range(0, 1500, 3)) | {7, 8}
    assert list(schedule.iterate(done)) == [match for match in schedule if match.number not in done]
    assert list(schedule.iterate(set(range(1500)))) == []


@pytest.mark.parametrize("number", [-1, 35])
def test_a_number_that_is_not_there_is_refused(number: int) -> None:
    schedule = Schedule(Counted(7), rotated=True, deals=1)
    with pytest.raises(IndexError, match=r"a schedule of 35 \(0 to 34\)"):
        schedule.match(number)


@pytest.mark.parametrize(("sets", "rotated"), [(7, True), (7, False), (WINDOW + 1, True), (3 * WINDOW + 70, True)])
def test_the_numbers_of_a_group_are_those_of_all_its_matches(sets: int, rotated: bool) -> None:
    schedule = Schedule(Counted(sets), rotated=rotated, deals=1)
    numbers: dict[int, list[int]] = {}
    for match in schedule:
        numbers.setdefault(match.group, []).append(match.number)
    assert {group: list(schedule.numbers(group)) for group in range(sets)} == numbers
    for group in (-1, sets):
        with pytest.raises(IndexError):
            schedule.numbers(group)


def test_matches_asked_for_one_by_one_are_those_of_the_iteration() -> None:
    schedule = Schedule(FullSelection(11, 2, 3, True), rotated=True, deals=1)
    assert [schedule.match(number) for number in range(len(schedule))] == list(schedule)


def test_iteration_makes_no_more_than_the_window_it_is_in() -> None:
    selection = Counted(100_000)
    taken = list(islice(Schedule(selection, rotated=True, deals=1), 10))
    assert len(taken) == 10
    assert selection.asked == [(0, WINDOW)]


def test_matches_one_by_one_do_not_make_their_sets_again_and_again() -> None:
    selection = Counted(1000)
    schedule = Schedule(selection, rotated=True, deals=1)
    for number in range(len(schedule)):
        schedule.match(number)
    assert len(selection.asked) <= 2 * 1000 // 128


SPEC = "name: x\nprofile: qingdao\nbots: [a, b, c, d, e, f, g]\nschedule: {}\ndeals: 3\nseed: {}\n"


@pytest.mark.parametrize("kind", ["full", "{kind: full, repeats: 3}", "{kind: balanced, matches: 210}"])
def test_a_schedule_follows_from_spec_and_seed(kind: str) -> None:
    def matches(seed: int) -> list[ScheduledMatch]:
        return list(make_schedule(parse_spec(SPEC.format(kind, seed))))

    assert matches(1) == matches(1)
    assert matches(1) != matches(2)


@pytest.mark.parametrize(
    ("kind", "rotated", "matches"),
    [
        ("full", True, 105),
        ("full", False, 21),
        ("{kind: full, repeats: 2}", True, 210),
        ("{kind: balanced, matches: 40}", True, 40),
        ("{kind: balanced, matches: 41}", False, 41),
        ("{kind: balanced, matches_per_bot: 10}", True, 15),  # 2 sets for each of 7 bots: 14 seats, 3 sets
        ("{kind: balanced, matches_per_bot: 10}", False, 14),
        ("{kind: balanced, meetings: 10}", True, 25),  # 2 sets for each of 21 pairs: 42 pairs, 5 sets of 10
        ("{kind: balanced, meetings: 10}", False, 21),
    ],
)
def test_a_schedule_is_as_long_as_the_spec_says(kind: str, rotated: bool, matches: int) -> None:
    text = SPEC.format(kind, 1) + f"duplicate: {'rotation' if rotated else 'none'}\n"
    schedule = make_schedule(parse_spec(text))
    assert len(schedule) == len(list(schedule)) == matches
    assert schedule.rotations == (5 if rotated else 1)
    assert schedule.deals == 3


def test_a_schedule_without_a_seed_is_refused() -> None:
    with pytest.raises(ValueError, match="has no seed"):
        make_schedule(parse_spec(SPEC.format("full", 1).replace("seed: 1\n", "")))


@pytest.mark.parametrize(
    ("kind", "fingerprint"),
    [
        ("{kind: full, repeats: 2}", "89bd4a125bbe0a31"),
        ("{kind: balanced, matches: 65}", "349f50e41e62b49e"),
        ("{kind: balanced, matches: 300}", "c4f022825851a74d"),
    ],
)
def test_a_recorded_tournament_finds_the_same_schedule_for_ever(kind: str, fingerprint: str) -> None:
    # A tournament is resumed from its spec and seed: if this changes, running tournaments of older versions break.
    assert fingerprint_of(SPEC.replace("f, g]", "f, g, h, i]").format(kind, "recorded")) == fingerprint


@pytest.mark.parametrize(
    ("kind", "duplicate", "fingerprint"),
    [
        ("{kind: rounds, rounds: 35}", "rotation", "2b89b8c22c861aff"),
        ("{kind: rounds, rounds: 35}", "field", "b6a0437ca3a1bdb9"),
        ("{kind: gauntlet, challengers: [a, b], matches: 65}", "rotation", "e8b3c92a010c70bf"),
        ("{kind: balanced, matches: 65}", "par", "70c1d7e606cd6453"),
    ],
)
def test_a_recorded_tournament_of_any_other_kind_does_so_too(kind: str, duplicate: str, fingerprint: str) -> None:
    text = SPEC.replace("f, g]", "f, g, h, i, j, k]").format(kind, "recorded")
    assert fingerprint_of(text + f"duplicate: {duplicate}\n") == fingerprint


def test_it_does_so_too_where_its_rounds_come_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rotas, "WORK", 110)
    text = SPEC.replace("f, g]", "f, g, h, i, j, k]").format("{kind: rounds, rounds: 37}", "recorded")
    assert fingerprint_of(text + "duplicate: none\n") == "31d5bd05de05d418"


def fingerprint_of(spec: str) -> str:
    schedule = make_schedule(parse_spec(spec))
    text = "\n".join(f"{match.number} {match.group} {match.rotation} {match.entrants}" for match in schedule)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
