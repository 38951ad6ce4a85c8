"""Tournaments in which deals are compared: whole ones, played by a real director at real tables, to their table."""

from __future__ import annotations

from fractions import Fraction

import pytest

from baohuang.tournament.v1 import tournament_service_pb2 as pb
from bots_sdk.replay import decompress_record, record_from_bytes, verify_record
from services.cli.plans import describe_plan
from services.common.errors import PlatformError, Reason
from services.ledger.ledger import Ledger
from services.ledger.values import Result, TournamentState
from services.tournament.servicer import TournamentServicer
from services.tournament.servicer.messages import match_to_proto, plan_to_proto
from services.tournament.servicer.plans import make_plan
from services.tournament.spec import PAR_NAMES, TournamentSpec, parse_spec
from tests.integration.tournament.playing import Stored, desk_of

SPEC = """\
name: cup
profile: {profile}
bots: [{bots}]
schedule: {schedule}
duplicate: {duplicate}
deals: {deals}
seed: one
"""


def spec_text(bots: int, schedule: str, duplicate: str, *, deals: int = 2, profile: str = "qingdao") -> str:
    kinds = [f'"house:{"greedy" if number % 3 else "random"}#{number + 2}"' for number in range(bots)]
    return SPEC.format(profile=profile, bots=", ".join(kinds), schedule=schedule, duplicate=duplicate, deals=deals)


def held(result: Result, deal: int) -> list[tuple[int, int]]:
    """By seat the hand of a deal: void shuffles before it, and seats after the dealer."""
    dealer = 0
    for one in result.deals[:deal]:
        dealer = dealer if one.emperor is None else one.emperor
    return [(result.deals[deal].voided, (seat - dealer) % 5) for seat in range(5)]


def expected(stored: Stored, results: dict[int, Result], control: bool) -> dict[str, Fraction | None]:
    """Means against the datum, the long way: every deal of every entrant compared by hand with every other table."""
    scores: dict[str, list[Fraction]] = {name: [] for name in stored.spec.entrants}
    for group in range(stored.schedule.groups):
        numbers = stored.schedule.numbers(group)
        for deal in range(stored.spec.deals):
            for number in numbers[: -1 if control else None]:
                others = [numbers[-1]] if control else [other for other in numbers if other != number]
                for seat, hand in enumerate(held(results[number], deal)):
                    made = [
                        results[other].deals[deal].points[held(results[other], deal).index(hand)]
                        for other in others
                        if hand in held(results[other], deal)
                    ]
                    if made:
                        name = stored.spec.entrants[stored.schedule.match(number).entrants[seat]]
                        mine = results[number].deals[deal].points[seat]
                        scores[name].append(mine - Fraction(sum(made), len(made)))
    return {name: sum(made, Fraction(0)) / len(made) if made else None for name, made in scores.items()}


@pytest.mark.parametrize(
    ("schedule", "duplicate", "bots", "matches"),
    [
        ("{kind: rounds, rounds: 4}", "field", 11, 8),
        ("{kind: rounds, rounds: 2}", "field", 15, 6),
        ("{kind: balanced, matches: 6}", "par", 6, 12),
        ("{kind: gauntlet, challengers: ['house:random#2'], matches: 4}", "par", 7, 8),
    ],
)
async def test_the_table_is_what_comparing_by_hand_gives(
    ledger: Ledger, schedule: str, duplicate: str, bots: int, matches: int
) -> None:
    stored = Stored(ledger, spec_text(bots, schedule, duplicate))
    assert await stored.play_all() is TournamentState.FINISHED
    results = {result.number: result for result in ledger.results("cup")}
    assert set(results) == set(range(matches))
    desk = desk_of(ledger)
    table = {line.name: line for line in await desk.standings("cup")}
    means = expected(stored, results, duplicate == "par")
    assert set(table) == set(stored.spec.entrants), "control tables are in no table"
    for name, mean in means.items():
        assert table[name].points_per_deal == pytest.approx(float(mean or 0))
    assert any(means.values())
    for number in range(matches):
        verify_record(record_from_bytes(decompress_record(await desk.record("cup", number))))


async def test_in_a_field_the_same_hands_are_dealt_at_all_tables_and_in_no_other_round(ledger: Ledger) -> None:
    stored = Stored(ledger, spec_text(10, "{kind: rounds, rounds: 3}", "field"))
    orders = [stored.fixtures.order(number, f"attempt-{number}") for number in range(6)]
    assert [order.secret == orders[0].secret for order in orders] == [True, True, False, False, False, False]
    assert len({order.secret for order in orders}) == 3
    assert len({order.nonce for order in orders}) == 6, "the commitments do not tell which tables play the same"
    assert all(order.withhold for order in orders), "bots that are done do not learn the hands of those still playing"


@pytest.mark.parametrize("duplicate", ["none", "rotation", "field"])
async def test_no_bot_is_shown_a_secret_from_which_another_tournament_of_the_same_seed_deals(
    ledger: Ledger, duplicate: str
) -> None:
    stored = Stored(ledger, spec_text(10, "{kind: rounds, rounds: 5}", duplicate))
    assert stored.fixtures.order(0, "attempt").withhold


