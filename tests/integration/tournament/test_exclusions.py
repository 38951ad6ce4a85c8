"""Excluded bots in whole tournaments: who is left is compared over whole blocks, and nothing is played for nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.ledger.ledger import Ledger
from services.ledger.values import TournamentState
from tests.integration.tournament.playing import Stored, desk_of

SPEC = """\
name: {name}
profile: qingdao
bots: ["house:greedy", "house:greedy#2", "house:greedy#3", "house:random", "house:random#2", "house:random#3"]
schedule: {{kind: full}}
duplicate: {duplicate}
deals: 1
seed: one
"""
OUT = "house:random#2"


def stored_in(ledger: Ledger, name: str = "cup", duplicate: str = "rotation") -> Stored:
    return Stored(ledger, SPEC.format(name=name, duplicate=duplicate))


def with_bot(stored: Stored) -> set[int]:
    index = stored.spec.entrants.index(OUT)
    return {match.number for match in stored.schedule if index in match.entrants}


@pytest.mark.parametrize("annulled", [True, False])
async def test_what_is_left_is_played_and_the_tournament_is_finished(ledger: Ledger, annulled: bool) -> None:
    stored, desk = stored_in(ledger), desk_of(ledger)
    out = with_bot(stored)
    assert 0 < len(out) < len(stored.schedule)
    for number in range(12):
        stored.play_one(number)
    await desk.exclude("cup", OUT, annulled=annulled)
    assert await stored.play_all() is TournamentState.FINISHED
    assert set(ledger.done_numbers("cup")) == set(range(len(stored.schedule))) - out | set(range(12))
    view = await desk.view("cup")
    assert view.left_out == len(out - set(range(12)))


async def test_annulled_results_count_for_nobody(ledger: Ledger) -> None:
    """The table is the one of a tournament in which the matches of the bot were never played."""
    stored, desk = stored_in(ledger), desk_of(ledger)
    played = [stored.play_one(number) for number in range(len(stored.schedule))]
    before = await desk.standings("cup")
    await desk.exclude("cup", OUT, annulled=True, reason="two of a kind")
    after = {line.name: line for line in await desk.standings("cup")}
    assert (after[OUT].matches, after[OUT].deals, after[OUT].rank) == (0, 0, 6)
    stored_in(ledger, "other")
    left = [outcome for outcome in played if outcome.number not in with_bot(stored)]
    ledger.record([replace(outcome, tournament="other", attempt=f"other-{outcome.number}") for outcome in left])
    ledger.transition("other", list(TournamentState), TournamentState.CANCELLED)
    assert {line.name: line for line in await desk.standings("other")} == after
    assert {line.name: line for line in before} != after


async def test_kept_results_count_by_whole_blocks(ledger: Ledger) -> None:
    """Of a block that is played in part nothing counts, for nobody; of one that is whole everything does."""
    stored, desk = stored_in(ledger), desk_of(ledger)
    group = next(match.group for match in stored.schedule if match.number in with_bot(stored))
    other = next(match.group for match in stored.schedule if match.number in with_bot(stored) and match.group != group)
    for number in (*stored.schedule.numbers(group), *stored.schedule.numbers(other)[:3]):
        stored.play_one(number)
    await desk.exclude("cup", OUT, annulled=False)
    counted = {line.name: line.deals for line in await desk.standings("cup")}
    played = [
        stored.spec.entrants[index] for index in stored.schedule.match(stored.schedule.numbers(group)[0]).entrants
    ]
    assert counted == {name: 5 if name in played else 0 for name in stored.spec.entrants}
    for number in stored.schedule.numbers(other)[3:]:  # these were running when the bot was excluded
        stored.play_one(number)
    assert {line.name: line.deals for line in await desk.standings("cup")}[OUT] == 10


async def test_the_table_is_the_same_whoever_computes_it(ledger: Ledger) -> None:
    stored, desk = stored_in(ledger), desk_of(ledger)
    for number in range(15):
        stored.play_one(number)
    await desk.standings("cup")
    await desk.exclude("cup", OUT, annulled=False)
    await desk.standings("cup")
    assert await stored.play_all() is TournamentState.FINISHED
    assert await desk.standings("cup") == await desk_of(ledger).standings("cup")


async def test_a_record_is_kept_back_while_deals_of_a_left_out_match_may_still_be_at_a_table(ledger: Ledger) -> None:
    stored, desk = stored_in(ledger), desk_of(ledger)
    group = next(match.group for match in stored.schedule if match.number in with_bot(stored))
    first, *_ = stored.schedule.numbers(group)
    played = stored.play_one(first)
    await desk.exclude("cup", OUT, annulled=False)
    with pytest.raises(Exception, match="kept back"):
        await desk.record("cup", first)
    assert await stored.play_all() is TournamentState.FINISHED
    assert await desk.record("cup", first) == played.record


async def test_a_match_is_played_again(ledger: Ledger) -> None:
    stored, desk = stored_in(ledger), desk_of(ledger)
    first = stored.play_one(0)
    ledger.transition("cup", list(TournamentState), TournamentState.PAUSED)
    assert (await desk.requeue("cup", 0, "the wrong build")).totals.matches == 0
    ledger.transition("cup", list(TournamentState), TournamentState.RUNNING)
    assert await stored.play_all() is TournamentState.FINISHED
    (again, *_) = ledger.results("cup")
    assert again.attempt != first.attempt
    assert len(ledger.attempts("cup", 0)) == 2
    assert ledger.totals("cup") == ledger.recount("cup")
