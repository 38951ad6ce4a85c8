"""The whole table as a fold: in any order, in any pieces, it says the same to the last bit."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from bots_sdk.rules.events import SoloKind
from services.common.matches import DealScore, FaultRules, FaultScore, OthersScore, SeatFaults
from services.tournament.schedule import Schedule
from services.tournament.schedule.balanced import BalancedSelection
from services.tournament.standings import Datum, DatumKind, Order, PlayedMatch, StandingsFold
from services.tournament.standings.skill_marks import APART, SkillMarks
from services.tournament.standings.skills import Game, Skills

NAMES = tuple(f"bot{number}" for number in range(10))
SCHEDULE = tuple(Schedule(BalancedSelection(10, 16, 3, rotated=True), rotated=True, deals=2))
RULES = FaultRules(score=FaultScore.PENALTY, penalty=3)


def make_deal(draw: random.Random, number: int) -> DealScore:
    emperor, guard = draw.sample(range(5), 2)
    solo = SoloKind.GRAB if draw.random() < 0.2 else None
    unit = draw.randint(-4, 4)
    points = [-unit] * 5
    points[emperor] = 4 * unit if solo else 2 * unit
    points[guard] = -unit if solo else unit
    spoiled = (draw.randrange(5),) if draw.random() < 0.03 else ()
    faults = tuple(int(seat in spoiled) for seat in range(5))
    beans = tuple(point * 2**40 for point in points)
    return DealScore(
        number, tuple(points), (), emperor, None if solo else guard, solo, beans=beans, spoiled=spoiled, faults=faults
    )


def rotated(seed: int) -> list[PlayedMatch]:
    draw = random.Random(seed)
    return [
        PlayedMatch(
            match.number, match.group, match.entrants, (make_deal(draw, 0), make_deal(draw, 1)), (SeatFaults(),) * 5
        )
        for match in SCHEDULE
    ]


def rounds(seed: int, control: bool) -> list[PlayedMatch]:
    """Two tables a round with the same deals, or one beside a control table."""
    draw = random.Random(seed)
    matches: list[PlayedMatch] = []
    for group in range(20):
        seats = draw.sample(range(10), 10)
        second = (10, 11, 12, 13, 14) if control else seats[5:]
        for table in (seats[:5], second):
            a, b, c, d, e = table
            deals = (make_deal(draw, 0), make_deal(draw, 1))
            matches.append(PlayedMatch(len(matches), group, (a, b, c, d, e), deals, (SeatFaults(),) * 5))
    return matches


def fold(others: OthersScore, datum: Datum | None) -> StandingsFold:
    rules = FaultRules(score=RULES.score, penalty=RULES.penalty, others=others)
    return StandingsFold(NAMES, beans=True, titles=True, faults=rules, bean_unit=2, datum=datum)


CASES = {
    "rotation": (rotated(1), OthersScore.BLOCK, None),
    "single matches left out": (rotated(2), OthersScore.DEAL, None),
    "as played": (rotated(3), OthersScore.PLAYED, None),
    "field": (rounds(4, control=False), OthersScore.BLOCK, Datum(DatumKind.FIELD, 1)),
    "par": (rounds(5, control=True), OthersScore.BLOCK, Datum(DatumKind.CONTROL, 1)),
}


@pytest.mark.parametrize("case", CASES)
def test_any_order_and_any_pieces_give_the_same_table_to_the_last_bit(case: str) -> None:
    matches, others, datum = CASES[case]
    whole = fold(others, datum)
    for match in matches:
        whole.add(match)
    expected = [whole.standings(order) for order in Order]
    assert all(line.rating is not None and line.openskill is not None and line.roles for line in expected[0])
    for seed in range(3):
        shuffled = random.Random(seed).sample(matches, len(matches))
        pieces = fold(others, datum)
        for place, match in enumerate(shuffled):
            pieces.add(match)
            if place % 17 == seed:
                pieces.standings(moving=seed == 1)
        assert [pieces.standings(order) for order in Order] == expected


@pytest.mark.parametrize(("for_every", "waits"), [(len(SCHEDULE), False), (len(SCHEDULE) - 1, True)])
def test_ratings_wait_for_enough_new_results_while_those_are_near(
    monkeypatch: pytest.MonkeyPatch, for_every: int, waits: bool
) -> None:
    monkeypatch.setattr("services.tournament.standings.fold.FRESH", for_every)
    *most, last = rotated(6)
    one = fold(OthersScore.PLAYED, None)
    for match in most:
        one.add(match)
    before = {line.name: line.rating for line in one.standings(moving=True)}
    one.add(last)
    after = {line.name: line.rating for line in one.standings(moving=True)}
    assert (after == before) is waits
    at_rest = fold(OthersScore.PLAYED, None)
    for match in (*most, last):
        at_rest.add(match)
    assert one.standings() == at_rest.standings()


def test_the_fold_knows_what_is_in_it() -> None:
    one = fold(OthersScore.BLOCK, None)
    for number in (0, 1, 3):
        one.add(rotated(1)[number])
    assert len(one) == 3
    assert [number in one for number in range(5)] == [True, True, False, True, False]


def test_openskill_has_every_match_once_in_the_order_of_the_schedule() -> None:
    """Given matches in any order, when looked at in between, then games come as if there had been no other order."""
    matches = rotated(7)[:30]
    forward, skills = fold(OthersScore.BLOCK, None), Skills(len(NAMES))
    for match in matches:
        forward.add(match)
        points = tuple(sum(of_seat) for of_seat in zip(*(deal.points for deal in match.deals), strict=True))
        skills.add((match.entrants, points))
    backward = fold(OthersScore.BLOCK, None)
    for match in reversed(matches):
        backward.add(match)
        if match.number % 7 == 0:
            backward.standings()
    expected = dict(zip(NAMES, skills.ordinals(), strict=True))
    for one in (forward, backward):
        assert {line.name: line.openskill for line in one.standings()} == expected


def test_openskill_rates_control_tables_and_matches_without_a_deal_not_at_all() -> None:
    one = fold(OthersScore.BLOCK, Datum(DatumKind.CONTROL, 1))
    table, control = rounds(8, control=True)[:2]
    for match in (control, replace(table, number=2, deals=())):
        one.add(match)
    assert {line.openskill for line in one.standings()} == {None}
    one.add(table)
    assert {line.name for line in one.standings() if line.openskill is not None} == {NAMES[at] for at in table.entrants}


def test_openskill_ties_are_even_and_a_copy_goes_its_own_way() -> None:
    skills = Skills(6)
    skills.add(((0, 1, 2, 3, 4), (9, 3, -4, -4, -4)))
    sure = skills.ordinals()
    assert sure[5] is None
    assert sure[2] == sure[3] == sure[4]
    other = skills.copy()
    other.add(((1, 0, 2, 3, 5), (5, 1, 0, 0, -6)))
    assert other.ordinals() != sure
    assert skills.ordinals() == sure


def test_a_game_that_comes_late_has_few_games_rated_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given games that come late by any number of others, then so many are rated again, and some, and no others."""
    rated = 0

    def counted(skills: Skills, game: Game) -> None:
        nonlocal rated
        rated += 1
        add(skills, game)

    add = Skills.add
    monkeypatch.setattr(Skills, "add", counted)
    draw, late = random.Random(9), {300: 1, 420: 10, 580: 130, 700: 690}
    games: dict[int, Game] = {}
    order = [number for number in range(900) if number not in (late_ones := {end - by for end, by in late.items()})]
    marks = SkillMarks(5)

    def look(number: int) -> int:
        before = rated
        games[number] = ((0, 1, 2, 3, 4), tuple(draw.randint(-4, 4) for _ in range(5)))
        marks.note(number)
        marks.ordinals(lambda numbers: [(one, games[one]) for one in sorted(games) if one in numbers])
        return rated - before

    for number in order:
        assert look(number) == 1
        if number in late:
            assert late[number] < look(number - late[number]) <= 2 * late[number] + APART + 1
    assert late_ones <= games.keys()
    assert len(marks._marks) <= 2 + 2 * (len(games) // APART).bit_length()
    anew = Skills(5)
    for number in sorted(games):
        anew.add(games[number])
    assert marks.ordinals(lambda _: []) == anew.ordinals()


def test_openskill_does_not_drift() -> None:
    """When nothing is learned any more, then certainty does not go down: with drift it would settle above."""
    skills = Skills(5)
    for _ in range(60):
        skills.add(((0, 1, 2, 3, 4), (4, 3, 2, 1, 0)))
    before = [rating.sigma for rating in skills._ratings]
    for _ in range(60):
        skills.add(((0, 1, 2, 3, 4), (4, 3, 2, 1, 0)))
    assert all(rating.sigma < old for rating, old in zip(skills._ratings, before, strict=True))
