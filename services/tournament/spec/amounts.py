"""How many sets of five a tournament's schedule rules come to."""

from __future__ import annotations

from math import comb

from services.tournament.spec.values import SEATS, ScheduleKind, ScheduleRules


def count_sets(rules: ScheduleRules, entrants: int, rotated: bool) -> int:
    """How many sets of five these rules ask for: never fewer matches than they say, and at least one set."""
    per_set = SEATS if rotated else 1
    if rules.stages is not None:
        stages = rules.stages
        pools = sum(count_sets(stages.each, size, rotated) for size in stages.sizes(entrants))
        return pools + count_sets(stages.final, stages.places(entrants), rotated)
    if rules.kind is ScheduleKind.FULL:
        return comb(entrants, SEATS) * rules.repeats
    if rules.kind is ScheduleKind.ROUNDS:
        return max(1, _ceil(rules.rounds or 1, per_set)) * (entrants // SEATS)
    if rules.matches is not None:
        return max(1, _ceil(rules.matches, per_set))
    if rules.matches_per_bot is not None:
        return max(1, _ceil(_ceil(rules.matches_per_bot, per_set) * entrants, SEATS))
    meetings = _ceil(rules.meetings or 1, per_set)
    if rules.kind is ScheduleKind.GAUNTLET:
        challengers = len(rules.challengers)
        return max(1, _ceil(meetings * (entrants - challengers), SEATS - 1) * challengers)
    return max(1, _ceil(meetings * comb(entrants, 2), comb(SEATS, 2)))


def _ceil(amount: int, size: int) -> int:
    return -(-amount // size)
