"""How much of a tournament its busiest bot plays in: what it may have on the way at once follows from that."""

from __future__ import annotations

from services.tournament.spec.values import ScheduleKind, ScheduleRules

SEATS = 5


def busiest_share(rules: ScheduleRules, entrants: int) -> float:
    """In which part of the matches one bot may be over some time, above 0 and up to 1; with control tables in less."""
    match rules.kind:
        case ScheduleKind.FULL | ScheduleKind.BALANCED | ScheduleKind.ROUNDS:
            return _even(entrants, SEATS)
        case ScheduleKind.GAUNTLET:
            challengers = len(rules.challengers)
            return max(1 / challengers, _even(entrants - challengers, SEATS - 1))
        case ScheduleKind.POOL if rules.stages is not None:
            # Pools take turns, so in their stage it is as if all played together; in the final there are fewer.
            return _even(rules.stages.places(entrants), SEATS)
    return 1.0


def _even(entrants: int, seats: int) -> float:
    return min(1.0, seats / max(1, entrants))
