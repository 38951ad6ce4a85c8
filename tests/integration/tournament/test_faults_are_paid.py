"""From a bot that does not answer to the table: through a real match, the ledger, the protocol and the command line."""

from __future__ import annotations

import io
from collections import Counter
from dataclasses import replace

from bots_sdk.house import make_house_bot
from bots_sdk.replay import decompress_record, record_from_bytes, verify_record
from services.cli.ledgers import expected_of
from services.cli.tables import make_console, standings_table
from services.common.matches import Ending, MatchOrder, MatchOutcome
from services.ledger.auditing import Seen, audit
from services.ledger.ledger import Ledger
from services.match.table import Table
from services.tournament.director.scheduled import ScheduledFixtures
from services.tournament.schedule import make_schedule, tournament_secret
from services.tournament.servicer.messages import standing_to_proto
from services.tournament.spec import format_spec, parse_spec
from tests.integration.tournament.playing import desk_of
from tests.unit.match.fakes import Play
from tests.unit.match.test_spoiled_deals import recomputed

SPEC = """\
name: cup
profile: qingdao
bots: [ann, ben, cem, dan, eva]
schedule: {kind: full, repeats: 2}
deals: 2
clock: {limit: 2s, limits: {play: 1s}}
faults: {takeover_after: 2, score: penalty, penalty: 3}
seed: one
"""
PENALTY = 3


def play(order: MatchOrder, silent: str) -> MatchOutcome:
    """The match; the bot of that name never answers."""
    match = Play(options=order.options)
    match.order = order
    match.table = Table(3, order, match.host, make_house_bot)
    names = [entrant.name for entrant in order.seats]
    return match.open().finish(idle=tuple(seat for seat, name in enumerate(names) if name == silent))


async def test_the_table_follows_from_the_ledger_and_the_ledger_from_the_records(ledger: Ledger) -> None:
    # given a tournament in which cem is silent in one match
    spec = parse_spec(SPEC)
    ledger.create_tournament("cup", format_spec(replace(spec, seed=None)), b"one")
    schedule = make_schedule(spec)
    fixtures = ScheduledFixtures(spec, schedule, tournament_secret("one"), {name: name for name in spec.bots})
    outcomes = [play(fixtures.order(number, f"a-{number}"), "" if number else "cem") for number in range(10)]
    ledger.record(outcomes)
    ledger.record(outcomes)  # handed in twice, it counts once
    assert list(audit(ledger, expected_of, Seen())) == [], "so says whoever computes it again"

    # then the ledger has of every deal what its record tells
    points: Counter[str] = Counter()
    counted: Counter[str] = Counter()
    paid: Counter[str] = Counter()
    spoiled_blocks = set()
    deals = []
    for outcome, result in zip(outcomes, ledger.results("cup"), strict=True):
        verify_record(record_from_bytes(decompress_record(outcome.record)))
        assert [(deal.spoiled, deal.faults) for deal in result.deals] == recomputed(outcome)
        names = [entrant.name for entrant in fixtures.seats(result.number)]
        group, _ = schedule.place(result.number)
        deals += [(group, names, deal) for deal in result.deals]
        spoiled_blocks |= {(group, deal.number) for deal in result.deals if deal.spoiled}
    assert Ending.COMPLETED_WITH_FAULTS in {outcome.ending for outcome in outcomes}
    assert 0 < len(spoiled_blocks) < 4, "some deals are left out, and some are left"

    # and the table is what those come to by the rule, worked out here once more
    for group, names, deal in deals:
        for seat, name in enumerate(names):
            if name == "cem" or (group, deal.number) not in spoiled_blocks:
                fine = PENALTY * max(deal.faults[seat], seat in deal.spoiled)
                points[name] += deal.points[seat] - fine
                counted[name] += 1
                paid[name] += fine
    desk = desk_of(ledger)
    lines = {line.name: line for line in await desk.standings("cup")}
    assert {name: line.points for name, line in lines.items()} == {name: points[name] for name in spec.bots}
    assert {name: line.counted for name, line in lines.items()} == {name: counted[name] for name in spec.bots}
    assert {name: line.points_paid for name, line in lines.items()} == {name: paid[name] for name in spec.bots}
    assert lines["cem"].points_paid > 0
    assert lines["cem"].counted == lines["cem"].deals == lines["ann"].deals == 20

    # and people see it: how many deals count, the faults, and what was paid
    out = io.StringIO()
    messages = [standing_to_proto(line) for line in lines.values()]
    console = make_console(out)
    console.print(standings_table(messages))
    shown = {line.split()[1]: line.split() for line in out.getvalue().splitlines() if line.strip()[:1].isdigit()}
    assert shown["ann"][-4:] == [f"{counted['ann']}/20", str(4 - len(spoiled_blocks)), "0", "0"]
    assert shown["cem"][-4:] == ["20", "4", str(lines["cem"].faults), str(paid["cem"])]
