"""The settlement in beans (游戏豆) of text 001 (docs/rules.md, part 7)."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from bots_sdk.rules.cards import SEATS
from bots_sdk.rules.events import SoloKind
from bots_sdk.rules.options import Options
from bots_sdk.rules.scoring import Standing, solo_outcome

SOLO_POINTS = 12
"""Winners' points of any solo: its doublings are counted in the game multiplier (rules 7.3)."""


@dataclass(frozen=True, slots=True)
class Beans:
    """A settlement.

    Attributes:
        total: what the winners win together, before rounding.
        game: the game multiplier.
        beans: won or lost by seat. Each is rounded on its own, so the five may miss 0 by a few.
    """

    total: int
    game: int
    beans: tuple[int, ...]


def settle(options: Options, standing: Standing, room: int, stakes: tuple[int, ...], tribute_cards: int) -> Beans:
    """Settle a deal.

    Args:
        options: the rules; `tribute` decides whether tribute cards count.
        standing: how the deal came out.
        room: the room's factor.
        stakes: the multipliers by seat.
        tribute_cards: how many cards this result makes owed.
    """
    outcome, points = _outcome(options, standing)
    game = _game_multiplier(options, standing, tribute_cards)
    total = room * game * points * prod(stakes)
    court = {standing.emperor: stakes[standing.emperor]}
    if standing.guard is not None:
        court[standing.guard] = stakes[standing.guard]
        if not standing.kicked:
            court[standing.emperor] *= 2  # the emperor's points are twice the guard's
    rebels = {seat: stakes[seat] for seat in standing.rebels}
    shares = [0] * SEATS
    for weights, sign in ((court, outcome), (rebels, -outcome)):
        for seat, weight in weights.items():
            shares[seat] = sign * _rounded_quotient(total * weight, sum(weights.values()))
    return Beans(total, game, tuple(shares))


def _outcome(options: Options, standing: Standing) -> tuple[int, int]:
    """Who won (1 the emperor's side, -1 the rebels, 0 nobody), and the winners' points before doubling."""
    if standing.solo is not None:
        outcome = solo_outcome(options, standing)
        return outcome, SOLO_POINTS * abs(outcome)
    margin = standing.margin
    return (margin > 0) - (margin < 0), 3 * abs(margin)


def _game_multiplier(options: Options, standing: Standing, tribute_cards: int) -> int:
    game = 1 if standing.solo in (None, SoloKind.DARK) else 2
    game *= standing.doublings
    if options.tribute and tribute_cards:
        game *= 2 * tribute_cards
    return game


def _rounded_quotient(number: int, divisor: int) -> int:
    """The quotient of two numbers that are not negative, half rounded up (away from zero once the sign is there)."""
    return (2 * number + divisor) // (2 * divisor)
