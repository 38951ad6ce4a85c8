"""Pools that feed a final, whole tournaments of them: who goes on, what is shown when, and crashes in between."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from random import Random

import pytest
from sqlalchemy import update

from services.cli.ledgers import expected_of
from services.common.errors import PlatformError, Reason
from services.common.matches import DealScore, Ending, MatchOrder, MatchOutcome, SeatFaults
from services.common.qualifiers import Qualifier, Way
from services.ledger.auditing import Seen, audit
from services.ledger.ledger import Ledger
from services.ledger.schema import tournaments
from services.ledger.values import TournamentState
from services.tournament.schedule import PoolSchedule
from services.tournament.servicer import promotion
from services.tournament.servicer.scopes import scopes_of
from services.tournament.standings import Standing
from tests.integration.tournament.playing import Stored, TablesAtHand, desk_of

BOTS = [f"house:{kind}#{copy}" for copy in range(2, 8) for kind in ("greedy", "random")]
SPEC = """\
name: {name}
profile: qingdao
bots: [{bots}]
schedule: {{kind: pool, pools: 2, each: {each}, advance: 2, rest: 1, final: {final}{more}}}
duplicate: {duplicate}
deals: 1
seed: one
"""


def text(
    name: str = "cup",
    duplicate: str = "none",
    each: str = "{kind: balanced, matches: 12}",
    final: str = "{kind: full, repeats: 3}",
    more: str = "",
    bots: Sequence[str] = BOTS,
) -> str:
    names = ", ".join(f"'{bot}'" for bot in bots)
    return SPEC.format(name=name, bots=names, each=each, final=final, duplicate=duplicate, more=more)


BEST = "house:greedy#7"
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def simulated(order: MatchOrder) -> MatchOutcome:
    """Luck that follows from match and seats, and on top of it what each bot is worth: the higher its copy the more."""
    draw, deals = Random(f"{order.number} {order.seats}"), []
    for number in range(order.deals):
        luck = [
            draw.randint(-4, 4) + int(seat.name.partition("#")[2]) // 3 + 4 * (seat.name == BEST)
            for seat in order.seats
        ]
        points = tuple(5 * one - sum(luck) for one in luck)
        deals.append(DealScore(number, points, (0, 1, 2, 3, 4), 0, 1, None))
    none = SeatFaults()
    return MatchOutcome(
        order.tournament, order.number, order.attempt, Ending.COMPLETED, (), "", tuple(deals),
        (none, none, none, none, none), 100, NOW, NOW,
    )  # fmt: skip


def stored_in(ledger: Ledger, spec: str) -> Stored:
    return Stored(ledger, spec, simulated)


def pools_of(stored: Stored) -> PoolSchedule:
    assert isinstance(stored.schedule, PoolSchedule)
    return stored.schedule


def play_pools(stored: Stored) -> None:
    for number in range(pools_of(stored).before_final):
        stored.play_one(number)


def names(lines: Sequence[Standing], pool: int = 0) -> list[str]:
    return [line.name for line in lines if line.pool == pool]


@pytest.mark.parametrize(
    ("duplicate", "each", "final", "bots"),
    [
        ("rotation", "{kind: balanced, matches: 10}", "full", 12),
        ("none", "full", "{kind: rounds, rounds: 4}", 11),
        ("par", "{kind: rounds, rounds: 5}", "{kind: balanced, matches: 4}", 13),
    ],
)
async def test_the_pools_are_played_then_the_final_by_the_best(
    ledger: Ledger, duplicate: str, each: str, final: str, bots: int
) -> None:
    more = [f"house:greedy#{copy}" for copy in range(20, 21)]
    stored, desk = (
        Stored(ledger, text(duplicate=duplicate, each=each, final=final, bots=(BOTS + more)[:bots])),
        desk_of(ledger),
    )
    assert await stored.play_all() is TournamentState.FINISHED
    assert set(ledger.done_numbers("cup")) == set(range(len(stored.schedule)))
    qualified = ledger.tournament("cup").qualified
    pools = await desk.standings("cup", stage=1)
    made = {line.name: line.points_per_deal for line in pools}
    for pool in (1, 2):
        placed = [made[one.name] for one in qualified if one.pool == pool and one.way is Way.PLACED]
        assert (len(placed), sorted(placed)) == (2, sorted(sorted(made[name] for name in names(pools, pool))[-2:]))
    ways = {one.name: one.way for one in qualified}
    assert [ways[name] for name in made if ways.get(name) is Way.REST] == [Way.REST]
    assert made[qualified[4].name] == max(mean for name, mean in made.items() if ways.get(name) is not Way.PLACED)
    table = await desk.standings("cup")
    assert {line.name for line in table} == {one.name for one in qualified}
    in_final = len(pools_of(stored).final) - (len(pools_of(stored).final) // 2 if duplicate == "par" else 0)
    assert sum(line.matches for line in table) == 5 * in_final
    assert sum(line.matches for line in pools) == 5 * (ledger.totals("cup").matches - len(pools_of(stored).final)) // (
        2 if duplicate == "par" else 1
    )


async def test_with_a_field_every_stage_is_compared_within_itself(ledger: Ledger) -> None:
    bots = [f"house:{kind}#{copy}" for copy in range(2, 13) for kind in ("greedy", "random")]
    rounds = "{kind: rounds, rounds: 4}"
    spec = text(duplicate="field", each=rounds, final=rounds, bots=bots).replace("advance: 2, rest: 1", "advance: 5")
    stored, desk = stored_in(ledger, spec), desk_of(ledger)
    assert await stored.play_all() is TournamentState.FINISHED
    pools, final = await desk.standings("cup", stage=1), await desk.standings("cup")
    assert (len(pools), len(final)) == (22, 10)
    for lines in ([line for line in pools if line.pool == 1], [line for line in pools if line.pool == 2], final):
        # Against the others of the same pool everybody together makes nothing.
        assert sum(line.points_per_deal * line.counted for line in lines) == pytest.approx(0)
        assert lines[0].rank == 1


async def test_the_table_of_a_stage_is_that_of_its_matches_alone(ledger: Ledger) -> None:
    """Given the results of one pool in a tournament of their own, then its table is the same."""
    stored, desk = stored_in(ledger, text()), desk_of(ledger)
    assert await stored.play_all() is TournamentState.FINISHED
    stored.look()
    made = pools_of(stored)
    for stage, section in ((1, 0), (1, 1), (2, 0)):
        part = made.stages[stage - 1][section]
        assert part.members is not None
        table = [line for line in await desk.standings("cup", stage=stage) if line.pool == part.pool]
        alone = scopes_of(stored.spec, made, stage)[section].table()
        scope = scopes_of(stored.spec, made, stage)[section]
        for result in ledger.results("cup"):
            if made.locate(result.number)[:2] == (stage - 1, section):
                alone.add(scope.played(result))
        expected = [(line.rank, line.name, line.points_per_deal, line.matches) for line in alone.standings()]
        assert [(line.rank, line.name, line.points_per_deal, line.matches) for line in table] == expected
        assert all(line.rating is not None for line in table)


async def test_results_of_the_pools_count_in_the_final_if_the_file_says_so(ledger: Ledger) -> None:
    stored, desk = stored_in(ledger, text(more=", counts: all")), desk_of(ledger)
    assert await stored.play_all() is TournamentState.FINISHED
    qualified = {one.name for one in ledger.tournament("cup").qualified}
    before = {line.name: line for line in await desk.standings("cup", stage=1)}
    table = await desk.standings("cup")
    assert {line.name for line in table} == qualified
    final = len(pools_of(stored).final)
    for line in table:
        assert line.matches == before[line.name].matches + final
    assert [line.rank for line in table] == [1, 2, 3, 4, 5]


async def test_before_the_pools_are_over_there_is_no_final_to_be_seen(ledger: Ledger) -> None:
    stored, desk = stored_in(ledger, text()), desk_of(ledger)
    play_pools(stored)
    assert {line.pool for line in await desk.standings("cup")} == {1, 2}
    for stage, reason in ((2, Reason.STATE_CONFLICT), (3, Reason.MALFORMED)):
        with pytest.raises(PlatformError) as caught:
            await desk.standings("cup", stage=stage)
        assert caught.value.reason is reason
    with pytest.raises(PlatformError, match="decided when the pools are over"):
        await desk.requeue("cup", pools_of(stored).before_final)


async def test_excluded_bots_do_not_go_on_also_when_they_are_first(ledger: Ledger) -> None:
    stored, desk = stored_in(ledger, text()), desk_of(ledger)
    play_pools(stored)
    leader = names(await desk.standings("cup"), 1)[0]
    expected = [one.name for one in decided(stored)]
    assert leader in expected
    await desk.exclude("cup", leader, annulled=False)
    assert await stored.play_all() is TournamentState.FINISHED
    assert leader not in {one.name for one in ledger.tournament("cup").qualified}
    # Whoever has its results annulled takes those of the others with it, so others may have gone on.
    assert all(one.plays for one in ledger.tournament("cup").qualified)


async def test_who_is_excluded_after_the_decision_keeps_its_place_and_does_not_play(ledger: Ledger) -> None:
    stored, desk = stored_in(ledger, text()), desk_of(ledger)
    play_pools(stored)
    stages = promotion.Promotion(ledger, stored.spec, stored.schedule, stored.fixtures)
    stages.decide()
    before = ledger.tournament("cup").qualified
    await desk.exclude("cup", before[0].name, annulled=True)
    assert await stored.play_all() is TournamentState.FINISHED
    assert ledger.tournament("cup").qualified == before
    # All five are in every set of the final.
    assert ledger.totals("cup").matches == pools_of(stored).before_final


async def test_whoever_went_on_is_found_again_from_the_results(ledger: Ledger) -> None:
    """Whoever was excluded before, between, or with results annulled since: no fault; anybody else is one."""
    stored, desk = stored_in(ledger, text()), desk_of(ledger)
    play_pools(stored)
    leader = names(await desk.standings("cup"), 1)[0]
    await desk.exclude("cup", leader, annulled=False)
    promotion.Promotion(ledger, stored.spec, stored.schedule, stored.fixtures).decide()
    qualified = ledger.tournament("cup").qualified
    assert unlike(ledger) == []
    await desk.exclude("cup", qualified[1].name, annulled=True)
    assert unlike(ledger) == []
    await desk.exclude("cup", leader, annulled=True)
    assert unlike(ledger) == [], "it had its results when it was decided"

    changed = (*qualified[:-1], replace(qualified[-1], name=leader))
    with ledger._write() as write:  # past the ledger's own verbs, which let nobody decide twice
        write.connection.execute(update(tournaments).where(tournaments.c.name == "cup").values(qualified=changed))
    (what,) = unlike(ledger)
    assert f"{leader} (" in what.partition(" went on, and by the results it is ")[0]


def unlike(ledger: Ledger) -> list[str]:
    """What `baohuang ledger check` finds of the final."""
    return [one.what for one in audit(ledger, expected_of, Seen()) if one.where == "final"]


async def test_places_that_nobody_is_left_for_are_not_played(ledger: Ledger) -> None:
    spec = text(final="full").replace("advance: 2, rest: 1", "advance: 3")
    stored, desk = stored_in(ledger, spec), desk_of(ledger)
    play_pools(stored)
    out = BOTS[:7]
    for bot in out:
        await desk.exclude("cup", bot, annulled=False)
    assert await stored.play_all() is TournamentState.FINISHED
    qualified = ledger.tournament("cup").qualified
    assert {one.name for one in qualified if one.plays} == set(BOTS[7:])
    assert [one.plays for one in qualified] == [True] * 5 + [False]
    assert ledger.totals("cup").matches == pools_of(stored).before_final + 1
    assert {line.name for line in await desk.standings("cup")} == set(BOTS[7:])


class Dying(TablesAtHand):
    """Has the director killed in the middle of things: when a match of this number is to be played, or never."""

    def __init__(self, at: int) -> None:
        super().__init__(simulated)
        self._at = at
        self.died = asyncio.Event()

    async def submit(self, orders: Sequence[MatchOrder]) -> None:
        if any(order.number >= self._at for order in orders):
            self.died.set()
            await asyncio.Event().wait()
        await super().submit(orders)


async def die(stored: Stored, at: int) -> None:
    """A director that is killed when it hands out that match."""
    service = Dying(at)
    run = asyncio.create_task(stored.director(service).run())
    async with asyncio.timeout(60):
        await service.died.wait()
    run.cancel()
    await asyncio.gather(run, return_exceptions=True)


def decided(stored: Stored) -> tuple[Qualifier, ...]:
    """What would be decided now, from nothing but the ledger."""
    rulings = stored.ledger.rulings(stored.spec.name)
    return promotion.qualify_from(stored.ledger, stored.spec, pools_of(stored), rulings.exclusions)


async def test_after_crashes_the_decision_and_the_tables_are_those_of_an_undisturbed_tournament(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet = stored_in(ledger, text("quiet"))
    assert await quiet.play_all() is TournamentState.FINISHED
    stored = stored_in(ledger, text("cup"))
    before_final = pools_of(stored).before_final
    await die(stored, before_final // 2)
    assert ledger.tournament("cup").qualified == ()

    # Killed when all is played and nothing is decided, and again when that is in the ledger and nothing has come of it.
    def die_before(*_: object) -> None:
        raise RuntimeError("killed")

    for method in ("decide", "enter"):
        with monkeypatch.context() as patched:
            patched.setattr(promotion.Promotion, method, die_before)
            assert await stored.play_all() is TournamentState.PAUSED
        ledger.transition("cup", list(TournamentState), TournamentState.RUNNING)
        assert set(ledger.done_numbers("cup")) == set(range(before_final))
        assert bool(ledger.tournament("cup").qualified) == (method == "enter")
    settled = ledger.tournament("cup").qualified
    await die(stored, before_final + 1)
    assert await stored.play_all() is TournamentState.FINISHED
    assert ledger.tournament("cup").qualified == settled == ledger.tournament("quiet").qualified
    desk = desk_of(ledger)
    for stage in (1, 2):
        assert await desk.standings("cup", stage=stage) == await desk.standings("quiet", stage=stage)


async def test_a_decision_in_the_ledger_stands_even_if_the_table_says_something_else_by_now(ledger: Ledger) -> None:
    stored = stored_in(ledger, text())
    play_pools(stored)
    mine = decided(stored)
    other = tuple(replace(one, name=name) for one, name in zip(mine, BOTS, strict=False))
    assert other != mine
    assert ledger.qualify("cup", other, ()) == other
    assert await stored.play_all() is TournamentState.FINISHED
    final = pools_of(stored)
    sat = {
        BOTS[index]
        for number in range(final.before_final, len(final))
        for index in stored.schedule.match(number).entrants
    }
    assert sat == {one.name for one in other}


async def test_a_desk_that_was_there_all_the_time_sees_the_final(ledger: Ledger) -> None:
    stored, desk = stored_in(ledger, text()), desk_of(ledger)
    play_pools(stored)
    assert names(await desk.standings("cup")) == []
    assert await stored.play_all() is TournamentState.FINISHED
    assert await desk.standings("cup") == await desk_of(ledger).standings("cup")
    assert names(await desk.standings("cup")) != []
    assert await desk.standings("cup", stage=1) == await desk_of(ledger).standings("cup", stage=1)


async def test_while_a_pause_is_wanted_nothing_is_decided(ledger: Ledger) -> None:
    """Given an operator who wants to look before the final, when the pools end, then that is possible."""
    stored = stored_in(ledger, text())
    director = stored.director()
    director.pause("let me look")
    play_pools(stored)
    assert await director.run() is TournamentState.PAUSED
    assert ledger.tournament("cup").qualified == ()
    ledger.transition("cup", list(TournamentState), TournamentState.RUNNING)
    assert await stored.play_all() is TournamentState.FINISHED
    assert len(ledger.tournament("cup").qualified) == 5


async def test_records_of_the_pools_come_out_and_those_of_the_final_wait(ledger: Ledger) -> None:
    stored, desk = (
        Stored(ledger, text(duplicate="rotation", each="full", final="{kind: full, repeats: 2}")),
        desk_of(ledger),
    )
    play_pools(stored)
    promotion.Promotion(ledger, stored.spec, stored.schedule, stored.fixtures).decide()
    stored.look()
    first = pools_of(stored).before_final
    assert await desk.record("cup", 0)
    outcome: MatchOutcome = stored.play_one(first)
    with pytest.raises(PlatformError, match="still to be played in 4 other matches"):
        await desk.record("cup", first)
    assert await stored.play_all() is TournamentState.FINISHED
    assert await desk.record("cup", first) == outcome.record


async def test_only_the_final_may_end_early(ledger: Ledger) -> None:
    # So long that it is not over before the looks at its beginning have been taken: they compute while it is played.
    spec = text(each="{kind: balanced, matches: 120}", final="{kind: full, repeats: 4000}")
    stored = stored_in(ledger, spec + "stop: {first: 1, level: 50}\n")
    assert await stored.play_all() is TournamentState.FINISHED
    message = ledger.tournament("cup").message
    assert message.startswith(f"Ended early: {BEST} is ahead of all others, 50 % sure")
    assert " of 4000 sets of deals" in message
    first = pools_of(stored).before_final
    assert first < ledger.totals("cup").matches < len(stored.schedule)