async def test_in_a_field_records_are_kept_back_until_all_tables_are_done(ledger: Ledger) -> None:
    stored, desk = Stored(ledger, spec_text(15, "{kind: rounds, rounds: 2}", "field", deals=1)), desk_of(ledger)
    for left, number in ((2, 1), (1, 0)):
        stored.play_one(number)
        with pytest.raises(PlatformError, match="is kept back") as caught:
            await desk.record("cup", number)
        assert caught.value.reason is Reason.STATE_CONFLICT
        assert ("another match" if left == 1 else "2 other matches") in caught.value.message
    stored.play_one(3)  # another round tells nothing of this one
    with pytest.raises(PlatformError, match="is kept back"):
        await desk.record("cup", 0)
    last = stored.play_one(2)
    for number in range(3):
        record = record_from_bytes(decompress_record(await desk.record("cup", number)))
        verify_record(record)
        assert record.secret == record_from_bytes(decompress_record(last.record)).secret


async def test_by_par_bots_learn_the_secret_when_the_control_table_is_done(ledger: Ledger) -> None:
    stored, desk = Stored(ledger, spec_text(5, "{kind: balanced, matches: 2}", "par", deals=1)), desk_of(ledger)
    stored.play_one(0)
    with pytest.raises(PlatformError, match="in another match"):
        await desk.record("cup", 0)
    control = stored.play_one(1)
    record = record_from_bytes(decompress_record(control.record))
    assert [player.name for player in record.players] == list(PAR_NAMES)
    assert {player.bot_id for player in record.players} == {"house:greedy"}
    verify_record(record_from_bytes(decompress_record(await desk.record("cup", 0))))
    (shown,) = [result for result in ledger.results("cup") if result.number == 1]
    assert match_to_proto(shown, make_plan(stored.spec)).names == list(PAR_NAMES)


async def test_nothing_is_shown_of_a_round_before_all_its_tables_are_done(ledger: Ledger) -> None:
    """What two tables made of the hands would tell the third what it may not know."""
    stored, desk = Stored(ledger, spec_text(15, "{kind: rounds, rounds: 3}", "field", deals=1)), desk_of(ledger)

    async def listed() -> list[int]:
        servicer = TournamentServicer(desk)
        answer = await servicer.ListMatches(pb.ListMatchesRequest(name="cup"), None)  # type: ignore[arg-type]
        return [match.number for match in answer.matches]

    for number in (0, 2, 4):
        stored.play_one(number)
        assert {(line.matches, line.points) for line in await desk.standings("cup")} == {(0, 0)}
        assert await listed() == []
    stored.play_one(1)
    assert {line.matches for line in await desk.standings("cup")} == {1}
    assert await listed() == [0, 1, 2]
    ledger.transition("cup", list(TournamentState), TournamentState.CANCELLED)
    assert await listed() == [0, 1, 2, 4], "nobody plays these deals any more"
    assert {line.matches for line in await desk.standings("cup")} == {1, 2}


# ---- the plan


def told(text: str, rate: float = 10.0) -> dict[str, str]:
    """The lines of a plan by what they are about."""
    spec: TournamentSpec = parse_spec(text)
    lines = describe_plan(plan_to_proto(make_plan(spec)), rate)
    return {line[2:27].strip(): line[27:].strip() for line in lines if not line.startswith(("  plan", "  entrants"))}


def test_the_plan_says_all_there_is_to_know_before() -> None:
    plan = told(spec_text(21, "{kind: balanced, meetings: 5}", "rotation", deals=4))
    assert plan == {
        "different deals": "84, the others are the same again",
        "meetings of two entrants": "5 to 5, 5.00 on average",
        "one right before another": "0 to 5, 1.25 on average",
        "matches of an entrant": "25 to 25, 25.00 on average",
        "matches in one seat": "5 to 5, 5.00 on average",
        "roughly how long": "42 s, at 10 deals a second in all",
    }


def test_the_plan_of_a_gauntlet_tells_the_challenger_from_the_field() -> None:
    text = spec_text(9, "{kind: gauntlet, challengers: ['house:random#2'], matches: 800}", "par", deals=1)
    plan = told(text, rate=0.1)
    assert plan["with a challenger"] == "400 to 400, 400.00 on average"
    assert plan["meetings in the field"].endswith(", 171.43 on average")
    assert plan["matches of house bots"] == "800, to compare with"
    assert plan["roughly how long"] == "4 h 26 min, at 0.1 deals a second in all"


def test_the_plan_of_a_field_counts_its_deals_once() -> None:
    plan = told(spec_text(12, "{kind: rounds, rounds: 30}", "field", deals=2))
    assert plan["different deals"] == "60, the others are the same again"
    assert plan["matches of an entrant"] == "25 to 25, 25.00 on average"
