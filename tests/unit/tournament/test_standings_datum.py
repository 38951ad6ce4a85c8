"""What a deal is worth against those who held the same hand."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from services.common.matches import DealScore, FaultRules, FaultScore, OthersScore
from services.tournament.standings import Datum, DatumKind, Order, PlayedMatch, Standing, StandingsTable
from tests.unit.tournament.played import NO_FAULTS, played

TEN = tuple("abcdefghij")
FIELD = Datum(DatumKind.FIELD, 1)


def lines(
    matches: list[PlayedMatch],
    names: tuple[str, ...] = TEN,
    datum: Datum | None = FIELD,
    faults: FaultRules | None = None,
    order: Order = Order.POINTS,
) -> dict[str, Standing]:
    table = StandingsTable(names, datum=datum, faults=faults, beans=order is Order.BEANS)
    for match in matches:
        table.add(match)
    return {line.name: line for line in table.standings(order)}


def spoil(match: PlayedMatch, seat: int, deal: int = 0) -> PlayedMatch:
    deals = list(match.deals)
    faults = tuple(int(one == seat) for one in range(5))
    deals[deal] = replace(deals[deal], spoiled=(seat,), faults=faults)
    return replace(match, deals=tuple(deals))


UPPER = played(0, 0, (0, 1, 2, 3, 4), [6, 2, -2, -3, -3])
LOWER = played(1, 0, (5, 6, 7, 8, 9), [3, 3, -1, -2, -3])


def test_the_score_is_what_was_made_against_the_others_with_the_same_hand() -> None:
    table = lines([UPPER, LOWER])
    means = {name: table[name].points_per_deal for name in TEN}
    assert means == {"a": 3, "f": -3, "b": -1, "g": 1, "c": -1, "h": 1, "d": -1, "i": 1, "e": 0, "j": 0}
    assert (table["a"].points, table["a"].counted, table["a"].blocks) == (6, 1, 1)
    assert table["a"].rank == 1
    assert table["f"].rank == 10


def test_of_three_tables_the_datum_is_the_mean_of_the_two_others() -> None:
    third = played(2, 0, (10, 11, 12, 13, 14), [0, 0, 0, 0, 0])
    names = tuple("abcdefghijklmno")
    table = lines([UPPER, LOWER, third], names, Datum(DatumKind.FIELD, 2))
    assert table["a"].points_per_deal == 6 - 1.5
    assert table["f"].points_per_deal == 3 - 3
    assert table["k"].points_per_deal == -4.5


def test_without_anybody_to_compare_with_a_deal_does_not_count_yet() -> None:
    table = lines([UPPER])
    assert (table["a"].deals, table["a"].counted, table["a"].points_per_deal) == (1, 0, 0)


def test_hands_of_later_deals_go_by_the_dealer() -> None:
    """The second deal is dealt from seat 1 at one table and from seat 4 at the other."""
    first, second = (0, 0, 0, 0, 0), (1, 2, 3, 4, -10)
    upper, lower = played(0, 0, (0, 1, 2, 3, 4), first, second), played(1, 0, (5, 6, 7, 8, 9), first, second)
    upper = replace(upper, deals=(replace(upper.deals[0], emperor=1), upper.deals[1]))
    lower = replace(lower, deals=(replace(lower.deals[0], emperor=4), lower.deals[1]))
    table = lines([upper, lower])
    # The dealer's hand: seat 1 there, seat 4 here; seat 0 there has the fifth hand, as seat 3 here.
    assert table["b"].points_per_deal == (2 - -10) / 2
    assert table["a"].points_per_deal == (1 - 4) / 2
    assert table["j"].points_per_deal == (-10 - 2) / 2


def test_after_a_void_another_deck_is_compared_with_nobody() -> None:
    voided = replace(LOWER, deals=(replace(LOWER.deals[0], voided=1),))
    assert lines([UPPER, voided])["a"].counted == 0


def test_a_spoiled_deal_is_in_no_datum_and_costs_only_its_own_table() -> None:
    names = tuple("abcdefghijklmno")
    spoiled = spoil(played(2, 0, (10, 11, 12, 13, 14), [50, -50, 0, 0, 0]), 1)
    table = lines([UPPER, LOWER, spoiled], names, Datum(DatumKind.FIELD, 2))
    assert table["a"].points_per_deal == 3, "as if the third table were not there"
    assert table["k"].counted == 0, "the others at the table are spared"
    assert table["k"].points_per_deal == 0
    assert (table["l"].counted, table["l"].points_per_deal) == (1, -50 - 2.5)


def test_others_who_are_to_have_their_points_as_played_have_them() -> None:
    table = lines([UPPER, spoil(LOWER, 4)], faults=FaultRules(others=OthersScore.PLAYED))
    assert table["f"].points_per_deal == -3
    assert table["a"].counted == 0, "nothing to compare with is left"


@pytest.mark.parametrize("bad", [-3, -30])
def test_to_forfeit_a_bad_hand_is_no_better_than_to_play_it(bad: int) -> None:
    """The others made -30 of that hand: six points lost would be a triumph, if they were compared."""
    upper = played(0, 0, (0, 1, 2, 3, 4), [10, 10, 10, 0, -30])
    lower = spoil(played(1, 0, (5, 6, 7, 8, 9), [10, 10, 10, -30 - bad, bad]), 4)
    table = lines([upper, lower], faults=FaultRules(score=FaultScore.FORFEIT, forfeit=6, penalty=2))
    assert table["j"].points_per_deal == -6


def test_a_penalty_is_taken_off_what_was_made() -> None:
    table = lines([UPPER, spoil(LOWER, 0)], faults=FaultRules(score=FaultScore.PENALTY, penalty=2))
    assert table["f"].points_per_deal == -3 - 2
    assert (table["f"].points, table["f"].points_paid) == (3 - 2, 2)
    again = lines([UPPER, spoil(LOWER, 0)], faults=FaultRules(score=FaultScore.PENALTY, penalty=2))
    assert again == table


def test_asking_twice_charges_once() -> None:
    table = StandingsTable(TEN, datum=FIELD, faults=FaultRules(score=FaultScore.PENALTY, penalty=2))
    for match in (UPPER, spoil(LOWER, 0)):
        table.add(match)
    assert table.standings() == table.standings()


def test_by_par_the_control_table_is_the_datum_and_no_entrant() -> None:
    five = TEN[:5]
    control = played(1, 0, (5, 6, 7, 8, 9), [3, 3, -1, -2, -3])
    table = lines([UPPER, control], five, Datum(DatumKind.CONTROL, 1))
    assert set(table) == set(five)
    assert [table[name].points_per_deal for name in five] == [3, -1, -1, -1, 0]
    assert sum(line.matches for line in table.values()) == 5


def test_beans_are_compared_too() -> None:
    upper = played(0, 0, (0, 1, 2, 3, 4), [6, 2, -2, -3, -3], beans=[[600, 200, -200, -300, -300]])
    lower = played(1, 0, (5, 6, 7, 8, 9), [3, 3, -1, -2, -3], beans=[[100, 500, -100, -200, -300]])
    table = lines([upper, lower], order=Order.BEANS)
    assert (table["a"].beans_per_deal, table["a"].beans) == (500, 600)
    assert table["a"].rank == 1


def test_who_is_at_no_table_of_the_tournament_is_refused() -> None:
    table = StandingsTable(TEN[:5], datum=FIELD)
    with pytest.raises(ValueError, match="names entrants"):
        table.add(LOWER)


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_results_changes_nothing_to_the_last_digit(seed: int) -> None:
    draw = Random(seed)
    names = tuple(f"n{one}" for one in range(20))
    matches = []
    for group in range(12):
        order = draw.sample(range(20), 20)
        for table in range(4):
            points = [draw.randint(-9, 9) for _ in range(5)]
            deal = DealScore(0, tuple(points), (0, 1, 2, 3, 4), 0, None, None)
            if draw.random() < 0.2:
                seat = draw.randrange(5)
                deal = replace(deal, spoiled=(seat,), faults=tuple(int(one == seat) for one in range(5)))
            one, two, three, four, five = order[5 * table : 5 * table + 5]
            matches.append(PlayedMatch(4 * group + table, group, (one, two, three, four, five), (deal,), NO_FAULTS))
    rules = FaultRules(score=FaultScore.FORFEIT)
    found = lines(matches, names, Datum(DatumKind.FIELD, 3), rules)
    draw.shuffle(matches)
    assert lines(matches, names, Datum(DatumKind.FIELD, 3), rules) == found


def test_over_a_whole_field_the_scores_add_up_to_nothing() -> None:
    draw = Random(3)
    matches: list[PlayedMatch] = []
    for group in range(30):
        order = draw.sample(range(10), 10)
        for at in (0, 5):
            points = [draw.randint(-9, 9) for _ in range(4)]
            matches.append(played(len(matches), group, order[at : at + 5], [*points, -sum(points)]))
    table = lines(matches)
    assert sum(line.points_per_deal for line in table.values()) == pytest.approx(0)
    assert all(line.low is not None for line in table.values())
