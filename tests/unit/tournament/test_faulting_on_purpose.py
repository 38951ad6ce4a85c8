"""Simulated tournaments with a bot that faults on purpose: what it gains by that, and what it takes from the others.

It has the best of it: spoiling a deal costs it nothing in play, and it may choose when it has seen its hand, or even
how the deal will end. All players are equally strong, so every honest mean should be 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from services.common.matches import FaultRules, FaultScore, OthersScore, SeatFaults
from services.tournament.schedule import Schedule
from services.tournament.schedule.balanced import BalancedSelection
from services.tournament.standings import PlayedMatch, compute_standings
from tests.unit.tournament.played import NO_FAULTS, played

ENTRANTS, SETS, DEALS = 10, 36, 2
NAMES = tuple(f"bot{entrant}" for entrant in range(ENTRANTS))
SCHEDULE = tuple(Schedule(BalancedSelection(ENTRANTS, SETS, 1, rotated=True), rotated=True, deals=DEALS))
CHEAT = 0

Choice = Callable[[float, float], bool]
"""Whether to spoil a deal, by what its hand is worth and by the points it will end with."""


def never(_hand: float, _points: float) -> bool:
    return False


def with_bad_hands(hand: float, _points: float) -> bool:
    return hand < -2.5


def with_hindsight(_hand: float, points: float) -> bool:
    return points < -4


def when_all_is_lost(_hand: float, points: float) -> bool:
    """More than a forfeit."""
    return points < -6


PENALTY = FaultRules(score=FaultScore.PENALTY)
FORFEIT = FaultRules(score=FaultScore.FORFEIT)


def simulate(seed: int, choose: Choice) -> list[PlayedMatch]:
    """One tournament; the same seed gives the same hands and the same play, whatever is spoiled."""
    draw = np.random.default_rng(seed)
    hands = 2.0 * draw.normal(size=(SETS, DEALS, 5))
    hands -= hands.mean(axis=2, keepdims=True)
    matches = []
    for match in SCHEDULE:
        chance = 2.0 * draw.normal(size=(DEALS, 5))
        points = hands[match.group] + chance - chance.mean(axis=1, keepdims=True)
        whole = np.rint(points * 4).astype(int)  # fine steps; the rules below are in quarters of a point too
        one = played(match.number, match.group, match.entrants, *whole.tolist())
        if CHEAT in match.entrants:
            one = spoiled(one, match.entrants.index(CHEAT), hands[match.group], points, choose)
        matches.append(one)
    return matches


def spoiled(match: PlayedMatch, seat: int, hands: np.ndarray, points: np.ndarray, choose: Choice) -> PlayedMatch:
    """The match with those deals spoiled by this seat that it chooses."""
    wrong = tuple(int(at == seat) for at in range(5))
    deals = [
        replace(deal, spoiled=(seat,), faults=wrong) if choose(hands[at, seat], points[at, seat]) else deal
        for at, deal in enumerate(match.deals)
    ]
    faults = list(NO_FAULTS)
    faults[seat] = SeatFaults(timeouts=sum(deal.faults[seat] for deal in deals))
    return replace(match, deals=tuple(deals), faults=tuple(faults))  # type: ignore[arg-type]  # five of them


def means(seed: int, choose: Choice, rules: FaultRules) -> np.ndarray:
    """Points per deal by entrant."""
    in_quarters = replace(rules, penalty=4 * rules.penalty, forfeit=4 * rules.forfeit)
    lines = {line.name: line for line in compute_standings(NAMES, simulate(seed, choose), in_quarters)}
    return np.array([lines[name].points_per_deal / 4 for name in NAMES])


def over_tournaments(choose: Choice, rules: FaultRules, count: int = 60) -> np.ndarray:
    """Points per deal, by tournament and entrant."""
    return np.array([means(seed, choose, rules) for seed in range(count)])


def deviation(values: np.ndarray) -> float:
    """How many standard errors the mean of some tournaments is away from 0."""
    return float(values.mean() / (values.std(ddof=1) / len(values) ** 0.5))


def honest(table: np.ndarray) -> np.ndarray:
    """The mean of the honest bots in each tournament: the common bias, without what they take from each other."""
    return np.asarray(np.delete(table, CHEAT, axis=1).mean(axis=1))


@pytest.mark.parametrize("choose", [with_bad_hands, with_hindsight, when_all_is_lost])
@pytest.mark.parametrize("rules", [PENALTY, FORFEIT], ids=["penalty", "forfeit"])
def test_it_gains_nothing_by_it_neither_points_nor_on_anybody(rules: FaultRules, choose: Choice) -> None:
    fair, foul = over_tournaments(never, rules), over_tournaments(choose, rules)
    assert (foul[:, CHEAT] <= fair[:, CHEAT]).all(), "it gains in no single tournament"
    assert foul[:, CHEAT].mean() < fair[:, CHEAT].mean() - 0.01, "and pays on average"
    lead = (foul[:, [CHEAT]] - foul).mean(axis=0) - (fair[:, [CHEAT]] - fair).mean(axis=0)
    assert (np.delete(lead, CHEAT) < 0).all(), "and comes nearer to nobody, though the others lose good deals by it"


def test_the_means_of_the_others_stay_true_when_it_throws_bad_hands_away() -> None:
    table = over_tournaments(with_bad_hands, FORFEIT)
    assert abs(deviation(honest(table))) < 3
    for entrant in range(1, ENTRANTS):
        assert abs(deviation(table[:, entrant])) < 3.5


def test_left_out_in_one_match_only_they_do_not() -> None:
    """Its bad hands are the others' good ones: without `block` it could take them away."""
    table = over_tournaments(with_bad_hands, replace(FORFEIT, others=OthersScore.DEAL))
    assert deviation(honest(table)) < -5


def regardless(others: OthersScore) -> Sequence[float]:
    """How far honest means are off when deals are spoiled by accident, whatever the hands."""
    accidents = np.random.default_rng(7)
    table = over_tournaments(lambda _hand, _points: bool(accidents.random() < 0.15), FaultRules(others=others))
    return [deviation(table[:, entrant]) for entrant in range(1, ENTRANTS)]


@pytest.mark.parametrize("others", [OthersScore.BLOCK, OthersScore.DEAL])
def test_accidents_bias_nobody(others: OthersScore) -> None:
    assert max(map(abs, regardless(others))) < 3.5
