"""Rounds and gauntlets: who plays, who rests, who meets whom."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from random import Random

import numpy as np
import pytest

from services.tournament.schedule import ScheduledMatch, make_schedule, rotas
from services.tournament.schedule.gauntlet import GauntletSelection
from services.tournament.schedule.rotas import Rota, resolvable_rounds
from services.tournament.schedule.rounds import RoundsSelection
from services.tournament.spec import parse_spec

Lineup = tuple[int, ...]


def rounds_of(entrants: int, rounds: int, *, rotated: bool = False, key: int = 7) -> list[list[Lineup]]:
    """Each round as its tables."""
    selection = RoundsSelection(entrants, rounds, key, rotated)
    assert selection.sets == rounds * (entrants // 5)
    sets = [tuple(one) for one in selection.lineups(0, selection.sets).tolist()]
    tables = selection.tables
    return [sets[at : at + tables] for at in range(0, len(sets), tables)]


def meetings(sets: list[Lineup], entrants: int) -> list[int]:
    met: Counter[tuple[int, int]] = Counter()
    for one in sets:
        met.update(combinations(sorted(one), 2))
    return [met[pair] for pair in combinations(range(entrants), 2)]


@pytest.mark.parametrize(("entrants", "rounds"), [(5, 4), (7, 9), (10, 12), (14, 11), (25, 13), (64, 6), (500, 2)])
def test_everybody_plays_once_a_round_and_rests_are_shared_out_evenly(entrants: int, rounds: int) -> None:
    plays: Counter[int] = Counter()
    for tables in rounds_of(entrants, rounds):
        playing = [one for table in tables for one in table]
        assert len(set(playing)) == len(playing) == entrants // 5 * 5
        plays.update(playing)
    counts = [plays[entrant] for entrant in range(entrants)]
    assert max(counts) - min(counts) <= (1 if entrants % 5 else 0)


@pytest.mark.parametrize(("players", "rounds"), [(5, 1), (25, 6), (125, 31)])
def test_in_a_resolvable_design_every_two_meet_exactly_once(players: int, rounds: int) -> None:
    found = resolvable_rounds(players)
    assert len(found) == rounds
    assert all(sorted(one.ravel().tolist()) == list(range(players)) for one in found)
    assert set(meetings([tuple(table) for one in found for table in one.tolist()], players)) == {1}


@pytest.mark.parametrize("players", [35, 55, 65, 85, 95, 115])
def test_where_there_is_no_design_nobody_meets_twice_as_long_as_that_can_be(players: int) -> None:
    sets = [table for one in rounds_of(players, players // 5) for table in one]
    assert max(meetings(sets, players)) == 1


@pytest.mark.parametrize("players", [6, 10, 15, 30, 24])
def test_other_numbers_have_no_such_rounds(players: int) -> None:
    assert resolvable_rounds(players) == []


def test_a_design_that_is_through_begins_again() -> None:
    sets = [table for one in rounds_of(25, 12) for table in one]
    assert set(meetings(sets, 25)) == {2}


@pytest.mark.parametrize(
    ("entrants", "rounds", "off"), [(10, 60, 2), (20, 40, 2), (23, 50, 1), (100, 25, 1), (64, 30, 1)]
)
def test_meetings_are_as_even_as_a_search_gets_them(entrants: int, rounds: int, off: int) -> None:
    met = np.array(meetings([table for one in rounds_of(entrants, rounds) for table in one], entrants))
    mean = met.mean()
    assert np.floor(mean) - off <= met.min() <= met.max() <= np.ceil(mean) + off
    # A draw by lot in each round would be off by the root of the mean.
    assert met.var() < 0.6 * mean


@pytest.mark.parametrize("rotated", [True, False])
def test_seats_and_neighbours_are_even(rotated: bool) -> None:
    sets = np.array([table for one in rounds_of(30, 60, rotated=rotated) for table in one])
    seats = np.stack([np.bincount(sets[:, seat], minlength=30) for seat in range(5)], axis=1)
    if not rotated:
        assert seats.max() - seats.min() <= 2
    before: Counter[tuple[int, int]] = Counter()
    for seat in range(5):
        before.update(zip(sets[:, seat].tolist(), sets[:, (seat + 1) % 5].tolist(), strict=True))
    assert max(before.values()) <= 60 * 30 / (30 * 29) + 4


@pytest.mark.parametrize("entrants", [11, 13])
def test_a_long_schedule_goes_on_under_other_numbers_and_stays_even(
    entrants: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rotas, "WORK", 7 * entrants)
    rounds = rounds_of(entrants, 101)  # fourteen times seven, and three more
    assert all(len({one for table in tables for one in table}) == entrants // 5 * 5 for tables in rounds)
    assert len({tuple(tables) for tables in rounds}) > 90
    plays = Counter(one for tables in rounds for table in tables for one in table)
    assert max(plays.values()) - min(plays.values()) <= 1
    met = np.array(meetings([table for tables in rounds for table in tables], entrants))
    assert abs(met - met.mean()).max() < 0.35 * met.mean()


def test_any_stretch_is_the_same_however_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rotas, "WORK", 60)
    whole = RoundsSelection(12, 40, 3, False).lineups(0, 80)
    other = RoundsSelection(12, 40, 3, False)
    stretches = [(70, 80), (0, 7), (33, 34), (11, 59), (5, 5)]
    for start, stop in stretches:
        assert (other.lineups(start, stop) == whole[start:stop]).all()


# ---- gauntlets


def gauntlet(entrants: int, challengers: list[int], sets: int) -> list[Lineup]:
    selection = GauntletSelection(entrants, challengers, sets, 5, False)
    return [tuple(one) for one in selection.lineups(0, sets).tolist()]


@pytest.mark.parametrize(
    ("entrants", "challengers", "sets"),
    [(5, [2], 6), (9, [0], 40), (21, [20], 50), (30, [3, 7, 11], 90), (12, [1, 2], 31)],
)
def test_each_match_has_one_challenger_and_four_of_the_field(entrants: int, challengers: list[int], sets: int) -> None:
    lineups = gauntlet(entrants, challengers, sets)
    assert all(len(set(one)) == 5 and len(set(one) & set(challengers)) == 1 for one in lineups)
    plays = Counter(one for lineup in lineups for one in lineup)
    field = [plays[one] for one in range(entrants) if one not in challengers]
    assert max(field) - min(field) <= 1
    tables = (entrants - len(challengers)) // 4
    tried = [plays[one] for one in challengers]
    assert max(tried) - min(tried) <= tables
    with_field: Counter[tuple[int, int]] = Counter()
    for lineup in lineups:
        (challenger,) = set(lineup) & set(challengers)
        with_field.update((challenger, one) for one in lineup if one != challenger)
    for challenger in challengers:
        counts = [with_field[challenger, one] for one in range(entrants) if one not in challengers]
        assert max(counts) - min(counts) <= 1 + (len(challengers) > 1)


def test_the_field_meets_evenly_too_and_the_challenger_sits_everywhere() -> None:
    lineups = gauntlet(21, [4], 95)
    met = np.array(meetings([tuple(one for one in lineup if one != 4) for lineup in lineups], 21))
    assert met.max() <= 5
    seats = Counter(lineup.index(4) for lineup in lineups)
    assert max(seats.values()) - min(seats.values()) <= 1


def test_a_long_gauntlet_stays_even(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rotas, "WORK", 55)
    plays = Counter(one for lineup in gauntlet(13, [5, 12], 204) for one in lineup)
    field = [plays[one] for one in range(13) if one not in (5, 12)]
    assert max(field) - min(field) <= 1
    assert abs(plays[5] - plays[12]) <= 2


def test_a_rota_shares_out_rests_within_a_kind() -> None:
    rota = Rota(7, 4, Random(1), kinds=2)
    rests = np.zeros((2, 7), int)
    for turn in range(28):
        resting = set(range(7)) - set(rota.next_round(turn % 2).ravel().tolist())
        rests[turn % 2, list(resting)] += 1
    assert rests.sum(axis=0).tolist() == [12] * 7
    assert rests.max() - rests.min() <= 2


# ---- whole schedules

SPEC = "name: x\nprofile: qingdao\nbots: [a, b, c, d, e, f, g, h, i, j, k, l]\ndeals: 2\nseed: 4\n"


def matches_of(schedule: str, duplicate: str) -> list[ScheduledMatch]:
    made = make_schedule(parse_spec(SPEC + f"schedule: {schedule}\nduplicate: {duplicate}\n"))
    matches = list(made)
    assert len(matches) == len(made)
    assert [made.match(match.number) for match in matches] == matches
    assert [made.place(match.number) for match in matches] == [(one.group, one.rotation) for one in matches]
    groups: dict[int, list[int]] = {}
    for match in matches:
        groups.setdefault(match.group, []).append(match.number)
    assert [made.numbers(group) for group in range(made.groups)] == [tuple(groups[one]) for one in range(made.groups)]
    assert {len(numbers) for numbers in groups.values()} == {made.sharing}
    return matches


@pytest.mark.parametrize(
    ("schedule", "duplicate", "matches"),
    [
        ("{kind: rounds, rounds: 20}", "none", 40),
        ("{kind: rounds, rounds: 20}", "rotation", 40),
        ("{kind: rounds, rounds: 300}", "rotation", 600),
        ("{kind: rounds, rounds: 600}", "rotation", 1200),
        ("{kind: rounds, rounds: 20}", "field", 40),
        ("{kind: rounds, rounds: 20}", "par", 80),
        ("{kind: gauntlet, challengers: [l], matches: 55}", "none", 55),
        ("{kind: gauntlet, challengers: [l], matches: 55}", "rotation", 55),
        ("{kind: gauntlet, challengers: [l, a], meetings: 6}", "none", 30),
        ("{kind: balanced, matches: 33}", "par", 66),
        ("full", "par", 2 * 792),
    ],
)
def test_number_group_and_line_up_agree_for_every_kind(schedule: str, duplicate: str, matches: int) -> None:
    assert len(matches_of(schedule, duplicate)) == matches


def test_in_a_field_a_round_plays_the_same_deals_and_nobody_sees_any_twice() -> None:
    seen: set[tuple[int, int]] = set()
    for match in matches_of("{kind: rounds, rounds: 30}", "field"):
        assert match.group == match.number // 2
        for entrant in match.entrants:
            assert (entrant, match.group) not in seen
            seen.add((entrant, match.group))
    assert len(seen) == 300


def test_by_par_every_deal_is_played_once_by_entrants_and_once_by_others() -> None:
    matches = matches_of("{kind: balanced, matches: 30}", "par")
    for bots, control in zip(matches[::2], matches[1::2], strict=True):
        assert bots.group == control.group
        assert max(bots.entrants) < 12
        assert control.entrants == (12, 13, 14, 15, 16)


def test_with_rotation_no_window_cuts_a_round() -> None:
    matches = matches_of("{kind: rounds, rounds: 1500}", "rotation")
    for at in range(0, len(matches), 2):
        assert len({one for match in matches[at : at + 2] for one in match.entrants}) == 10
