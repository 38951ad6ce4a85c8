"""The run that nothing disturbs: a whole tournament by the rules and the schedule alone, without a platform.

What the bots of `many_bots` answer follows from their views, and all deals from the seed; so there is one right result
for each match, and one right table.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from bots_sdk.bot import Bot
from bots_sdk.rules.match import Match
from bots_sdk.rules.shuffle import decks_of
from services.cli.tables import as_json
from services.common.matches import DealScore, SeatFaults
from services.tournament.schedule import ScheduledMatch, deal_secret, make_schedule, tournament_secret
from services.tournament.servicer.messages import standing_to_proto
from services.tournament.spec import Duplicate, TournamentSpec
from services.tournament.standings import Order, PlayedMatch, StandingsFold, bean_unit

from .many_bots import kind_of

_FAULTLESS = (SeatFaults(),) * 5


@dataclass(frozen=True, slots=True)
class PureMatch:
    """What one scheduled match comes to; `names` are by seat, `decisions` how many answers it took."""

    scheduled: ScheduledMatch
    names: tuple[str, ...]
    deals: tuple[DealScore, ...]
    decisions: int


def play_schedule(spec: TournamentSpec) -> list[PureMatch]:
    """Every match of the schedule, in its order, for a specification with a seed and the kinds of `many_bots`."""
    assert spec.seed is not None
    schedule, secret = make_schedule(spec), tournament_secret(spec.seed)
    return [_play(spec, schedule.match(number), secret) for number in range(len(schedule))]


def _play(spec: TournamentSpec, scheduled: ScheduledMatch, secret: bytes) -> PureMatch:
    names = tuple(spec.players[entrant] for entrant in scheduled.entrants)
    bots: list[Bot] = [kind_of(name)() for name in names]
    suits = scheduled.rotation if spec.duplicate is Duplicate.ROTATION else 0
    match = Match(spec.options, spec.deals, decks_of(spec.options, deal_secret(secret, scheduled.group), suits))
    match.start()
    deals: list[DealScore] = []
    decisions = voided = 0
    while True:
        deal = match.deal
        while deal.result is None:
            seat = deal.asked[0]
            match.answer(seat, bots[seat].answer(deal.view(seat)))
            decisions += 1
        if deal.result.voided:
            assert len(match.results) == len(deals), "a deal that nobody wants at all is not counted on here"
            voided += 1
        else:
            deals.append(_score(len(deals), match, voided))
            voided = 0
        if match.over:
            return PureMatch(scheduled, names, tuple(deals), decisions)
        match.next_deal()


def _score(number: int, match: Match, voided: int) -> DealScore:
    result = match.results[number]
    beans = None if result.beans is None else tuple(result.beans.beans)
    return DealScore(
        number, tuple(result.points), result.places, result.emperor, result.guard, result.solo, voided, beans
    )


def format_table(spec: TournamentSpec, played: Sequence[PureMatch], order: Order = Order.POINTS) -> str:
    """The whole table as `baohuang tournament standings --json` prints its lines: to the last digit of each number."""
    fold = StandingsFold(
        spec.entrants,
        beans=spec.options.beans,
        titles=spec.options.titles,
        faults=spec.faults,
        bean_unit=bean_unit(spec.options),
    )
    for number, match in enumerate(played):
        fold.add(PlayedMatch(number, match.scheduled.group, match.scheduled.entrants, match.deals, _FAULTLESS))
    return json.dumps([as_json(standing_to_proto(line)) for line in fold.standings(order)], ensure_ascii=False)
