"""What the next deal owes after a result (docs/rules.md, part 7)."""

from __future__ import annotations

from bots_sdk.rules.events import Tribute
from bots_sdk.rules.options import Options
from bots_sdk.rules.scoring import Standing, solo_outcome

Shares = tuple[tuple[int, int], ...]
NO_TRIBUTE = Tribute((), ())


def tribute_of(options: Options, standing: Standing) -> Tribute:
    """Who pays and who picks in the next deal, in order; empty after an even result (rules 7.1)."""
    emperor, guard = standing.emperor, standing.guard
    rebels = standing.rebels
    if guard is None:
        return _after_solo(options, standing)
    low, high = sorted((standing.place_of(emperor), standing.place_of(guard)))
    table: dict[tuple[int, int], Tribute] = {
        (1, 2): Tribute(_each(rebels, 1), ((emperor, 2), (guard, 1))),
        (1, 3): Tribute(_each(rebels[-2:], 1), ((emperor, 1), (guard, 1))),
        (1, 4): Tribute(_each(rebels[-1:], 1), ((emperor, 1),)),
        (2, 3): Tribute(_each(rebels[-1:], 1), ((emperor, 1),)),
        (2, 5): Tribute(((emperor, 1),), _each(rebels[:1], 1)),
        (3, 4): Tribute(((emperor, 1), (guard, 1)), _each(rebels[:2], 1)),
        (3, 5): Tribute(((emperor, 2), (guard, 1)), _each(rebels, 1)),
        (4, 5): Tribute(((emperor, 4), (guard, 2)), _each(rebels, 2)),
    }
    return table.get((low, high), NO_TRIBUTE)


def _after_solo(options: Options, standing: Standing) -> Tribute:
    outcome = solo_outcome(options, standing)
    if not outcome:
        return NO_TRIBUTE
    emperor = ((standing.emperor, 4),)
    others = _each(standing.rebels, 1)
    return Tribute(others, emperor) if outcome > 0 else Tribute(emperor, others)


def _each(seats: tuple[int, ...], cards: int) -> Shares:
    return tuple((seat, cards) for seat in seats)


def cards_of(tribute: Tribute | None) -> int:
    """How many cards are owed."""
    return sum(cards for _, cards in tribute.pay) if tribute is not None else 0
