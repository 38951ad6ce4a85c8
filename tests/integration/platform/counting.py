"""What a tournament must come to whatever was killed: counted in the ledger, and played again without a platform."""

from __future__ import annotations

import urllib.request
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bots_sdk.bot import Bot
from bots_sdk.rules.match import Match
from bots_sdk.rules.shuffle import decks_of
from services.common.matches import Ending, MatchOrder
from services.ledger.ledger import Access, Ledger
from services.ledger.values import Attempt
from services.tournament.director.scheduled import ScheduledFixtures
from services.tournament.schedule import make_schedule, tournament_secret
from services.tournament.servicer.plans import spec_of

from .many_bots import kind_of
from .serving import verify_ledger


def verify_every_match(data: Path, name: str, *, matches: int, deals: int) -> list[Attempt]:
    """One result for each scheduled match, with the points of a run that nothing disturbed; all attempts.

    Every attempt is there once, has one outcome, and no match has been tried again after it had its result.
    """
    verify_ledger(data, name, matches, deals)
    with Ledger.open(data / "ledger.db", access=Access.READER) as ledger:
        points = {result.number: [deal.points for deal in result.deals] for result in ledger.results(name)}
        assert points == {order.number: points_of(order) for order in orders_of(ledger, name)}
        attempts = [attempt for number in range(matches) for attempt in ledger.attempts(name, number)]
        totals = ledger.totals(name)
    assert len({attempt.attempt for attempt in attempts}) == len(attempts) == totals.attempts
    counted = Counter(attempt.number for attempt in attempts if attempt.ending.counts)
    assert counted == Counter(range(matches)), "each has exactly one attempt that counts"
    assert {attempt.ending for attempt in attempts if not attempt.ending.counts} <= {Ending.VOID}
    assert totals.faults == 0, "what was killed cost no bot anything"
    return attempts


def orders_of(ledger: Ledger, name: str) -> list[MatchOrder]:
    """The scheduled matches of a stored tournament."""
    stored = ledger.tournament(name)
    spec = spec_of(stored)
    assert spec.seed is not None
    ids = {bot: known.bot_id for bot, known in ledger.bots_named(spec.bots).items()}
    fixtures = ScheduledFixtures(spec, make_schedule(spec), tournament_secret(spec.seed), ids)
    return [fixtures.order(number, "again") for number in range(fixtures.matches)]


def points_of(order: MatchOrder) -> list[tuple[int, ...]]:
    """The points of every deal, by seat, when the bots of `many_bots` play it here."""
    bots: list[Bot] = [kind_of(seat.name)() for seat in order.seats]
    match = Match(order.options, order.deals, decks_of(order.options, order.secret, order.suits))
    match.start()
    while True:
        deal = match.deal
        while deal.result is None:
            seat = deal.asked[0]
            match.answer(seat, bots[seat].answer(deal.view(seat)))
        if match.over:
            return [tuple(result.points) for result in match.results]
        match.next_deal()


def lost_by_service(attempts: list[Attempt]) -> Mapping[str, int]:
    """How many attempts were void because their match service was lost."""
    return Counter(attempt.match_service for attempt in attempts if "was lost" in attempt.message)


def moved(attempts: list[Attempt]) -> set[int]:
    """The matches that were lost with one match service and have their result from another."""
    played = {attempt.number: attempt.match_service for attempt in attempts if attempt.ending.counts}
    lost = [attempt for attempt in attempts if "was lost" in attempt.message]
    return {attempt.number for attempt in lost if attempt.match_service != played[attempt.number]}


def gauges(http: str, name: str) -> dict[str, float]:
    """A gauge of every match service, by its name; those that do not answer are left out."""
    import json

    found: dict[str, float] = {}
    groups: list[dict[str, Any]] = json.loads(_read(f"http://{http}/sd"))
    for group in groups:
        if group["labels"]["role"] != "match-service":
            continue
        try:
            text = _read(f"http://{group['targets'][0]}/metrics")
        except OSError:
            continue
        lines = [line for line in text.splitlines() if line.startswith((f"{name} ", f"{name}{{"))]
        found[group["labels"]["name"]] = sum(float(line.rpartition(" ")[2]) for line in lines)
    return found


def _read(url: str) -> str:
    with urllib.request.urlopen(url, timeout=10) as response:
        return str(response.read().decode())
